import type * as Videos from "@colloquy/core/endpoints/Videos"
import * as Effect from "effect/Effect"
import { notFound } from "../http/refusal.ts"
import { hasContent, isReady, urlOf, videoInfoOf } from "../platform/media.ts"
import type { Handlers } from "./call.ts"

const renditions = ["mp4_1080", "mp4_720", "mp4_480", "hls"]

export const videos: Handlers<typeof Videos> = {
  get: Effect.fnUntraced(function* ({ token }, { state }) {
    const media = state.media.get(token)
    if (media?.type !== "video" || !isReady(state, media)) return yield* notFound(`Video ${token}`)
    // The content that is kept is one file, and not a list of segments.
    const kept = hasContent(state, media) ? renditions.filter((rendition) => rendition !== "hls") : renditions
    const urls = Object.fromEntries(kept.map((rendition) => [rendition, urlOf(state, media, rendition)]))
    return { token, urls, ...videoInfoOf(media) }
  })
}
