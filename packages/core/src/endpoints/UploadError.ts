/**
 * The error of an upload and its reasons.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as ApiError from "../client/ApiError.ts"
import { SavedUpload, UploadType } from "./Upload.ts"
import * as PermanentError from "../base/PermanentError.ts"
import { oneOf, TaggedError } from "../base/TaggedError.ts"

/**
 * Reason: the file exceeds a limit of `UploadLimits`. Nothing was sent, except from a stream of unknown size, where the
 * limit is checked while the bytes are sent.
 *
 * @category reasons
 * @since 0.1.0
 */
export class LimitExceeded extends TaggedError("LimitExceeded", () => ({
  /** The limit that the file exceeds. */
  limit: Schema.Literals(["size", "extension", "dimensions", "duration"]),
  /** The allowed value, as text. */
  allowed: Schema.String,
  /** The value of the file, as text. */
  found: Schema.String
})) {
  override get message() {
    const verb = this.limit === "dimensions" ? "are" : "is"
    return `its ${this.limit} ${verb} ${this.found}, but must be ${this.allowed}. Change the file, or upload it as another type.`
  }
}

/**
 * Reason: the source could not be opened or read, changed during the read, or has another size than declared.
 *
 * @category reasons
 * @since 0.1.0
 */
export class SourceFailed extends TaggedError("SourceFailed", () => ({
  /** The failure, as text. */
  detail: Schema.String,
  /** The error of the source. */
  cause: Schema.optionalKey(Schema.Unknown)
})) {
  override get message() {
    return `its source could not be read: ${this.detail}. Check the source, then upload it again.`
  }
}

/**
 * Reason: the source differs from the source with which the saved upload was started. No byte was sent.
 *
 * @category reasons
 * @since 0.1.0
 */
export class SourceMismatch extends TaggedError("SourceMismatch") {
  override get message() {
    return "its source is not the one that the saved upload was started with. Start a new upload."
  }
}

/**
 * Reason: the upload host rejected the file.
 *
 * @category reasons
 * @since 0.1.0
 */
export class Rejected extends TaggedError("Rejected", () => ({
  /** The HTTP status of the response. */
  status: Schema.Int,
  /** The error code in the response, if any. */
  code: Schema.optionalKey(Schema.String),
  /** The description in the response, if any. */
  detail: Schema.optionalKey(Schema.String),
  /** The unchanged body of the response. */
  body: Schema.String
})) {
  override get message() {
    const answer = [this.status, this.code].filter((part) => part !== undefined).join(" ")
    const advice =
      this.status === 415
        ? "The host may not allow the extension of the file name for this type."
        : this.status >= 500
          ? "The host has an internal problem: retry later."
          : "See `body` for its response."
    return `the upload host rejected it (${answer}${this.detail ? `: ${this.detail}` : ""}). ${advice}`
  }
}

/**
 * Reason: the upload host reported success, but its response has no usable token.
 *
 * @category reasons
 * @since 0.1.0
 */
export class InvalidResponse extends TaggedError("InvalidResponse", () => ({
  /** The HTTP status of the response. */
  status: Schema.Int,
  /** The problem of the response. */
  problem: Schema.String,
  /** The unchanged body of the response. */
  body: Schema.String
})) {
  override get message() {
    return `the upload host reported success (${this.status}), but its response is invalid: ${this.problem}. See \`body\`.`
  }
}

/**
 * The reason of a failed upload.
 *
 * @category reasons
 * @since 0.1.0
 */
export type Reason = LimitExceeded | SourceFailed | SourceMismatch | ApiError.Transport | Rejected | InvalidResponse

/** Statuses below 500 that another attempt may avoid, after a status query or at another address. */
const retryableStatuses = [404, 408, 410, 416, 429]

/**
 * An upload failed; `reason` says why. A failed upload has no visible effect on the platform.
 *
 * **Example** (Handle one reason)
 *
 * ```ts
 * import { Uploads, UploadSource } from "@colloquy/core"
 * import { Effect } from "effect"
 *
 * const source = UploadSource.bytes(new Uint8Array(1000))
 * const attachment = Uploads.upload({ type: "image", source, name: "a.webp" }).pipe(
 *   Effect.catchReason("UploadFailed", "LimitExceeded", ({ limit }) => Effect.die(`Check the ${limit}`))
 * )
 * ```
 *
 * @category errors
 * @since 0.1.0
 */
export class UploadFailed extends TaggedError("UploadFailed", () => ({
  /** The kind of media that the file was uploaded as. */
  type: UploadType,
  /** The name of the file. */
  fileName: Schema.String,
  /** The reason of the failure. */
  reason: oneOf<Reason>(LimitExceeded, SourceFailed, SourceMismatch, ApiError.Transport, Rejected, InvalidResponse),
  /** The saved upload, for `Uploads.upload` to resume. Absent if there is nothing to resume. */
  saved: Schema.optionalKey(SavedUpload)
})) {
  /** Whether the same upload may succeed later. */
  get isRetryable(): boolean {
    const { reason } = this
    switch (reason._tag) {
      case "Transport":
        return reason.isRetryable
      case "Rejected":
        return reason.status >= 500 || retryableStatuses.includes(reason.status)
      default:
        return false
    }
  }

  get [PermanentError.TypeId](): boolean {
    return !this.isRetryable
  }

  override get message() {
    return `Failed to upload the ${this.type} ${JSON.stringify(this.fileName)}: ${this.reason.message}`
  }
}
