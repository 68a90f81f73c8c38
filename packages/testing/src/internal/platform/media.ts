import type { Attachment } from "@colloquy/core/Attachment"
import type { Message, MessageBody } from "@colloquy/core/Message"
import type { Update } from "@colloquy/core/Update"
import type { UploadType } from "@colloquy/core/Uploads"
import * as Effect from "effect/Effect"
import type { Media } from "./model.ts"
import { pictureUrl } from "./pictures.ts"
import * as refusal from "../http/refusal.ts"
import type { World } from "./world.ts"

const host = "https://media.emulator.test"

/** How long things take and last, in milliseconds. */
export interface MediaSettings {
  readonly bytesPerSecond: number
  readonly leastProcessing: number
  readonly linkLifetime: number
}

/**
 * @assumption B Processing takes from under a second to minutes: 2 MiB a second, 200 ms at least.
 * @assumption C A link to a picture lives for a day.
 */
export const defaultMediaSettings: MediaSettings = {
  bytesPerSecond: 2 * 2 ** 20,
  leastProcessing: 200,
  linkLifetime: 24 * 60 * 60 * 1000
}

export const processingTime = ({ mediaSettings }: World, size: number): number =>
  Math.max(mediaSettings.leastProcessing, Math.ceil((size / mediaSettings.bytesPerSecond) * 1000))

export const expectMedia = (
  world: World,
  type: UploadType,
  {
    token = world.nextName(type),
    photo_id = world.nextPhotoId(),
    sourceUrl
  }: { readonly [K in "token" | "photo_id" | "sourceUrl"]?: Media[K] | undefined } = {}
): Media => {
  const media: Media = {
    type,
    token,
    photo_id,
    filename: undefined,
    size: 0,
    readyAt: undefined,
    sourceUrl,
    video: undefined
  }
  world.media.set(token, media)
  if (type === "image" && sourceUrl !== undefined) world.pictures.refer(media, sourceUrl)
  return media
}

export const isReady = (world: World, { readyAt }: Media): boolean => readyAt !== undefined && readyAt <= world.now

export const urlOf = (world: World, media: Media): string => {
  if (media.type === "image") return pictureUrl(world, media)
  return media.sourceUrl ?? `${host}/${media.type}s/${encodeURIComponent(media.token)}`
}

const hasImages = (body: MessageBody | null | undefined): boolean =>
  body?.attachments?.some(({ type }) => type === "image") === true

const renew = (world: World, attachment: Attachment): Attachment => {
  if (attachment.type !== "image") return attachment
  const media = world.media.get(attachment.payload.token)
  return media === undefined
    ? attachment
    : { ...attachment, payload: { ...attachment.payload, url: urlOf(world, media) } }
}

const renewBody = (world: World, body: MessageBody): MessageBody =>
  body.attachments == null ? body : { ...body, attachments: body.attachments.map((each) => renew(world, each)) }

/** A message with links to its pictures that last from now on. */
export const withFreshLinks = (world: World, message: Message): Message => {
  const { body, link } = message
  if (!hasImages(body) && !hasImages(link?.message)) return message
  return {
    ...message,
    ...(body == null ? {} : { body: renewBody(world, body) }),
    ...(link == null ? {} : { link: { ...link, message: renewBody(world, link.message) } })
  }
}

/** An update as it is given to a bot that asks for it now. */
export const withFreshUpdate = (world: World, update: Update): Update =>
  "message" in update && update.message != null ? { ...update, message: withFreshLinks(world, update.message) } : update

/** @assumption C A video whose header does not tell its sides and length is 1280 x 720 px and plays a second. */
export const videoInfoOf = ({ video }: Media) => {
  const { height, seconds, width } = video ?? { width: 1280, height: 720, seconds: 1 }
  return { width, height, duration: Math.round(seconds) }
}

/** Media as an attachment. */
export const toAttachment = (world: World, media: Media): Attachment => {
  const { photo_id, token, type } = media
  const url = urlOf(world, media)
  switch (type) {
    case "image":
      return { type, payload: { photo_id, token, url } }
    case "file":
      return { type, payload: { url, token }, filename: media.filename ?? token, size: media.size }
    case "video":
      return { type, payload: { url, token }, ...(media.video === undefined ? {} : videoInfoOf(media)) }
    case "audio":
      return { type, payload: { url, token } }
  }
}

/** A picture from elsewhere: the platform takes it over at once. */
export const takeOver = (world: World, url: string): Effect.Effect<Attachment, refusal.Refusal> =>
  Effect.suspend(() => {
    if (!/^https?:/i.test(url) || !URL.canParse(url)) {
      return refusal.invalidPayload(`url: must be the address of a picture, is ${JSON.stringify(url)}`)
    }
    const media = expectMedia(world, "image", { sourceUrl: url })
    media.readyAt = world.now
    return Effect.succeed(toAttachment(world, media))
  })

/** An uploaded file as an attachment; its token works again and again. */
export const useMedia = (world: World, type: UploadType, token: string): Effect.Effect<Attachment, refusal.Refusal> =>
  Effect.suspend((): Effect.Effect<Attachment, refusal.Refusal> => {
    const media = world.media.get(token)
    if (media === undefined || media.type !== type) return refusal.invalidPayload(`No ${type} has the token ${token}`)
    return isReady(world, media)
      ? Effect.succeed(toAttachment(world, media))
      : refusal.attachmentNotReady(type === "video" ? "video" : "file")
  })
