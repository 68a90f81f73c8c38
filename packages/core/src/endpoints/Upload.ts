/**
 * The data of uploads: types, addresses, requests, saved uploads and events. `Uploads` has the operations.
 *
 * API: Upload result; Endpoints, POST /uploads.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Schema from "effect/Schema"
import type { AttachmentRequest } from "../model/AttachmentRequest.ts"
import { nullish } from "../base/internal/wire.ts"
import * as Platform from "../base/Platform.ts"
import type { UploadSource } from "./UploadSource.ts"

/**
 * The limits on files of one type.
 *
 * @category models
 * @since 0.1.0
 */
export interface Limits {
  /** Maximum size of the file, in bytes. */
  readonly maxSize: number
  /** The allowed extensions, in lower case. A file name without an extension is always allowed. Default: any extension. */
  readonly extensions?: ReadonlyArray<string>
  /** Maximum width and height of the image, in pixels. Default: not checked. */
  readonly maxSide?: number
  /** Maximum duration of the audio. Default: not checked. */
  readonly maxDuration?: Duration.Duration
}

const defaultLimits: Readonly<Record<UploadType, Limits>> = {
  image: {
    maxSize: Platform.maxUploadSize.image,
    extensions: Platform.imageExtensions,
    maxSide: Platform.maxImageSide
  },
  video: { maxSize: Platform.maxUploadSize.video, extensions: Platform.videoExtensions },
  audio: { maxSize: Platform.maxUploadSize.audio, maxDuration: Duration.millis(Platform.maxAudioDuration) },
  file: { maxSize: Platform.maxUploadSize.file }
}

/**
 * The limits that uploads are checked against. Default: the limits of the API document, from `Platform`. Audio may have any
 * extension, because the document lists only some:
 *
 * | type    | size    | extensions                               | other                |
 * | ------- | ------- | ---------------------------------------- | -------------------- |
 * | `image` | 50 MiB  | jpg, jpeg, png, gif, tiff, tif, bmp, heic | at most 7680 x 7680 px |
 * | `video` | 250 MiB | mp4, mov, mkv, webm                      |                      |
 * | `audio` | 256 MiB | any                                      | at most 1 hour       |
 * | `file`  | 4 GiB   | any                                      |                      |
 *
 * **Example** (A platform that allows larger images of any extension)
 *
 * ```ts
 * import { Upload, Uploads, UploadSource } from "@colloquy/core"
 * import { Effect } from "effect"
 *
 * const source = UploadSource.bytes(new Uint8Array(1000))
 * const attachment = Uploads.upload({ type: "image", source, name: "a.webp" }).pipe(
 *   Effect.updateService(Upload.UploadLimits, (limits) => ({ ...limits, image: { maxSize: 100 * 2 ** 20 } }))
 * )
 * ```
 *
 * API: Limits.
 *
 * @category references
 * @since 0.1.0
 */
export const UploadLimits = Context.Reference<Readonly<Record<UploadType, Limits>>>("@colloquy/core/UploadLimits", {
  defaultValue: () => defaultLimits
})

/**
 * The kind of media as which a file is uploaded. `image` replaces `photo`, which the platform no longer accepts.
 *
 * @category models
 * @since 0.1.0
 */
export const UploadType = Schema.Literals(["image", "video", "audio", "file"])

/**
 * @category models
 * @since 0.1.0
 */
export type UploadType = typeof UploadType.Type

/**
 * The address to upload one file to. `url` accepts exactly one file, does not expire, and must be used unchanged. For
 * `video` and `audio`, `token` comes with the address and attaches the media after the upload; for `image` and `file`, the
 * upload host returns the token.
 *
 * API: Upload result.
 *
 * @category models
 * @since 0.1.0
 */
export const UploadAddress = Schema.Struct({ url: Schema.String, token: nullish(Schema.String) })

/**
 * @category models
 * @since 0.1.0
 */
export interface UploadAddress extends Schema.Schema.Type<typeof UploadAddress> {}

/**
 * An uploaded file as an attachment that can be sent, also many times and to many chats.
 *
 * @category models
 * @since 0.1.0
 */
export type Media = Extract<AttachmentRequest, { readonly type: UploadType }>

/**
 * The state of a resumable upload. Store the state to resume the upload in another process. The state contains the
 * address, the name of the file, and the `size` and `identity` of its source, but not the progress: the upload host
 * knows how many bytes have arrived.
 *
 * `url` and `token` allow anyone to upload and attach the file: store them like a secret.
 *
 * **Example** (A codec to and from JSON text)
 *
 * ```ts
 * import { Upload } from "@colloquy/core"
 * import { Schema } from "effect"
 *
 * const Stored = Schema.fromJsonString(Upload.SavedUpload)
 * const toText = Schema.encodeEffect(Stored)
 * const fromText = Schema.decodeEffect(Stored)
 * ```
 *
 * @category models
 * @since 0.1.0
 */
export const SavedUpload = Schema.Struct({
  type: UploadType,
  name: Schema.String,
  url: Schema.String,
  token: Schema.optionalKey(Schema.String),
  size: Schema.Int,
  partSize: Schema.Int,
  identity: Schema.String
})

/**
 * @category models
 * @since 0.1.0
 */
export interface SavedUpload extends Schema.Schema.Type<typeof SavedUpload> {}

/**
 * An upload in a single request, from any source.
 *
 * @category requests
 * @since 0.1.0
 */
export interface MultipartRequest {
  /** The kind of media that the file is uploaded as. */
  readonly type: UploadType
  /** The content of the file. */
  readonly source: UploadSource
  /** The name of the file, with its extension. Default: the name of the source, otherwise the `type`. */
  readonly name?: string | undefined
  /** Sends the file in a single request. A source without random access has no other method. */
  readonly method?: "multipart" | undefined
  /**
   * Maximum time without any byte sent or received, after which the upload fails with `Transport` of kind `Timeout`. The
   * upload as a whole has no time limit. The HTTP client may have its own limits, such as `headersTimeout` of
   * `NodeBotHttpClient`. Default: 2 minutes.
   */
  readonly stallTimeout?: Duration.Input | undefined
}

/**
 * An upload from a source with random access, in a single request or in parts.
 *
 * @category requests
 * @since 0.1.0
 */
export interface RandomAccessRequest {
  /** The kind of media that the file is uploaded as. */
  readonly type: UploadType
  /** The content of the file. */
  readonly source: UploadSource<"randomAccess">
  /** The name of the file, with its extension. Default: the name of the source, otherwise the `type`. */
  readonly name?: string | undefined
  /**
   * `multipart` sends the file in a single request and starts over after a failure. `resumable` sends the file in parts
   * and resumes after the last part that the upload host has received. Default: `resumable` from 16 MiB on, otherwise
   * `multipart`. An empty file is always sent by `multipart`.
   */
  readonly method?: "multipart" | "resumable" | undefined
  /**
   * Size of a part in bytes, for `resumable`. The size is raised if the file would have more than 1000 parts. Default:
   * 2 MiB, or more for files above 1 GiB, so that there are at most 512 parts.
   */
  readonly partSize?: number | undefined
  /** See {@link MultipartRequest.stallTimeout}. Default: 2 minutes. */
  readonly stallTimeout?: Duration.Input | undefined
}

/**
 * A request to upload a file.
 *
 * @category requests
 * @since 0.1.0
 */
export type UploadRequest = MultipartRequest | RandomAccessRequest

/**
 * A request to resume a saved upload.
 *
 * @category requests
 * @since 0.1.0
 */
export interface ResumeRequest {
  /** The saved upload, from the event `Started` or from `UploadFailed`. */
  readonly saved: SavedUpload
  /** The source that the upload was started with. Another content fails with `SourceMismatch`; nothing is sent then. */
  readonly source: UploadSource<"randomAccess">
  /** Maximum time without any byte sent or received. Default: 2 minutes. */
  readonly stallTimeout?: Duration.Input | undefined
}

/**
 * An event of an upload: `Started`, `Progress` or `Completed`.
 *
 * @category events
 * @since 0.1.0
 */
export type UploadEvent = Data.TaggedEnum<{
  /**
   * A resumable upload has an address. The event is repeated if the upload had to continue at another address; store
   * the last event.
   */
  Started: {
    /** The state to store, for another process that resumes the upload. */
    readonly saved: SavedUpload
  }
  /**
   * Bytes were sent. The event occurs at each percent, or at each MiB if the size is unknown, and at least once per second
   * while bytes are sent.
   */
  Progress: {
    /** Number of bytes sent. */
    readonly sent: number
    /** Number of bytes in all. Absent if the source does not know its size. */
    readonly size?: number
    /** Percentage of bytes sent, from 0 to 100. Absent if the source does not know its size. */
    readonly percent?: number
    /** Bytes sent per second, averaged over the last seconds. Absent in the first second. */
    readonly bytesPerSecond?: number
  }
  /** The file is uploaded. `Completed` is the last event. */
  Completed: {
    /** The attachment to send. */
    readonly attachment: Media
  }
}>

/**
 * The constructors of upload events.
 *
 * @category events
 * @since 0.1.0
 */
export const UploadEvent = Data.taggedEnum<UploadEvent>()
