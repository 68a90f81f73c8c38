import type { Attachment } from "@colloquy/core/Attachment"
import type { Message, MessageBody } from "@colloquy/core/Message"
import * as Platform from "@colloquy/core/Platform"
import type { Update } from "@colloquy/core/Update"
import type { UploadType } from "@colloquy/core/Upload"
import * as Effect from "effect/Effect"
import type { MediaState } from "./model.ts"
import { pictureUrl } from "./pictures.ts"
import * as refusal from "../http/refusal.ts"
import type { PlatformState } from "./state.ts"

const host = "https://media.emulator.test"

/** How long things take and last, in milliseconds. */
export interface MediaSettings {
  readonly bytesPerSecond: number
  readonly leastProcessing: number
  readonly linkLifetime: number
}

/** @assumption processingTime */
export const defaultMediaSettings: MediaSettings = {
  bytesPerSecond: 2 * 2 ** 20,
  leastProcessing: 200,
  linkLifetime: Platform.imageUrlLifetime
}

export const processingTime = ({ mediaSettings }: PlatformState, size: number): number =>
  Math.max(mediaSettings.leastProcessing, Math.ceil((size / mediaSettings.bytesPerSecond) * 1000))

export const expectMedia = (
  state: PlatformState,
  type: UploadType,
  {
    token = state.nextName(type),
    photo_id = state.nextPhotoId(),
    sourceUrl
  }: { readonly [K in "token" | "photo_id" | "sourceUrl"]?: MediaState[K] | undefined } = {}
): MediaState => {
  const media: MediaState = {
    type,
    token,
    photo_id,
    filename: undefined,
    size: 0,
    readyAt: undefined,
    sourceUrl,
    video: undefined
  }
  state.media.set(token, media)
  if (type === "image" && sourceUrl !== undefined) state.pictures.refer(media, sourceUrl)
  return media
}

export const isReady = (state: PlatformState, { readyAt }: MediaState): boolean =>
  readyAt !== undefined && readyAt <= state.now

export const urlOf = (state: PlatformState, media: MediaState): string => {
  if (media.type === "image") return pictureUrl(state, media)
  return media.sourceUrl ?? `${host}/${media.type}s/${encodeURIComponent(media.token)}`
}

const hasImages = (body: MessageBody | null | undefined): boolean =>
  body?.attachments?.some(({ type }) => type === "image") === true

const renew = (state: PlatformState, attachment: Attachment): Attachment => {
  if (attachment.type !== "image") return attachment
  const media = state.media.get(attachment.payload.token)
  return media === undefined
    ? attachment
    : { ...attachment, payload: { ...attachment.payload, url: urlOf(state, media) } }
}

const renewBody = (state: PlatformState, body: MessageBody): MessageBody =>
  body.attachments == null ? body : { ...body, attachments: body.attachments.map((each) => renew(state, each)) }

/** A message with links to its pictures that last from now on. */
export const withFreshLinks = (state: PlatformState, message: Message): Message => {
  const { body, link } = message
  if (!hasImages(body) && !hasImages(link?.message)) return message
  return {
    ...message,
    ...(body == null ? {} : { body: renewBody(state, body) }),
    ...(link == null ? {} : { link: { ...link, message: renewBody(state, link.message) } })
  }
}

/** An update as it is given to a bot that asks for it now. */
export const withFreshUpdate = (state: PlatformState, update: Update): Update =>
  "message" in update && update.message != null ? { ...update, message: withFreshLinks(state, update.message) } : update

/** @assumption videoWithoutHeader */
export const videoInfoOf = ({ video }: MediaState) => {
  const { height, seconds, width } = video ?? { width: 1280, height: 720, seconds: 1 }
  return { width, height, duration: Math.round(seconds) }
}

/** Media as an attachment. */
export const toAttachment = (state: PlatformState, media: MediaState): Attachment => {
  const { photo_id, token, type } = media
  const url = urlOf(state, media)
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
export const takeOver = (state: PlatformState, url: string): Effect.Effect<Attachment, refusal.Refusal> =>
  Effect.suspend(() => {
    if (!/^https?:/i.test(url) || !URL.canParse(url)) {
      return refusal.invalidPayload(`url: must be the address of a picture, is ${JSON.stringify(url)}`)
    }
    const media = expectMedia(state, "image", { sourceUrl: url })
    media.readyAt = state.now
    return Effect.succeed(toAttachment(state, media))
  })

/** An uploaded file as an attachment; its token works again and again. */
export const useMedia = (
  state: PlatformState,
  type: UploadType,
  token: string
): Effect.Effect<Attachment, refusal.Refusal> =>
  Effect.suspend((): Effect.Effect<Attachment, refusal.Refusal> => {
    const media = state.media.get(token)
    if (media === undefined || media.type !== type) return refusal.invalidPayload(`No ${type} has the token ${token}`)
    return isReady(state, media)
      ? Effect.succeed(toAttachment(state, media))
      : refusal.attachmentNotReady(type === "video" ? "video" : "file")
  })
