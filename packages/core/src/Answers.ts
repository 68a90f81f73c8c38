/**
 * Answer the press of a button.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as ApiError from "./ApiError.ts"
import * as Endpoint from "./Endpoint.ts"
import * as rules from "./internal/rules.ts"
import { done } from "./internal/success.ts"
import { optional } from "./internal/wire.ts"
import { NewMessageBody } from "./NewMessage.ts"

/**
 * What {@link send} takes: the `callback_id` of the update, and a new content for the message, a notification for the
 * person, or both.
 *
 * @category models
 * @since 0.1.0
 */
export interface SendRequest {
  readonly callback_id: string
  readonly message?: NewMessageBody | null | undefined
  readonly notification?: string | null | undefined
  readonly disable_link_preview?: boolean | undefined
}

/**
 * Answers the press of a button: `message` changes the message that holds the button, `notification` is shown once to
 * the person who pressed. The platform takes 2 answers a second in one chat, and 429 is waited out.
 *
 * Errors: `MethodNotAllowed` where it cannot be answered (any more), `Forbidden`, `NotFound`, `AttachmentNotReady`, and
 * `OperationRejected` with the platform's text.
 *
 * **Example**
 *
 * ```ts
 * import { Answers, type Update } from "@colloquy/core"
 *
 * const thank = (update: Update.Of<"message_callback">) =>
 *   Answers.send({
 *     callback_id: update.callback.callback_id,
 *     notification: "Thank you",
 *     message: { text: "You said yes", attachments: [] }
 *   })
 * ```
 *
 * API: POST /answers.
 *
 * @assumption A The field `notification` of POST /answers carries the one-time notification.
 * @category endpoints
 * @since 0.1.0
 */
export const send: Endpoint.Endpoint<
  SendRequest,
  void,
  | ApiError.MethodNotAllowed
  | ApiError.Forbidden
  | ApiError.NotFound
  | ApiError.AttachmentNotReady
  | ApiError.OperationRejected
> = Endpoint.make("Answers.send", () => ({
  method: "POST",
  path: "/answers",
  query: { callback_id: rules.notBlank, disable_link_preview: Schema.optional(Schema.Boolean) },
  body: { message: optional(NewMessageBody), notification: optional(Schema.String) },
  success: done,
  errors: [
    ApiError.MethodNotAllowed,
    ApiError.Forbidden,
    ApiError.NotFound,
    ApiError.AttachmentNotReady,
    ApiError.OperationRejected
  ]
}))
