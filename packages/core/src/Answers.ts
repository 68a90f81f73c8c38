/**
 * Answer the press of a button.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as ApiError from "./ApiError.ts"
import type { BotApi } from "./BotApi.ts"
import * as Endpoint from "./Endpoint.ts"
import * as rules from "./internal/client/rules.ts"
import { done, optional } from "./internal/client/wire.ts"
import { NewMessageBody } from "./NewMessage.ts"
import type * as Update from "./Update.ts"

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
 * @assumption answerNotification
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
  ],
  limit: () => ({ scope: "answers", priority: "answer" })
}))

/**
 * {@link send} to the press of a button that an update brings: a notification, or a new content for the message that
 * holds the button, or both.
 *
 * **Example**
 *
 * ```ts
 * import { Answers, Handler } from "@colloquy/core"
 *
 * const thank = Handler.on("message_callback", (update) => Answers.answer(update, "Thank you"))
 *
 * const settle = Handler.on("message_callback", (update) =>
 *   Answers.answer(update, { message: { text: "Settled", attachments: [] }, notification: "As you like" })
 * )
 * ```
 *
 * API: POST /answers.
 *
 * @category replies
 * @since 0.1.0
 */
export const answer = (
  update: Update.Of<"message_callback">,
  content: string | Omit<SendRequest, "callback_id">
): Effect.Effect<void, Endpoint.Errors<typeof send>, BotApi> =>
  send({
    ...(typeof content === "string" ? { notification: content } : content),
    callback_id: update.callback.callback_id
  })
