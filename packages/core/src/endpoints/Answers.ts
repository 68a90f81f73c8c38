/**
 * Answers callbacks. The platform sends a callback when a user presses a button.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as ApiError from "../client/ApiError.ts"
import type { BotApi } from "../client/BotApi.ts"
import * as Endpoint from "../client/Endpoint.ts"
import * as rules from "../base/internal/rules.ts"
import { done, optional } from "../base/internal/wire.ts"
import { NewMessageBody } from "../model/NewMessage.ts"
import * as RateLimiter from "../client/RateLimiter.ts"
import * as Update from "../model/Update.ts"

/**
 * The request of {@link send}: a new content of the message, a notification for the user, or both.
 *
 * @category models
 * @since 0.1.0
 */
export interface SendRequest {
  /** The `callback_id` of the update. */
  readonly callback_id: string
  /** The new content of the message that has the button. Default: the message does not change. */
  readonly message?: NewMessageBody | null | undefined
  /** A text that is shown once to the user. Default: none. */
  readonly notification?: string | null | undefined
  /** Whether links of the new content are shown without a preview. Default: `false`. */
  readonly disable_link_preview?: boolean | undefined
}

/**
 * Answers a callback: `message` changes the message that has the button, and `notification` is shown once to the user.
 *
 * Rate limit: 2 answers per second in one chat. The rate limiter delays the call. A request does not name its chat: the
 * answer counts in the chat whose update is being handled. Outside of a handler, use {@link answer} or
 * `RateLimiter.withChat`, because answers whose chat is unknown count together, as if they were in one chat.
 *
 * Fails with `MethodNotAllowed` if the callback cannot be answered any more, with `Forbidden` or `NotFound` if the bot
 * has no access to the chat or the message, with `AttachmentNotReady` if a file is still being processed after all
 * retries, and with `OperationRejected` if the platform rejects the answer.
 *
 * A refusal by the platform is a success if an earlier attempt of the handler may have given the answer: after a retry
 * of the handler by `Bot.run`, after the death of a process, or for a replayed dead letter.
 *
 * **Example**
 *
 * ```ts
 * import { Answers, Bot, type Update } from "@colloquy/core"
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
 * @assumption emptyAnswer
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
  query: { callback_id: rules.notBlank, disable_link_preview: Schema.optional(rules.flag(false)) },
  body: { message: optional(NewMessageBody), notification: optional(Schema.String) },
  success: done,
  errors: [
    ApiError.MethodNotAllowed,
    ApiError.Forbidden,
    ApiError.NotFound,
    ApiError.AttachmentNotReady,
    ApiError.OperationRejected
  ],
  limit: () => ({ scope: "answers", priority: "answer" }),
  repeated: { key: ({ callback_id }) => callback_id, errors: [ApiError.MethodNotAllowed] }
}))

/**
 * Answers the callback of an update: with a notification, or with the fields of {@link SendRequest}.
 *
 * Rate limit: 2 answers per second in one chat. The answer counts in the chat of the update.
 *
 * Fails as {@link send} does.
 *
 * **Example**
 *
 * ```ts
 * import { Answers, Handler } from "@colloquy/core"
 *
 * const thank = Handler.on("message_callback", (update) => Answers.answer(update, "Thank you"))
 *
 * const close = Handler.on("message_callback", (update) =>
 *   Answers.answer(update, { message: { text: "Closed", attachments: [] }, notification: "Thank you" })
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
): Effect.Effect<void, Endpoint.Errors<typeof send>, BotApi> => {
  const sending = send({
    ...(typeof content === "string" ? { notification: content } : content),
    callback_id: update.callback.callback_id
  })
  const chat = Update.chatOf(update)
  return chat === undefined ? sending : RateLimiter.withChat(sending, chat)
}
