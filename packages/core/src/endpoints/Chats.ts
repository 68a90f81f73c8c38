/**
 * Reads and edits group chats, channels and dialogs.
 *
 * The API has no list of the chats of a bot. `ChatStore` collects the chats from the updates.
 *
 * @since 0.1.0
 */
import type * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as ApiError from "../client/ApiError.ts"
import { PhotoAttachmentRequestPayload } from "../model/AttachmentRequest.ts"
import { Chat } from "../model/Chat.ts"
import * as Endpoint from "../client/Endpoint.ts"
import * as rules from "../base/internal/rules.ts"
import { done, optional, optionalEnvelope } from "../base/internal/wire.ts"
import { Message } from "../model/Message.ts"
import * as Platform from "../base/Platform.ts"
import { ChatId, MessageId } from "../model/Recipient.ts"

/**
 * Returns a chat with its pinned message.
 *
 * Fails with `NotFound` if the chat does not exist, and with `Forbidden` if the bot has no access to the chat.
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
 * The request of {@link edit}. Fields that are missing or null do not change.
 *
 * @category models
 * @since 0.1.0
 */
export interface EditRequest {
  /** The id of the chat. */
  readonly chat_id: ChatId
  /** The avatar of the chat. */
  readonly icon?: PhotoAttachmentRequestPayload | null | undefined
  /** The title, 1 to 200 characters. */
  readonly title?: string | null | undefined
  /** The description, up to 16000 characters. An empty string deletes the description. */
  readonly description?: string | null | undefined
  /** The id of a message to pin. {@link unpin} removes the pin. */
  readonly pin?: MessageId | null | undefined
  /** Whether members receive a notification. Default: `true`. */
  readonly notify?: boolean | null | undefined
}

/**
 * Edits a group chat or a channel. Returns the edited chat. The bot must be an administrator of the chat.
 *
 * Fails with `Forbidden` if the bot is not an administrator, with `NotFound` if the chat does not exist, with
 * `AttachmentNotReady` if the icon is still being processed after all retries, and with `OperationRejected` if the platform
 * rejects the call. In one report, the platform rejected a `description` alone, and did not change it together with other
 * fields: compare the `description` of the result.
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
 * @assumption descriptionEdits
 * @category endpoints
 * @since 0.1.0
 */
export const edit: Endpoint.Endpoint<
  EditRequest,
  Chat,
  ApiError.Forbidden | ApiError.NotFound | ApiError.AttachmentNotReady | ApiError.OperationRejected
> = Endpoint.make("Chats.edit", () => ({
  method: "PATCH",
  path: "/chats/{chatId}",
  params: { chat_id: ChatId },
  body: {
    icon: optional(PhotoAttachmentRequestPayload),
    title: optional(rules.text(1, Platform.maxTitleLength)),
    description: optional(rules.text(0, Platform.maxDescriptionLength)),
    pin: optional(MessageId),
    notify: optional(rules.flag(true))
  },
  success: Chat,
  errors: [ApiError.Forbidden, ApiError.NotFound, ApiError.AttachmentNotReady, ApiError.OperationRejected]
}))

/**
 * An action that the bot shows in a chat.
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
 * Shows an action of the bot in a chat (`typing_on`, `sending_photo`, `sending_video`, `sending_audio`,
 * `sending_file`), or marks the chat as read (`mark_seen`).
 *
 * Fails with `Forbidden` if the bot may not write to the chat, with `NotFound` if the chat does not exist, and with
 * `OperationRejected` if the platform rejects the action.
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
  // A repeated action shows the same indicator.
  idempotent: true,
  success: done,
  errors: [ApiError.Forbidden, ApiError.NotFound, ApiError.OperationRejected]
}))

/**
 * Returns the pinned message of a chat, or `None` if there is none.
 *
 * Fails with `Forbidden` if the bot has no access to the chat, and with `NotFound` if the chat does not exist.
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
 * Pins a message. `notify` says whether members receive a notification. Default: `true`. The bot must be an
 * administrator with the right `pin_message`.
 *
 * Fails with `Forbidden` if the bot has no right to pin, with `NotFound` if the chat or the message does not exist, and
 * with `OperationRejected` if the platform rejects the pin.
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
  { readonly chat_id: ChatId; readonly message_id: MessageId; readonly notify?: boolean | null | undefined },
  void,
  ApiError.Forbidden | ApiError.NotFound | ApiError.OperationRejected
> = Endpoint.make("Chats.pin", () => ({
  method: "PUT",
  path: "/chats/{chatId}/pin",
  params: { chat_id: ChatId },
  body: { message_id: MessageId, notify: optional(rules.flag(true)) },
  success: done,
  errors: [ApiError.Forbidden, ApiError.NotFound, ApiError.OperationRejected]
}))

/**
 * Unpins the pinned message of a chat. The message itself is not removed. The bot must be an administrator with the
 * right `pin_message`.
 *
 * Fails with `Forbidden` if the bot has no right to unpin, with `NotFound` if the chat does not exist, and with
 * `OperationRejected` if the platform rejects the call.
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
