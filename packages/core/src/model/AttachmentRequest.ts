/**
 * Attachments of messages to send.
 *
 * API: Request-side message body, AttachmentRequest.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { notEmpty } from "../base/internal/rules.ts"
import { optional } from "../base/internal/wire.ts"
import type { Attachment } from "./Attachment.ts"
import { Keyboard } from "./Keyboard.ts"
import * as Platform from "../base/Platform.ts"

const given = (value: unknown): boolean => value !== undefined && value !== null

/**
 * An image, by exactly one of: `url` (an external address), `token` (of an image on the platform), `photos` (the
 * response of the upload host).
 *
 * @category models
 * @since 0.1.0
 */
export const PhotoAttachmentRequestPayload = Schema.Struct({
  url: optional(Schema.String.check(notEmpty("must have at least one character"))),
  token: optional(Schema.String),
  photos: optional(Schema.Record(Schema.String, Schema.Struct({ token: Schema.String })))
}).check(
  Schema.makeFilter(({ url, token, photos }) => {
    const count = [url, token, photos].filter(given).length
    return count === 1 || `must have exactly one of url, token and photos, has ${count}`
  })
)

/**
 * @category models
 * @since 0.1.0
 */
export type PhotoAttachmentRequestPayload = typeof PhotoAttachmentRequestPayload.Type

const Token = Schema.Struct({ token: Schema.String })

type Attached<Type extends string, Payload> = { readonly type: Type; readonly payload: Payload }

/**
 * An attachment to send: media by the token of their upload, a sticker by its code or its address, a contact, a keyboard, a shared
 * link, or a location, whose coordinates are beside `type`.
 *
 * @assumption sentAttachments
 * @assumption stickerByUrl
 * @category models
 * @since 0.1.0
 */
export type AttachmentRequest =
  | Attached<"image", PhotoAttachmentRequestPayload>
  | Attached<"video" | "audio" | "file", { readonly token: string }>
  | Attached<"sticker", typeof Sticker.Type>
  | Attached<"contact", typeof Contact.Type>
  | Keyboard
  | Attached<"share", typeof Share.Type>
  | { readonly type: "location"; readonly latitude: number; readonly longitude: number }

const Sticker = Schema.Struct({ code: optional(Schema.String), url: optional(Schema.String) }).check(
  Schema.makeFilter(({ code, url }) => given(code) !== given(url) || "must have either a code or a url")
)

const Contact = Schema.Struct({
  name: optional(Schema.String),
  contact_id: optional(Schema.Int),
  vcf_info: optional(Schema.String),
  vcf_phone: optional(Schema.String)
})

const Share = Schema.Struct({ url: optional(Schema.String), token: optional(Schema.String) }).check(
  Schema.makeFilter(({ url, token }) => given(url) || given(token) || "must have a url or a token")
)

const attached = <const Type extends string, Payload extends Schema.Top>(type: Type, payload: Payload) =>
  Schema.Struct({ type: Schema.Literal(type), payload })

/**
 * The schema of an attachment to send.
 *
 * @category models
 * @since 0.1.0
 */
export const AttachmentRequest: Schema.Codec<AttachmentRequest, unknown> = Schema.suspend(() =>
  Schema.Union([
    attached("image", PhotoAttachmentRequestPayload),
    attached("video", Token),
    attached("audio", Token),
    attached("file", Token),
    attached("sticker", Sticker),
    attached("contact", Contact),
    Keyboard,
    attached("share", Share),
    Schema.Struct({ type: Schema.Literal("location"), latitude: Schema.Finite, longitude: Schema.Finite })
  ])
)

// One request can attach several uploaded images.
const countOf = (attachment: AttachmentRequest): number =>
  attachment.type === "image" && attachment.payload.photos != null ? Object.keys(attachment.payload.photos).length : 1

const combinationIssue = (attachments: ReadonlyArray<AttachmentRequest>): string | undefined => {
  const count = attachments.reduce((sum, attachment) => sum + countOf(attachment), 0)
  if (count > Platform.maxAttachments) return `must hold at most ${Platform.maxAttachments} attachments, holds ${count}`
  const others = attachments.filter(({ type }) => type !== "inline_keyboard")
  const keyboards = attachments.length - others.length
  if (keyboards > 1) return `must hold at most one inline_keyboard, holds ${keyboards}`
  const sole = others.find(({ type }) => Platform.soleAttachmentTypes.includes(type))
  if (others.length > 1 && sole !== undefined) {
    return `${sole.type} must be the only attachment apart from an inline_keyboard`
  }
  const odd = others.find(({ type }) => !Platform.attachmentTypesWithImage.includes(type))
  return odd !== undefined && others.some(({ type }) => type === "image")
    ? `${odd.type} cannot be combined with an image: only video and an inline_keyboard can`
    : undefined
}

/**
 * The attachments of a message: at most 12, with at most one `inline_keyboard`. Images can be combined with videos.
 * `audio`, `file`, `contact` and `sticker` must be the only attachment apart from a keyboard.
 *
 * @category models
 * @since 0.1.0
 */
export const AttachmentRequests = Schema.Array(AttachmentRequest).check(
  Schema.makeFilter(combinationIssue, { toJsonSchema: () => ({ maxItems: Platform.maxAttachments }) })
)

/**
 * Returns an image by an external address.
 *
 * @category constructors
 * @since 0.1.0
 */
export const imageFromUrl = (url: string): AttachmentRequest => ({ type: "image", payload: { url } })

/**
 * Returns an image that is already on the platform, by its token.
 *
 * @category constructors
 * @since 0.1.0
 */
export const image = (token: string): AttachmentRequest => ({ type: "image", payload: { token } })

/**
 * Returns an uploaded image, by the `photos` in the response of the upload host.
 *
 * @category constructors
 * @since 0.1.0
 */
export const imageFromPhotos = (photos: { readonly [key: string]: { readonly token: string } }): AttachmentRequest => ({
  type: "image",
  payload: { photos }
})

/**
 * Returns an uploaded video, by its token. A video can be combined with images.
 *
 * @category constructors
 * @since 0.1.0
 */
export const video = (token: string): AttachmentRequest => ({ type: "video", payload: { token } })

/**
 * Returns an uploaded audio file, by its token. An audio file must be the only attachment apart from a keyboard.
 *
 * @category constructors
 * @since 0.1.0
 */
export const audio = (token: string): AttachmentRequest => ({ type: "audio", payload: { token } })

/**
 * Returns an uploaded file, by its token. A file must be the only attachment apart from a keyboard.
 *
 * @category constructors
 * @since 0.1.0
 */
export const file = (token: string): AttachmentRequest => ({ type: "file", payload: { token } })

/**
 * Returns a sticker, by its code. A sticker must be the only attachment apart from a keyboard.
 *
 * @category constructors
 * @since 0.1.0
 */
export const sticker = (code: string): AttachmentRequest => ({ type: "sticker", payload: { code } })

/**
 * Returns a location, by its latitude and longitude in degrees.
 *
 * @category constructors
 * @since 0.1.0
 */
export const location = (latitude: number, longitude: number): AttachmentRequest => ({
  type: "location",
  latitude,
  longitude
})

/**
 * Returns the attachment to send that has the content of a received attachment, or `undefined` if there is none: for an attachment of an
 * unknown type, a keyboard, or a contact without data.
 *
 * - Media are sent by their tokens, which do not expire. The `url` of a received image expires.
 * - A contact is sent by its vCard, or by the user in `max_info`. The signature `hash` is not sent.
 * - A keyboard belongs to the bot that made its buttons.
 *
 * `NewMessage.fromMessage` does the same for a whole message.
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromAttachment = (attachment: Attachment): AttachmentRequest | undefined => {
  switch (attachment.type) {
    case "image":
      return image(attachment.payload.token)
    case "video":
    case "audio":
    case "file":
      return { type: attachment.type, payload: { token: attachment.payload.token } }
    case "sticker":
      return sticker(attachment.payload.code)
    case "location":
      return location(attachment.latitude, attachment.longitude)
    case "contact": {
      const { max_info, vcf_info } = attachment.payload ?? {}
      if (given(vcf_info)) return { type: "contact", payload: { vcf_info } }
      return max_info == null ? undefined : { type: "contact", payload: { contact_id: max_info.user_id } }
    }
    case "share": {
      const { token, url } = attachment.payload ?? {}
      if (given(token)) return { type: "share", payload: { token } }
      return given(url) ? { type: "share", payload: { url } } : undefined
    }
    default:
      return undefined
  }
}
