import * as Platform from "@colloquy/core/Platform"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { MediaState } from "./model.ts"
import type { Refusal } from "../http/refusal.ts"
import { type Request, respond, type Response } from "../../EmulatorHttp.ts"
import { hostError } from "../upload/limits.ts"
import type { PlatformState } from "./state.ts"

/** A picture as it was uploaded. */
export interface Picture {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly contentType: string
}

/** How much of all pictures together is kept: the oldest are forgotten beyond. */
const budget = 64 * 2 ** 20

/** The pictures that can be looked at. */
export class Pictures {
  readonly #byId = new Map<string, Picture>()
  readonly #elsewhere = new Map<string, string>()
  #size = 0

  /** A picture that was not uploaded: its link leads on to where it stands. */
  refer({ photo_id }: MediaState, url: string): void {
    this.#elsewhere.set(String(photo_id), url)
  }

  sourceOf(id: string): string | undefined {
    return this.#elsewhere.get(id)
  }

  add(id: string, picture: Picture): void {
    this.#byId.set(id, picture)
    this.#size += picture.bytes.byteLength
    for (const [oldest, { bytes }] of this.#byId) {
      if (this.#size <= budget) return
      this.#byId.delete(oldest)
      this.#size -= bytes.byteLength
    }
  }

  get(id: string): Picture | undefined {
    return this.#byId.get(id)
  }

  clear(): void {
    this.#byId.clear()
    this.#elsewhere.clear()
    this.#size = 0
  }
}

// Who uploads no pictures does not wait for it at the start.
const loadImageSize = () => import("image-size")

/**
 * A picture, unless its header says that it is larger than the platform takes it.
 *
 * @assumption unrecognizedImages
 */
export const readPicture = (bytes: Uint8Array<ArrayBuffer>): Effect.Effect<Picture, Refusal> =>
  Effect.gen(function* () {
    const { imageSize } = yield* Effect.promise(loadImageSize)
    const header = Result.try(() => imageSize(bytes))
    if (Result.isFailure(header)) return { bytes, contentType: "application/octet-stream" }
    const { height, type, width } = header.success
    if (Math.max(width, height) > Platform.maxImageSide) {
      return yield* hostError(
        400,
        "upload.dimensions",
        `The picture is ${width} x ${height} px; ${Platform.maxImageSide} px are the most`
      )
    }
    return { bytes, contentType: type === "jpg" ? "image/jpeg" : `image/${type}` }
  })

/** Where a picture can be looked at, for a while. */
export const pictureUrl = ({ imageOrigin, mediaSettings, now }: PlatformState, { photo_id }: MediaState): string =>
  `${imageOrigin}/images/${photo_id}?expires=${now + mediaSettings.linkLifetime}`

/** @assumption expiredImageUrl */
export const show = ({ now, pictures }: PlatformState, { path, query }: Request): Response | Refusal => {
  const id = path.slice("/images/".length)
  const source = pictures.sourceOf(id)
  const picture = pictures.get(id)
  const expires = Number(new URLSearchParams(query).get("expires") ?? Number.NaN)
  if (Number.isNaN(expires)) return hostError(403, "image.denied", "The link has no `expires`")
  if (expires <= now) return hostError(410, "image.expired", "The link has expired: request the message again")
  if (source !== undefined) return { status: 302, headers: { location: source }, body: "" }
  if (picture === undefined) return hostError(404, "image.not.found", "There is no such picture")
  return { ...respond(200, "", { "content-type": picture.contentType }), bytes: picture.bytes }
}
