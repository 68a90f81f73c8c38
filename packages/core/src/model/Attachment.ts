/**
 * Attachments of received messages.
 *
 * API: Resources and their fields, Attachment.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { Int64, nullish, openList, openUnion, Raw } from "../base/internal/wire.ts"
import { Buttons } from "./Keyboard.ts"
import { UserWithPhoto } from "./User.ts"

/**
 * A video. `urls` has an address for each rendition (`mp4_1080` … `mp4_144`, `hls`). `width` and `height` are in
 * pixels, `duration` is in seconds.
 *
 * @assumption getVideo
 * @category models
 * @since 0.1.0
 */
export const Video = Schema.Struct({
  token: Schema.String,
  urls: nullish(Schema.Record(Schema.String, Schema.NullOr(Schema.String))),
  thumbnail: nullish(Schema.Struct({ url: Schema.String, photo_id: nullish(Int64), token: nullish(Schema.String) })),
  width: nullish(Schema.Int),
  height: nullish(Schema.Int),
  duration: nullish(Schema.Finite)
})

/**
 * @category models
 * @since 0.1.0
 */
export interface Video extends Schema.Schema.Type<typeof Video> {}

/**
 * An image. Its `url` expires at the time in its parameter `expires`; request the message again for a new `url`.
 *
 * @category models
 * @since 0.1.0
 */
export const ImageAttachment = Schema.Struct({
  type: Schema.tag("image"),
  payload: Schema.Struct({ photo_id: Int64, token: Schema.String, url: Schema.String })
})

const media = { url: nullish(Schema.String), token: Schema.String }

/**
 * A video. `Videos.get` returns the addresses from which the video can be played. `duration` is in seconds.
 *
 * @category models
 * @since 0.1.0
 */
export const VideoAttachment = Schema.Struct({
  type: Schema.tag("video"),
  payload: Schema.Struct({ id: nullish(Int64), ...media }),
  thumbnail: nullish(Schema.Struct({ url: Schema.String, photo_id: nullish(Int64), token: nullish(Schema.String) })),
  width: nullish(Schema.Int),
  height: nullish(Schema.Int),
  duration: nullish(Schema.Finite)
})

/**
 * An audio file or a voice message.
 *
 * @category models
 * @since 0.1.0
 */
export const AudioAttachment = Schema.Struct({
  type: Schema.tag("audio"),
  payload: Schema.Struct({ id: nullish(Int64), ...media }),
  transcription: nullish(Schema.String)
})

/**
 * A file, with its name and its size in bytes.
 *
 * @category models
 * @since 0.1.0
 */
export const FileAttachment = Schema.Struct({
  type: Schema.tag("file"),
  payload: Schema.Struct(media),
  filename: nullish(Schema.String),
  size: nullish(Schema.Int)
})

/**
 * A sticker.
 *
 * @category models
 * @since 0.1.0
 */
export const StickerAttachment = Schema.Struct({
  type: Schema.tag("sticker"),
  payload: Schema.Struct({ url: nullish(Schema.String), code: Schema.String }),
  width: nullish(Schema.Int),
  height: nullish(Schema.Int)
})

/**
 * A contact: its vCard. The contact that a user sends by a `request_contact` button also has the user in `max_info`, and
 * in `hash` the signature of the platform over the vCard.
 *
 * @assumption requestedContact
 * @assumption contactHash
 *
 * @category models
 * @since 0.1.0
 */
export const ContactAttachment = Schema.Struct({
  type: Schema.tag("contact"),
  payload: nullish(
    Schema.StructWithRest(
      Schema.Struct({
        vcf_info: nullish(Schema.String),
        hash: nullish(Schema.String),
        max_info: nullish(UserWithPhoto)
      }),
      [Schema.Record(Schema.String, Raw)]
    )
  )
})

/**
 * The inline keyboard of a message.
 *
 * @category models
 * @since 0.1.0
 */
export const KeyboardAttachment = Schema.Struct({
  type: Schema.tag("inline_keyboard"),
  payload: Schema.Struct({ buttons: Buttons }),
  callback_id: nullish(Schema.String)
})

/**
 * A shared link, with its preview.
 *
 * @category models
 * @since 0.1.0
 */
export const ShareAttachment = Schema.Struct({
  type: Schema.tag("share"),
  payload: nullish(Schema.Struct({ url: nullish(Schema.String), token: nullish(Schema.String) })),
  title: nullish(Schema.String),
  description: nullish(Schema.String),
  image_url: nullish(Schema.String)
})

/**
 * A location, in degrees. The coordinates are beside `type`.
 *
 * @category models
 * @since 0.1.0
 */
export const LocationAttachment = Schema.Struct({
  type: Schema.tag("location"),
  latitude: Schema.Finite,
  longitude: Schema.Finite
})

const kinds = () => ({
  image: ImageAttachment,
  video: VideoAttachment,
  audio: AudioAttachment,
  file: FileAttachment,
  sticker: StickerAttachment,
  contact: ContactAttachment,
  inline_keyboard: KeyboardAttachment,
  share: ShareAttachment,
  location: LocationAttachment
})

/**
 * Any attachment of a received message. An unknown type is decoded as `{ type: "unknown", raw }`.
 *
 * @assumption receivedAttachments
 * @category models
 * @since 0.1.0
 */
export const Attachment = openUnion("type", kinds)

/**
 * @category models
 * @since 0.1.0
 */
export type Attachment = typeof Attachment.Type

/**
 * The attachments of a received message.
 *
 * @category models
 * @since 0.1.0
 */
export const Attachments = openList("type", kinds)
