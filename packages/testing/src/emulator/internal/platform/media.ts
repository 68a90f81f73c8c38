import type { Attachment } from "@colloquy/core/model/Attachment"
import type { Message, MessageBody } from "@colloquy/core/model/Message"
import type { Update } from "@colloquy/core/model/Update"
import type { UploadType } from "@colloquy/core/endpoints/Upload"
import { uploadOrigins } from "../http/wire.ts"
import { emit } from "./events.ts"
import { nextName, nextPhotoId } from "./ids.ts"
import { MediaState, now, type PlatformState } from "./state.ts"

const origin = "https://media.emulator.test"

/** How long a file of this size is processed, in milliseconds. */
export const processingTime = ({ mediaSettings }: PlatformState, size: number): number =>
  Math.max(mediaSettings.minimumProcessing, Math.ceil((size / mediaSettings.bytesPerSecond) * 1000))

/** Creates media that are not uploaded yet. */
export const createMedia = (
  state: PlatformState,
  type: UploadType,
  given: Partial<Pick<MediaState, "token" | "photo_id" | "sourceUrl">> = {}
): MediaState => {
  const { token = nextName(state, type), photo_id = nextPhotoId(state), sourceUrl } = given
  const media = new MediaState(type, token, photo_id, sourceUrl)
  state.media.set(token, media)
  if (type === "image" && sourceUrl !== undefined) state.imageUrls.set(String(photo_id), sourceUrl)
  return media
}

/** Ends the upload of media, which are ready after some time. */
export const completeMedia = (
  state: PlatformState,
  media: MediaState,
  { filename, size }: Pick<MediaState, "filename" | "size">,
  readyIn = 0
): void => {
  media.filename = filename
  media.size = size
  media.readyAt = now(state) + readyIn
  const { readyAt: ready_at, token, type } = media
  emit(state, { type: "upload", media: type, token, filename: filename ?? null, size, ready_at })
}

export const isReady = (state: PlatformState, { readyAt }: MediaState): boolean =>
  readyAt !== undefined && readyAt <= now(state)

/** Returns a link that is valid from now on. */
const linkTo = (state: PlatformState, { type }: MediaState, path: string): string => {
  const { bot, control } = state.fileOrigins
  const expires = now(state) + state.mediaSettings.linkLifetime
  return `${(bot ?? control ?? uploadOrigins)[type]}${path}?expires=${expires}`
}

export const imageUrl = (state: PlatformState, image: MediaState): string =>
  linkTo(state, image, `/images/${image.photo_id}`)

/** Whether the content of the file is kept, so that the file can be downloaded. */
export const hasContent = (state: PlatformState, { photo_id }: MediaState): boolean => state.files.has(String(photo_id))

/** The address of a file, or of a rendition of a video. */
export const urlOf = (state: PlatformState, media: MediaState, rendition?: string): string => {
  const { photo_id, sourceUrl, token, type } = media
  if (type === "image") return imageUrl(state, media)
  const suffix = rendition === undefined ? "" : `/${rendition}`
  return hasContent(state, media)
    ? linkTo(state, media, `/files/${photo_id}${suffix}`)
    : `${sourceUrl ?? `${origin}/${type}s/${encodeURIComponent(token)}`}${suffix}`
}

const uploadTypes = new Set(["image", "video", "audio", "file"])

export const isMedia = <A extends { readonly type: string }>(
  attachment: A
): attachment is Extract<A, { readonly type: UploadType }> => uploadTypes.has(attachment.type)

const hasMedia = (body: MessageBody | null | undefined): boolean => body?.attachments?.some(isMedia) === true

const renewAttachment = (state: PlatformState, attachment: Attachment): Attachment => {
  if (!isMedia(attachment)) return attachment
  const media = state.media.get(attachment.payload.token)
  return media === undefined || (media.type !== "image" && !hasContent(state, media))
    ? attachment
    : ({ ...attachment, payload: { ...attachment.payload, url: urlOf(state, media) } } as Attachment)
}

const renewBody = (state: PlatformState, body: MessageBody): MessageBody =>
  body.attachments == null
    ? body
    : { ...body, attachments: body.attachments.map((each) => renewAttachment(state, each)) }

/** Renews the links to the files of a message. */
export const withFreshLinks = (state: PlatformState, message: Message): Message => {
  const { body, link } = message
  if (!hasMedia(body) && !hasMedia(link?.message)) return message
  return {
    ...message,
    ...(body == null ? {} : { body: renewBody(state, body) }),
    ...(link == null
      ? {}
      : { link: { ...link, ...(link.message == null ? {} : { message: renewBody(state, link.message) }) } })
  }
}

/** Renews the links to the files of the message in an update. */
export const withFreshUpdate = (state: PlatformState, update: Update): Update =>
  "message" in update && update.message != null ? { ...update, message: withFreshLinks(state, update.message) } : update

/** The media in a message, also in a forwarded message. */
const mediaIn = (state: PlatformState, { body, link }: Message): ReadonlySet<MediaState> => {
  const forwarded = link?.type === "forward" ? (link.message?.attachments ?? []) : []
  const found = new Set<MediaState>()
  for (const attachment of [...(body?.attachments ?? []), ...forwarded]) {
    const payload = "payload" in attachment ? attachment.payload : undefined
    const token = payload != null && "token" in payload ? payload.token : undefined
    const media = typeof token === "string" ? state.media.get(token) : undefined
    if (media !== undefined) found.add(media)
  }
  return found
}

/** Adds the change to the number of messages with the media. */
export const holdMedia = (state: PlatformState, message: Message, change: 1 | -1): void => {
  for (const media of mediaIn(state, message)) media.holders += change
}

/**
 * Removes the media of a removed message that no other message has. Their tokens no longer work.
 *
 * @assumption storedFiles
 */
export const removeMedia = (state: PlatformState, message: Message): void => {
  for (const media of mediaIn(state, message)) if (media.holders <= 0) state.media.delete(media.token)
}

/** @assumption videoWithoutHeader */
export const videoInfoOf = ({ video }: MediaState) => {
  const { height, seconds, width } = video ?? { width: 1280, height: 720, seconds: 1 }
  return { width, height, duration: Math.round(seconds) }
}

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
