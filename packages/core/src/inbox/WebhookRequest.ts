/**
 * Requests and responses of the webhook, independent of the HTTP server. An adapter for a server converts to and from
 * these types; `Webhook.toWebHandler` and `NodeWebhook.toNodeHandler` are such adapters.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { TaggedError } from "../base/TaggedError.ts"

/**
 * A request without its body.
 *
 * @category models
 * @since 0.1.0
 */
export interface WebhookRequest {
  /** The method, in upper case. */
  readonly method: string
  /** The URL, or only its path and query. */
  readonly url: string
  /** Returns the value of a header. The name is in lower case. */
  readonly header: (name: string) => string | undefined
}

/**
 * A response. An empty `body` is sent without a content type.
 *
 * @category models
 * @since 0.1.0
 */
export interface WebhookResponse {
  /** The HTTP status. */
  readonly status: number
  /** The headers, with names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** The body, or an empty string. */
  readonly body: string
}

/**
 * The body of a request could not be read. The webhook answers such a request with the status of the reason:
 *
 * - `TooLarge` (413): the body has more than {@link maxBodySize} bytes.
 * - `Timeout` (408): the body did not arrive within `bodyTimeout`.
 * - `Aborted` (400): the connection was closed before the end of the body.
 * - `AlreadyRead` (500): other code, such as a body parser, has read the body before the webhook.
 *
 * @category errors
 * @since 0.1.0
 */
export class BodyError extends TaggedError("BodyError", () => ({
  /** Why the body could not be read. */
  reason: Schema.Literals(["TooLarge", "Timeout", "Aborted", "AlreadyRead"])
})) {
  override get message() {
    return `The body of the webhook request could not be read (${this.reason}).`
  }
}

/**
 * Maximum size of a body, in bytes: 1 MiB. An update has a few kilobytes.
 *
 * @category models
 * @since 0.1.0
 */
export const maxBodySize: number = 2 ** 20
