/**
 * Read and change group chats, channels and dialogs.
 *
 * There is no list of a bot's chats: the platform no longer has `GET /chats`. A bot knows the chats that it remembers
 * from its updates; remembering them is the business of the chat store.
 *
 * @since 0.1.0
 */
import type * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as ApiError from "./ApiError.ts"
import { PhotoAttachmentRequestPayload } from "./AttachmentRequest.ts"
import { Chat } from "./Chat.ts"
import * as Endpoint from "./Endpoint.ts"
import * as rules from "./internal/client/rules.ts"
import { done, optional, optionalEnvelope } from "./internal/client/wire.ts"
import { Message } from "./Message.ts"
import * as Platform from "./Platform.ts"
import { ChatId, MessageId } from "./Recipient.ts"

/**
 * A chat, with its pinned message.
 *
 * Errors: `NotFound` for an unknown chat, `Forbidden` where the bot has no access.
 *
 * **Example**
 *
 * ```ts
 * import { Chat, Chats } from "@colloquy/core"
 *
 * const chat = Chats.get({ chat_id: Chat.ChatId.make(-70000000000001) })
 * ```
 *
 * API: GET /chats/{chatId}.
 *
 * @category endpoints
 * @since 0.1.0
 */
export const get: Endpoint.Endpoint<{ readonly chat_id: ChatId }, Chat, ApiError.Forbidden | ApiError.NotFound> =
  Endpoint.make("Chats.get", () => ({
    method: "GET",
    path: "/chats/{chatId}",
    params: { chat_id: ChatId },
    success: Chat,
    errors: [ApiError.Forbidden, ApiError.NotFound]
  }))

/**
 * What {@link edit} takes; what is left out stays.
 *
 * @category models
 * @since 0.1.0
 */
export interface EditRequest {
  readonly chat_id: ChatId
  readonly icon?: PhotoAttachmentRequestPayload | null | undefined
  readonly title?: string | null | undefined
  readonly description?: string | null | undefined
  readonly pin?: MessageId | null | undefined
  readonly notify?: boolean | null | undefined
}

/**
 * Changes a group chat or a channel whose administrator the bot is; gives it as it is then.
 *
 * `title` has 1 to 200 characters, `description` at most 16000 (an empty one deletes it), `pin` pins a message
 * (removing one is {@link unpin}); `notify: false` spares the members a system notification.
 *
 * Errors: `Forbidden` where the bot is no administrator, `NotFound` for an unknown chat, `AttachmentNotReady` where the
 * icon is still being processed.
 *
 * **Example**
 *
 * ```ts
 * import { Chat, Chats } from "@colloquy/core"
 *
 * const renamed = Chats.edit({ chat_id: Chat.ChatId.make(-70000000000001), title: "Reading club", description: "" })
 * ```
 *
 * API: PATCH /chats/{chatId}.
 *
 * @category endpoints
 * @since 0.1.0
 */
export const edit: Endpoint.Endpoint<
  EditRequest,
  Chat,
  ApiError.Forbidden | ApiError.NotFound | ApiError.AttachmentNotReady
> = Endpoint.make("Chats.edit", () => ({
  method: "PATCH",
  path: "/chats/{chatId}",
  params: { chat_id: ChatId },
  body: {
    icon: optional(PhotoAttachmentRequestPayload),
    title: optional(rules.text(1, Platform.maxTitleLength)),
    description: optional(rules.short(Platform.maxDescriptionLength)),
    pin: optional(MessageId),
    notify: optional(Schema.Boolean)
  },
  success: Chat,
  errors: [ApiError.Forbidden, ApiError.NotFound, ApiError.AttachmentNotReady]
}))

/**
 * What the bot seems to be doing.
 *
 * @category models
 * @since 0.1.0
 */
export const SenderAction = Schema.Literals(Platform.senderActions)

/**
 * @category models
 * @since 0.1.0
 */
export type SenderAction = typeof SenderAction.Type

/**
 * Shows the people in a chat what the bot is doing (`typing_on`, `sending_photo`, `sending_video`, `sending_audio`,
 * `sending_file`), or marks the chat as read (`mark_seen`).
 *
 * Errors: `Forbidden`, `NotFound`, and `OperationRejected` with the platform's text.
 *
 * **Example**
 *
 * ```ts
 * import { Chat, Chats } from "@colloquy/core"
 *
 * const typing = Chats.sendAction({ chat_id: Chat.ChatId.make(4242), action: "typing_on" })
 * ```
 *
 * API: POST /chats/{chatId}/actions.
 *
 * @assumption chatActions
 * @category endpoints
 * @since 0.1.0
 */
export const sendAction: Endpoint.Endpoint<
  { readonly chat_id: ChatId; readonly action: SenderAction },
  void,
  ApiError.Forbidden | ApiError.NotFound | ApiError.OperationRejected
> = Endpoint.make("Chats.sendAction", () => ({
  method: "POST",
  path: "/chats/{chatId}/actions",
  params: { chat_id: ChatId },
  body: { action: SenderAction },
  success: done,
  errors: [ApiError.Forbidden, ApiError.NotFound, ApiError.OperationRejected]
}))

/**
 * The pinned message of a chat, if there is one.
 *
 * Errors: `Forbidden` where the bot has no access, `NotFound` for an unknown chat.
 *
 * **Example**
 *
 * ```ts
 * import { Chat, Chats } from "@colloquy/core"
 * import { Effect, Option } from "effect"
 *
 * const text = Chats.getPin({ chat_id: Chat.ChatId.make(-70000000000001) }).pipe(
 *   Effect.map(Option.match({ onNone: () => "nothing", onSome: (message) => message.body?.text }))
 * )
 * ```
 *
 * API: GET /chats/{chatId}/pin.
 *
 * @assumption getPin
 * @category endpoints
 * @since 0.1.0
 */
export const getPin: Endpoint.Endpoint<
  { readonly chat_id: ChatId },
  Option.Option<Message>,
  ApiError.Forbidden | ApiError.NotFound
> = Endpoint.make("Chats.getPin", () => ({
  method: "GET",
  path: "/chats/{chatId}/pin",
  params: { chat_id: ChatId },
  success: optionalEnvelope("message", Message),
  errors: [ApiError.Forbidden, ApiError.NotFound]
}))

/**
 * Pins a message; `notify: false` spares the members a system notification.
 *
 * Errors: `Forbidden` where the bot may not pin, `NotFound`, and `OperationRejected` with the platform's text.
 *
 * **Example**
 *
 * ```ts
 * import { Chat, Chats, Message } from "@colloquy/core"
 *
 * const pinned = Chats.pin({
 *   chat_id: Chat.ChatId.make(-70000000000001),
 *   message_id: Message.MessageId.make("mid.1"),
 *   notify: false
 * })
 * ```
 *
 * API: PUT /chats/{chatId}/pin.
 *
 * @assumption pin
 * @category endpoints
 * @since 0.1.0
 */
export const pin: Endpoint.Endpoint<
  { readonly chat_id: ChatId; readonly message_id: MessageId; readonly notify?: boolean | undefined },
  void,
  ApiError.Forbidden | ApiError.NotFound | ApiError.OperationRejected
> = Endpoint.make("Chats.pin", () => ({
  method: "PUT",
  path: "/chats/{chatId}/pin",
  params: { chat_id: ChatId },
  body: { message_id: MessageId, notify: Schema.optional(Schema.Boolean) },
  success: done,
  errors: [ApiError.Forbidden, ApiError.NotFound, ApiError.OperationRejected]
}))

/**
 * Removes the pinned message from its place; the message itself stays.
 *
 * Errors: `Forbidden` where the bot may not, `NotFound`, and `OperationRejected` with the platform's text.
 *
 * **Example**
 *
 * ```ts
 * import { Chat, Chats } from "@colloquy/core"
 *
 * const unpinned = Chats.unpin({ chat_id: Chat.ChatId.make(-70000000000001) })
 * ```
 *
 * API: DELETE /chats/{chatId}/pin.
 *
 * @assumption unpin
 * @category endpoints
 * @since 0.1.0
 */
export const unpin: Endpoint.Endpoint<
  { readonly chat_id: ChatId },
  void,
  ApiError.Forbidden | ApiError.NotFound | ApiError.OperationRejected
> = Endpoint.make("Chats.unpin", () => ({
  method: "DELETE",
  path: "/chats/{chatId}/pin",
  params: { chat_id: ChatId },
  success: done,
  errors: [ApiError.Forbidden, ApiError.NotFound, ApiError.OperationRejected]
}))
