import * as Platform from "@colloquy/core/base/Platform"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { type Request, respond } from "../../EmulatorHttp.ts"
import * as refusal from "../http/refusal.ts"
import { type MediaState, now, type PlatformState, type StoredFile } from "../platform/state.ts"
import { checkSize } from "./limits.ts"
import { makeProbe, writeTo } from "./mediaProbe.ts"
import { infoOf } from "./mp4.ts"

// Loaded with the first image, because an import at the start would be slow.
const loadImageSize = () => import("image-size")

/**
 * Reads an uploaded image. Fails if its header states a side that is too long.
 *
 * @assumption unrecognizedImages
 */
export const readImage = Effect.fnUntraced(function* (bytes: Uint8Array<ArrayBuffer>) {
  const { imageSize } = yield* Effect.promise(loadImageSize)
  const header = Result.try(() => imageSize(bytes))
  if (Result.isFailure(header)) return { bytes, contentType: "application/octet-stream" }
  const { height, type, width } = header.success
  if (Math.max(width, height) > Platform.maxImageSide) {
    return yield* refusal.of(
      400,
      "upload.dimensions",
      `The image has ${width} x ${height} px: each side can have at most ${Platform.maxImageSide} px`
    )
  }
  return { bytes, contentType: type === "jpg" ? "image/jpeg" : `image/${type}` }
})

/** Keeps the content of media that a person sends, so that the file can be downloaded. Media that are refused are removed. */
export const storeContent = Effect.fnUntraced(
  function* (state: PlatformState, media: MediaState, bytes: Uint8Array<ArrayBuffer>) {
    yield* checkSize(media.type, bytes.byteLength)
    const probe = makeProbe(media.type)
    writeTo(probe, bytes)
    const video = infoOf(probe.mp4)
    if (media.type === "video" && video !== undefined && video.width > 0) media.video = video
    media.size = bytes.byteLength
    state.files.set(
      String(media.photo_id),
      media.type === "image" ? yield* readImage(bytes) : { bytes, contentType: "application/octet-stream" }
    )
  },
  (storing, state, { token }) => Effect.onError(storing, () => Effect.sync(() => state.media.delete(token)))
)

/** The range that a request asks for. `undefined` for the whole file, also if the file is not the one of `If-Range`. */
const rangeIn = Effect.fnUntraced(function* ({ headers }: Request, { byteLength }: Uint8Array, etag: string) {
  const [, first, last] = /^bytes=(\d*)-(\d*)$/.exec(headers["range"] ?? "") ?? []
  if (first === undefined || first + last === "" || (headers["if-range"] ?? etag) !== etag) return undefined
  const from = first === "" ? Math.max(0, byteLength - Number(last)) : Number(first)
  const to = first === "" || last === "" ? byteLength : Math.min(byteLength, Number(last) + 1)
  if (from < to) return { from, to }
  return yield* refusal.of(416, "file.range", "The file has no such bytes", {
    "content-range": `bytes */${byteLength}`
  })
})

const sendFile = Effect.fnUntraced(function* (request: Request, photo_id: string, { bytes, contentType }: StoredFile) {
  const etag = `"${photo_id}"`
  const range = yield* rangeIn(request, bytes, etag)
  const headers = { "content-type": contentType, "accept-ranges": "bytes", etag }
  if (range === undefined) return { ...respond(200, "", headers), bytes }
  const { from, to } = range
  return {
    ...respond(206, "", { ...headers, "content-range": `bytes ${from}-${to - 1}/${bytes.byteLength}` }),
    bytes: bytes.slice(from, to)
  }
})

/**
 * Answers a request for a file.
 *
 * @assumption expiredImageUrl
 */
export const serveFile = Effect.fnUntraced(function* (state: PlatformState, request: Request) {
  const { listener, path, query } = request
  const what = listener.kind === "image" ? "image" : "file"
  const [, , id] = path.split("/")
  const url = state.imageUrls.get(id)
  const file = state.files.get(id)
  const expires = Number(new URLSearchParams(query).get("expires") ?? Number.NaN)
  if (Number.isNaN(expires))
    return yield* refusal.of(403, `${what}.denied`, "The link has no query parameter `expires`")
  if (expires <= now(state)) {
    return yield* refusal.of(410, `${what}.expired`, "The link has expired: request the message again")
  }
  if (url !== undefined) return respond(302, "", { location: url })
  if (file === undefined) return yield* refusal.of(404, `${what}.not.found`, `There is no such ${what}`)
  return yield* sendFile(request, id, file)
})
