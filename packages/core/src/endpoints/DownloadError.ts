/**
 * The error of a download and its reasons.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as ApiError from "../client/ApiError.ts"
import * as PermanentError from "../base/PermanentError.ts"
import { oneOf, TaggedError } from "../base/TaggedError.ts"

/**
 * Reason: the attachment has no address, and the platform returned none.
 *
 * @category reasons
 * @since 0.1.0
 */
export class NoAddress extends TaggedError("NoAddress") {
  override get message() {
    return "the platform has no address of the file. Ask the person to send the file again."
  }
}

/**
 * Reason: the address is not one to which the bot may send a request. No request was sent.
 *
 * - `Malformed`: not a URL.
 * - `Insecure`: not `https://`.
 * - `Credentials`: the URL has a user name or a password.
 * - `Private`: the host is, or has, an address that is not on the public internet.
 *
 * @category reasons
 * @since 0.1.0
 */
export class AddressRefused extends TaggedError("AddressRefused", () => ({
  /** The host of the address; empty if the address is not a URL. */
  host: Schema.String,
  /** The problem of the address. */
  problem: Schema.Literals(["Malformed", "Insecure", "Credentials", "Private"])
})) {
  override get message() {
    const problems = {
      Malformed: "its address is not a URL",
      Insecure: `the address on ${this.host} does not begin with https://`,
      Credentials: `the address on ${this.host} has a user name or a password`,
      Private: `the host ${this.host} is not on the public internet`
    }
    const advice =
      this.problem === "Private" || this.problem === "Insecure"
        ? ` If ${this.host} is your emulator or your server, name the host in the setting BOT_PRIVATE_HOSTS or in Attachments.PrivateHosts.`
        : ""
    return `${problems[this.problem]}, so no request was sent.${advice}`
  }
}

/**
 * Reason: the host redirected the request to another host, or too often. No request was sent to the other host.
 *
 * @category reasons
 * @since 0.1.0
 */
export class Redirected extends TaggedError("Redirected", () => ({
  /** The host that redirected the request. */
  host: Schema.String,
  /** The host in the redirect. */
  to: Schema.String
})) {
  override get message() {
    return `the host ${this.host} redirects to ${this.to}, and a download stays on its host. Download the address with your own HTTP client if you trust ${this.to}.`
  }
}

/**
 * Reason: the address has expired, and no new address was available.
 *
 * @category reasons
 * @since 0.1.0
 */
export class Expired extends TaggedError("Expired", () => ({
  /** The HTTP status of the response. */
  status: Schema.Int,
  /** Whether the platform was asked for a new address. */
  isRenewed: Schema.Boolean
})) {
  override get message() {
    return `its address no longer works (${this.status}). ${
      this.isRenewed
        ? "A new address did not work either: the message may be deleted. Ask the person to send the file again."
        : "Pass the option `message_id`, with which the platform is asked for a new address."
    }`
  }
}

/**
 * Reason: the host responded with a status that is no success.
 *
 * @category reasons
 * @since 0.1.0
 */
export class Rejected extends TaggedError("Rejected", () => ({
  /** The host of the address. */
  host: Schema.String,
  /** The HTTP status of the response. */
  status: Schema.Int
})) {
  override get message() {
    const advice = this.status >= 500 ? "The host has a problem: try again later." : "Check the address."
    return `the host ${this.host} responded with status ${this.status}. ${advice}`
  }
}

/**
 * Reason: the file is larger than `maxSize`. The rest of the file was not read.
 *
 * @category reasons
 * @since 0.1.0
 */
export class TooLarge extends TaggedError("TooLarge", () => ({
  /** The maximum size, in bytes. */
  maxSize: Schema.Finite,
  /** The size of the file in bytes, if the host or the platform stated the size. */
  size: Schema.optionalKey(Schema.Finite)
})) {
  override get message() {
    const found = this.size === undefined ? "more" : `${this.size} bytes`
    return `it has ${found}, and at most ${this.maxSize} bytes are read. Increase the option \`maxSize\`, or ask for a smaller file.`
  }
}

/**
 * Reason: the file has not as many bytes as the host stated.
 *
 * @category reasons
 * @since 0.1.0
 */
export class WrongLength extends TaggedError("WrongLength", () => ({
  /** The received bytes. */
  received: Schema.Finite,
  /** The stated size, in bytes. */
  size: Schema.Finite
})) {
  override get message() {
    return `${this.received} bytes of ${this.size} were received. Try again later.`
  }
}

/**
 * Reason: the file changed while the file was downloaded in several parts, or the host did not continue where the last part
 * ended.
 *
 * @category reasons
 * @since 0.1.0
 */
export class Changed extends TaggedError("Changed") {
  override get message() {
    return "the host did not continue the file where the connection had ended: the file may have changed. Download the file from its beginning."
  }
}

/**
 * The reason of a failed download.
 *
 * @category reasons
 * @since 0.1.0
 */
export type Reason =
  | NoAddress
  | AddressRefused
  | Redirected
  | Expired
  | Rejected
  | TooLarge
  | WrongLength
  | Changed
  | ApiError.Transport

/**
 * A download failed; `reason` says why.
 *
 * **Example** (Answer to a file that is too large)
 *
 * ```ts
 * import { Attachments, Handler, Messages, Update } from "@colloquy/core"
 * import { Effect, Stream } from "effect"
 *
 * const measure = Handler.on("message_created", (update) => {
 *   const file = update.message?.body?.attachments?.find((attachment) => attachment.type === "file")
 *   if (file === undefined) return undefined
 *   return Attachments.download(file).pipe(
 *     Stream.runFold(() => 0, (size, bytes) => size + bytes.length),
 *     Effect.flatMap((size) => Messages.reply(update, `${size} bytes`)),
 *     Effect.catchReason("DownloadFailed", "TooLarge", ({ maxSize }) =>
 *       Messages.reply(update, `Send at most ${maxSize} bytes`)
 *     )
 *   )
 * })
 * ```
 *
 * @category errors
 * @since 0.1.0
 */
export class DownloadFailed extends TaggedError("DownloadFailed", () => ({
  /** The type of the attachment. */
  type: Schema.String,
  /** The bytes that were received before the failure. */
  received: Schema.Finite,
  /** The reason of the failure. */
  reason: oneOf<Reason>(
    NoAddress,
    AddressRefused,
    Redirected,
    Expired,
    Rejected,
    TooLarge,
    WrongLength,
    Changed,
    ApiError.Transport
  )
})) {
  /** Whether the same download may succeed later. */
  get isRetryable(): boolean {
    const { reason } = this
    switch (reason._tag) {
      case "Transport":
        return reason.isRetryable
      case "Rejected":
        return reason.status >= 500 || reason.status === 408 || reason.status === 429
      default:
        return reason._tag === "WrongLength" || reason._tag === "Changed"
    }
  }

  get [PermanentError.TypeId](): boolean {
    return !this.isRetryable
  }

  override get message() {
    return `Failed to download the ${this.type}: ${this.reason.message}`
  }
}
