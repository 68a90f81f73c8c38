/**
 * What happens during an upload.
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"
import type { AttachmentRequest } from "./AttachmentRequest.ts"
import type { SavedUpload, UploadType } from "./Uploads.ts"

/**
 * An uploaded file as the attachment to send.
 *
 * @category models
 * @since 0.1.0
 */
export type Media = Extract<AttachmentRequest, { readonly type: UploadType }>

/**
 * - `Started`: an upload in parts has an address. `saved` can be stored, to go on in another process. It comes again where
 *   the upload had to get another address.
 * - `Progress`: `sent` bytes of `size` are on their method, which are `percent`; `size` and `percent` are absent where the
 *   source does not tell its size. `bytesPerSecond` is the rate of the last seconds, absent until it can be told.
 * - `Completed`: the last one. `attachment` can be sent.
 *
 * @category models
 * @since 0.1.0
 */
export type UploadEvent = Data.TaggedEnum<{
  Started: { readonly saved: SavedUpload }
  Progress: {
    readonly sent: number
    readonly size?: number
    readonly percent?: number
    readonly bytesPerSecond?: number
  }
  Completed: { readonly attachment: Media }
}>

/**
 * @category models
 * @since 0.1.0
 */
export const UploadEvent = Data.taggedEnum<UploadEvent>()
