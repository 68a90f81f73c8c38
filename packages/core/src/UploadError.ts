/**
 * Everything that can go wrong in an upload, apart from the call that asks for an address.
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"
import type * as ApiError from "./ApiError.ts"
import type { SavedUpload, UploadType } from "./Uploads.ts"

/**
 * Reason: the file is beyond a limit of its type. Nothing was sent, unless it is a stream that did not tell its size.
 *
 * @category reasons
 * @since 0.1.0
 */
export class LimitExceeded extends Data.TaggedError("LimitExceeded")<{
  readonly limit: "size" | "extension" | "dimensions" | "duration"
  readonly allowed: string
  readonly found: string
}> {
  override get message() {
    return `its ${this.limit} is ${this.found}, and ${this.allowed} is allowed. Make the file fit, or upload it as another type.`
  }
}

/**
 * Reason: the source could not be opened or read, or it did not have the size that it told.
 *
 * @category reasons
 * @since 0.1.0
 */
export class SourceFailed extends Data.TaggedError("SourceFailed")<{
  readonly detail: string
  readonly cause?: unknown
}> {
  override get message() {
    return `its source cannot be read: ${this.detail}.`
  }
}

/**
 * Reason: the source is not the one that the saved upload was begun with.
 *
 * @category reasons
 * @since 0.1.0
 */
export class SourceMismatch extends Data.TaggedError("SourceMismatch")<{}> {
  override get message() {
    return "its source is another one than the upload was begun with. Upload it from the beginning."
  }
}

/**
 * Reason: the upload host said no. `code` and `detail` are its own words, `body` the answer as it came.
 *
 * @category reasons
 * @since 0.1.0
 */
export class Rejected extends Data.TaggedError("Rejected")<{
  readonly status: number
  readonly code?: string
  readonly detail?: string
  readonly body: string
}> {
  override get message() {
    const said = [this.status, this.code].filter((part) => part !== undefined).join(" ")
    const advice =
      this.status === 415
        ? "The extension of its name may not be allowed for this type."
        : this.status >= 500
          ? "The upload host has a problem: try again later."
          : "See the body for what it said."
    return `the upload host refused (${said}${this.detail ? `: ${this.detail}` : ""}). ${advice}`
  }
}

/**
 * Reason: the upload host says success, but its answer has no token. The body is kept as it came.
 *
 * @category reasons
 * @since 0.1.0
 */
export class InvalidResponse extends Data.TaggedError("InvalidResponse")<{
  readonly status: number
  readonly problem: string
  readonly body: string
}> {
  override get message() {
    return `the answer of the upload host cannot be read (${this.status}): ${this.problem}. \`body\` holds it, for a report.`
  }
}

/**
 * Why an upload failed.
 *
 * @category reasons
 * @since 0.1.0
 */
export type Reason = LimitExceeded | SourceFailed | SourceMismatch | ApiError.Transport | Rejected | InvalidResponse

/** Refusals that another attempt gets round, at another place or at another address. */
const passing = [404, 408, 410, 416, 429]

/**
 * An upload failed: `reason` says why. Where it had come to a point from which it can go on, `saved` is what
 * `Uploads.upload` takes for that.
 *
 * **Example**
 *
 * ```ts
 * import { Uploads, UploadSource } from "@colloquy/core"
 * import { Effect } from "effect"
 *
 * const source = UploadSource.bytes(new Uint8Array(1000))
 * const attachment = Uploads.upload({ type: "image", source, name: "a.webp" }).pipe(
 *   Effect.catchReason("UploadFailed", "LimitExceeded", ({ limit }) => Effect.die(`Mind the ${limit}`))
 * )
 * ```
 *
 * @category errors
 * @since 0.1.0
 */
export class UploadFailed extends Data.TaggedError("UploadFailed")<{
  readonly type: UploadType
  readonly name: string
  readonly reason: Reason
  readonly saved?: SavedUpload
}> {
  /** Whether the same upload may succeed later. Nothing stands anywhere before it has succeeded. */
  get isRetryable(): boolean {
    const { reason } = this
    switch (reason._tag) {
      case "Transport":
        return reason.isRetryable
      case "Rejected":
        return reason.status >= 500 || passing.includes(reason.status)
      default:
        return false
    }
  }

  override get message() {
    return `${this.type} ${JSON.stringify(this.name)} was not uploaded: ${this.reason.message}`
  }
}
