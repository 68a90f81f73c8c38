import * as Platform from "@colloquy/core/base/Platform"
import * as Effect from "effect/Effect"
import { respond } from "../../EmulatorHttp.ts"
import * as refusal from "../http/refusal.ts"
import { completeMedia, createMedia, hasContent } from "../platform/media.ts"
import { type MediaState, type PlatformState } from "../platform/state.ts"
import { defined } from "../platform/validation.ts"
import { storeContent } from "../upload/files.ts"
import type { NewMedia } from "./declarations.ts"

/** Creates processed media. */
export const addMedia = Effect.fnUntraced(function* (
  state: PlatformState,
  { content, filename, size, token, type, url }: NewMedia
) {
  if (token != null && state.media.has(token)) {
    return yield* refusal.invalidPayload(`token: there are media with the token ${token} already`)
  }
  const length = content?.byteLength ?? size ?? 0
  if (length > Platform.maxUploadSize[type]) {
    return yield* refusal.invalidPayload(`size: must be at most ${Platform.maxUploadSize[type]}`)
  }
  const media = createMedia(state, type, defined({ token, sourceUrl: url }))
  if (content != null) yield* storeContent(state, media, new Uint8Array(content))
  completeMedia(state, media, { filename: filename ?? undefined, size: length })
  return media
})

/** The name and the size of a file. */
export const describeMedia = (state: PlatformState, token: string) =>
  Effect.map(
    refusal.found(state.media.get(token), () => refusal.notFound(`The media ${token}`)),
    (media) => ({ filename: media.filename ?? null, size: media.size, is_kept: hasContent(state, media) })
  )

/** The types of files that browsers play, by the ends of their names. */
const played: Readonly<Record<string, string>> = {
  mp4: "video/mp4",
  m4a: "audio/mp4",
  mov: "video/mp4",
  webm: "video/webm",
  ogg: "audio/ogg",
  mp3: "audio/mpeg",
  wav: "audio/wav"
}

const contentTypeOf = ({ filename = "" }: MediaState, stored: string): string =>
  stored.startsWith("image/") ? stored : (played[filename.slice(filename.lastIndexOf(".") + 1).toLowerCase()] ?? stored)

/** The content of a file. A browser must not interpret the content as a page. */
export const serveMedia = Effect.fnUntraced(function* (state: PlatformState, token: string) {
  const media = state.media.get(token)
  const file = media === undefined ? undefined : state.files.get(String(media.photo_id))
  if (media === undefined || file === undefined) return yield* refusal.notFound(`The content of the media ${token}`)
  const headers = {
    "content-type": contentTypeOf(media, file.contentType),
    "content-security-policy": "default-src 'none'; sandbox",
    "x-content-type-options": "nosniff",
    "cache-control": "private, max-age=3600"
  }
  return { ...respond(200, "", headers), bytes: file.bytes }
})
