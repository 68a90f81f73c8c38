/**
 * The members of a chat and its administrators.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Stream from "effect/Stream"
import * as ApiError from "./ApiError.ts"
import type { BotApi } from "./BotApi.ts"
import * as Endpoint from "./Endpoint.ts"
import * as page from "./internal/client/pagination.ts"
import * as rules from "./internal/client/rules.ts"
import { done, Int64, nullish, optional } from "./internal/client/wire.ts"
import { ChatAdmin, ChatMember } from "./Member.ts"
import * as Platform from "./Platform.ts"
import { ChatId } from "./Recipient.ts"
import { UserId } from "./User.ts"

/**
 * A page of members; `marker` leads to the next one.
 *
 * @assumption listMembers
 * @category models
 * @since 0.1.0
 */
export const MembersPage = Schema.Struct({ members: Schema.Array(ChatMember), marker: nullish(Int64) })

/**
 * @category models
 * @since 0.1.0
 */
export interface MembersPage extends Schema.Schema.Type<typeof MembersPage> {}

/**
 * What {@link list} takes. With `user_ids` just these members are given, and the rest is ignored.
 *
 * @category models
 * @since 0.1.0
 */
export interface ListRequest {
  readonly chat_id: ChatId
  readonly user_ids?: ReadonlyArray<UserId> | undefined
  readonly marker?: bigint | null | undefined
  readonly count?: number | undefined
}

/**
 * A page of the members of a chat: `count` 1 to 100, 20 unless told. {@link stream} gives them all.
 *
 * Errors: `Forbidden` where the bot may not see them, `NotFound` for an unknown chat.
 *
 * **Example**
 *
 * ```ts
 * import { Chat, Members } from "@colloquy/core"
 *
 * const first = Members.list({ chat_id: Chat.ChatId.make(-70000000000001), count: 100 })
 * ```
 *
 * API: GET /chats/{chatId}/members.
 *
 * @category endpoints
 * @since 0.1.0
 */
export const list: Endpoint.Endpoint<ListRequest, MembersPage, ApiError.Forbidden | ApiError.NotFound> = Endpoint.make(
  "Members.list",
  () => ({
    method: "GET",
    path: "/chats/{chatId}/members",
    params: { chat_id: ChatId },
    query: {
      user_ids: Schema.optional(rules.list(UserId, 1)),
      marker: optional(Int64),
      count: Schema.optional(rules.between(1, Platform.membersPage.max))
    },
    success: MembersPage,
    errors: [ApiError.Forbidden, ApiError.NotFound]
  })
)

/**
 * All members of a chat, fetched page by page as they are pulled.
 *
 * **Example**
 *
 * ```ts
 * import { Chat, Members } from "@colloquy/core"
 * import { Stream } from "effect"
 *
 * const names = Members.stream({ chat_id: Chat.ChatId.make(-70000000000001) }).pipe(
 *   Stream.map((member) => member.first_name)
 * )
 * ```
 *
 * API: GET /chats/{chatId}/members.
 *
 * @category streams
 * @since 0.1.0
 */
export const stream = (request: {
  readonly chat_id: ChatId
  readonly count?: number | undefined
}): Stream.Stream<ChatMember, Endpoint.Errors<typeof list>, BotApi> =>
  page.byMarker((marker) =>
    Effect.map(list({ count: Platform.membersPage.max, ...request, marker }), ({ members, marker }) => ({
      items: members,
      marker
    }))
  )

/**
 * Adds users to a group chat, at most 100 at a time. The bot must be an administrator with the right
 * `add_remove_members`. Nobody can be added to a channel.
 *
 * Errors: `AddParticipantFailed` with the users that could not be added and why (the others were added), `Forbidden`
 * where the right is missing, `NotFound` for an unknown chat, `OperationRejected` with the platform's text.
 *
 * **Example**
 *
 * ```ts
 * import { Chat, Members, User } from "@colloquy/core"
 * import { Effect } from "effect"
 *
 * const added = Members.add({ chat_id: Chat.ChatId.make(-70000000000001), user_ids: [User.UserId.make(7)] }).pipe(
 *   Effect.catchTag("AddParticipantFailed", (error) =>
 *     Effect.log("invite these by a link", error.failedFor("add.participant.privacy"))
 *   )
 * )
 * ```
 *
 * API: POST /chats/{chatId}/members.
 *
 * @assumption addMembers
 * @category endpoints
 * @since 0.1.0
 */
export const add: Endpoint.Endpoint<
  { readonly chat_id: ChatId; readonly user_ids: ReadonlyArray<UserId> },
  void,
  ApiError.AddParticipantFailed | ApiError.Forbidden | ApiError.NotFound | ApiError.OperationRejected
> = Endpoint.make("Members.add", () => ({
  method: "POST",
  path: "/chats/{chatId}/members",
  params: { chat_id: ChatId },
  body: { user_ids: rules.list(UserId, 1, Platform.maxAddedMembers) },
  success: done,
  errors: [ApiError.AddParticipantFailed, ApiError.Forbidden, ApiError.NotFound, ApiError.OperationRejected]
}))

/**
 * Removes a member from a chat; with `block` for good. The bot must be an administrator with the right
 * `add_remove_members`.
 *
 * Errors: `Forbidden`, `NotFound`, and `OperationRejected` with the platform's text.
 *
 * **Example**
 *
 * ```ts
 * import { Chat, Members, User } from "@colloquy/core"
 *
 * const removed = Members.remove({ chat_id: Chat.ChatId.make(-70000000000001), user_id: User.UserId.make(7) })
 * ```
 *
 * API: DELETE /chats/{chatId}/members.
 *
 * @assumption removeMember
 * @category endpoints
 * @since 0.1.0
 */
export const remove: Endpoint.Endpoint<
  { readonly chat_id: ChatId; readonly user_id: UserId; readonly block?: boolean | undefined },
  void,
  ApiError.Forbidden | ApiError.NotFound | ApiError.OperationRejected
> = Endpoint.make("Members.remove", () => ({
  method: "DELETE",
  path: "/chats/{chatId}/members",
  params: { chat_id: ChatId },
  query: { user_id: UserId, block: Schema.optional(Schema.Boolean) },
  success: done,
  errors: [ApiError.Forbidden, ApiError.NotFound, ApiError.OperationRejected]
}))

/**
 * The bot itself as a member of a chat, with its rights.
 *
 * Errors: `Forbidden`, `NotFound`.
 *
 * **Example**
 *
 * ```ts
 * import { Chat, Members } from "@colloquy/core"
 * import { Effect } from "effect"
 *
 * const mayPin = Members.getMe({ chat_id: Chat.ChatId.make(-70000000000001) }).pipe(
 *   Effect.map((me) => me.permissions?.includes("pin_message") === true)
 * )
 * ```
 *
 * API: Endpoints, Other operations (GET /chats/{chatId}/members/me).
 *
 * @assumption getMe
 * @category endpoints
 * @since 0.1.0
 */
export const getMe: Endpoint.Endpoint<
  { readonly chat_id: ChatId },
  ChatMember,
  ApiError.Forbidden | ApiError.NotFound
> = Endpoint.make("Members.getMe", () => ({
  method: "GET",
  path: "/chats/{chatId}/members/me",
  params: { chat_id: ChatId },
  success: ChatMember,
  errors: [ApiError.Forbidden, ApiError.NotFound]
}))

/**
 * The bot leaves a chat.
 *
 * Errors: `Forbidden`, `NotFound`, and `OperationRejected` with the platform's text.
 *
 * **Example**
 *
 * ```ts
 * import { Chat, Members } from "@colloquy/core"
 *
 * const left = Members.leave({ chat_id: Chat.ChatId.make(-70000000000001) })
 * ```
 *
 * API: Endpoints, Other operations (DELETE /chats/{chatId}/members/me).
 *
 * @assumption leaveChat
 * @category endpoints
 * @since 0.1.0
 */
export const leave: Endpoint.Endpoint<
  { readonly chat_id: ChatId },
  void,
  ApiError.Forbidden | ApiError.NotFound | ApiError.OperationRejected
> = Endpoint.make("Members.leave", () => ({
  method: "DELETE",
  path: "/chats/{chatId}/members/me",
  params: { chat_id: ChatId },
  success: done,
  errors: [ApiError.Forbidden, ApiError.NotFound, ApiError.OperationRejected]
}))

/**
 * The administrators of a chat. The bot must be one of them.
 *
 * Errors: `Forbidden`, `NotFound`.
 *
 * **Example**
 *
 * ```ts
 * import { Chat, Members } from "@colloquy/core"
 *
 * const admins = Members.listAdmins({ chat_id: Chat.ChatId.make(-70000000000001) })
 * ```
 *
 * API: GET /chats/{chatId}/members/admins.
 *
 * @assumption listAdmins
 * @category endpoints
 * @since 0.1.0
 */
export const listAdmins: Endpoint.Endpoint<
  { readonly chat_id: ChatId },
  MembersPage,
  ApiError.Forbidden | ApiError.NotFound
> = Endpoint.make("Members.listAdmins", () => ({
  method: "GET",
  path: "/chats/{chatId}/members/admins",
  params: { chat_id: ChatId },
  success: MembersPage,
  errors: [ApiError.Forbidden, ApiError.NotFound]
}))

/**
 * Appoints administrators with these rights in place of those they had, at most 50.
 *
 * Errors: `Forbidden` where the bot may not appoint, `NotFound`, and `OperationRejected` with the platform's text.
 *
 * **Example**
 *
 * ```ts
 * import { Chat, Members, User } from "@colloquy/core"
 *
 * const appointed = Members.setAdmins({
 *   chat_id: Chat.ChatId.make(-70000000000001),
 *   admins: [{ user_id: User.UserId.make(7), permissions: ["read_all_messages", "write"], alias: "Editor" }]
 * })
 * ```
 *
 * API: POST /chats/{chatId}/members/admins.
 *
 * @assumption setAdmins
 * @category endpoints
 * @since 0.1.0
 */
export const setAdmins: Endpoint.Endpoint<
  { readonly chat_id: ChatId; readonly admins: ReadonlyArray<ChatAdmin> },
  void,
  ApiError.Forbidden | ApiError.NotFound | ApiError.OperationRejected
> = Endpoint.make("Members.setAdmins", () => ({
  method: "POST",
  path: "/chats/{chatId}/members/admins",
  params: { chat_id: ChatId },
  body: { admins: rules.list(ChatAdmin, 0, Platform.maxAdmins) },
  idempotent: true,
  success: done,
  errors: [ApiError.Forbidden, ApiError.NotFound, ApiError.OperationRejected]
}))

/**
 * Takes an administrator's rights away; they stay a member.
 *
 * Errors: `Forbidden` where the bot may not, `NotFound`, and `OperationRejected` with the platform's text.
 *
 * **Example**
 *
 * ```ts
 * import { Chat, Members, User } from "@colloquy/core"
 *
 * const dismissed = Members.removeAdmin({ chat_id: Chat.ChatId.make(-70000000000001), user_id: User.UserId.make(7) })
 * ```
 *
 * API: Endpoints, Other operations (DELETE /chats/{chatId}/members/admins/{userId}).
 *
 * @assumption removeAdmin
 * @category endpoints
 * @since 0.1.0
 */
export const removeAdmin: Endpoint.Endpoint<
  { readonly chat_id: ChatId; readonly user_id: UserId },
  void,
  ApiError.Forbidden | ApiError.NotFound | ApiError.OperationRejected
> = Endpoint.make("Members.removeAdmin", () => ({
  method: "DELETE",
  path: "/chats/{chatId}/members/admins/{userId}",
  params: { chat_id: ChatId, user_id: UserId },
  success: done,
  errors: [ApiError.Forbidden, ApiError.NotFound, ApiError.OperationRejected]
}))
