import type { Attachment } from "@colloquy/core/Attachment"
import type { UploadType } from "@colloquy/core/Uploads"
import * as Effect from "effect/Effect"
import type { Media } from "./model.ts"
import * as refusal from "./refusal.ts"
import type { World } from "./world.ts"

const host = "https://media.emulator.test"

/** Image links live for a day. */
const linkLifetime = 24 * 60 * 60 * 1000

/** @assumption B Processing takes from under a second to minutes, in proportion to the size. */
const processing = { base: 200, millisPerMebibyte: 500 }

export const processingTime = (size: number): number =>
  processing.base + Math.ceil((size / 2 ** 20) * processing.millisPerMebibyte)

export const expectMedia = (world: World, type: UploadType, sourceUrl?: string): Media => {
  const media: Media = {
    type,
    token: world.nextName(type),
    photo_id: world.nextPhotoId(),
    filename: undefined,
    size: 0,
    readyAt: undefined,
    sourceUrl
  }
  world.media.set(media.token, media)
  return media
}

export const isReady = (world: World, { readyAt }: Media): boolean => readyAt !== undefined && readyAt <= world.now

export const urlOf = (world: World, { photo_id, sourceUrl, token, type }: Media): string => {
  if (sourceUrl !== undefined) return sourceUrl
  return type === "image"
    ? `${host}/images/${photo_id}?expires=${world.now + linkLifetime}`
    : `${host}/${type}s/${encodeURIComponent(token)}`
}

const describe = (world: World, media: Media): Attachment => {
  const { photo_id, token, type } = media
  const url = urlOf(world, media)
  switch (type) {
    case "image":
      return { type, payload: { photo_id, token, url } }
    case "file":
      return { type, payload: { url, token }, filename: media.filename ?? token, size: media.size }
    default:
      return { type, payload: { url, token } }
  }
}

/** A picture from elsewhere: the platform takes it over at once. */
export const toAttachment = (world: World, { url }: { readonly url: string }): Attachment => {
  const media = expectMedia(world, "image", url)
  media.readyAt = world.now
  return describe(world, media)
}

/** An uploaded file as an attachment; its token works again and again. */
export const useMedia = (world: World, type: UploadType, token: string): Effect.Effect<Attachment, refusal.Refusal> =>
  Effect.suspend((): Effect.Effect<Attachment, refusal.Refusal> => {
    const media = world.media.get(token)
    if (media === undefined || media.type !== type) return refusal.invalidPayload(`No ${type} has the token ${token}`)
    return isReady(world, media)
      ? Effect.succeed(describe(world, media))
      : refusal.attachmentNotReady(type === "video" ? "video" : "file")
  })
