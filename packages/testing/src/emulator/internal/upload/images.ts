import * as Platform from "@colloquy/core/base/Platform"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { type Request, respond, type Response } from "../../EmulatorHttp.ts"
import type { Refusal } from "../http/refusal.ts"
import type { Image } from "../platform/images.ts"
import { now, type PlatformState } from "../platform/state.ts"
import { hostError } from "./limits.ts"

// Loaded with the first image, because an import at the start would be slow.
const loadImageSize = () => import("image-size")

/**
 * Reads an uploaded image. Fails if its header states a side that is too long.
 *
 * @assumption unrecognizedImages
 */
export const readImage = (bytes: Uint8Array<ArrayBuffer>): Effect.Effect<Image, Refusal> =>
  Effect.gen(function* () {
    const { imageSize } = yield* Effect.promise(loadImageSize)
    const header = Result.try(() => imageSize(bytes))
    if (Result.isFailure(header)) return { bytes, contentType: "application/octet-stream" }
    const { height, type, width } = header.success
    if (Math.max(width, height) > Platform.maxImageSide) {
      return yield* hostError(
        400,
        "upload.dimensions",
        `The image has ${width} x ${height} px: each side can have at most ${Platform.maxImageSide} px`
      )
    }
    return { bytes, contentType: type === "jpg" ? "image/jpeg" : `image/${type}` }
  })

/**
 * Answers a request for an image.
 *
 * @assumption expiredImageUrl
 */
export const serveImage = (state: PlatformState, { path, query }: Request): Response | Refusal => {
  const id = path.slice("/images/".length)
  const url = state.images.urlOf(id)
  const image = state.images.get(id)
  const expires = Number(new URLSearchParams(query).get("expires") ?? Number.NaN)
  if (Number.isNaN(expires)) return hostError(403, "image.denied", "The link has no query parameter `expires`")
  if (expires <= now(state)) return hostError(410, "image.expired", "The link has expired: request the message again")
  if (url !== undefined) return { status: 302, headers: { location: url }, body: "" }
  if (image === undefined) return hostError(404, "image.not.found", "There is no such image")
  return { ...respond(200, "", { "content-type": image.contentType }), bytes: image.bytes }
}
