/**
 * Reads and changes the members of a chat and its administrators.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Stream from "effect/Stream"
import * as ApiError from "../client/ApiError.ts"
import type { BotApi } from "../client/BotApi.ts"
import * as Endpoint from "../client/Endpoint.ts"
import * as page from "../client/internal/pagination.ts"
import * as rules from "../base/internal/rules.ts"
import { done, Int64, nullish, optional } from "../base/internal/wire.ts"
import { ChatAdmin, ChatMember } from "../model/Member.ts"
import * as Platform from "../base/Platform.ts"
import { ChatId } from "../model/Recipient.ts"
import { UserId } from "../model/User.ts"

/**
 * A page of members. `marker` is the marker of the next page, if any.
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
 * The request of {@link list}.
 *
 * @category models
 * @since 0.1.0
 */
export interface ListRequest {
  /** The id of the chat. */
  readonly chat_id: ChatId
  /** Return only these members, and ignore the other fields. Default: all members. */
  readonly user_ids?: ReadonlyArray<UserId> | null | undefined
  /** The `marker` of the previous page. Default: the first page. */
  readonly marker?: bigint | null | undefined
  /** Number of members, 1 to 100. Default: 20. */
  readonly count?: number | undefined
}

/**
 * Returns a page of the members of a chat. {@link stream} returns all of them. In a channel, the bot must be an
 * administrator.
 *
 * Fails with `Forbidden` if the bot may not see the members, and with `NotFound` if the chat does not exist.
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
      user_ids: optional(rules.list(UserId, 1)),
      marker: optional(Int64),
      count: Schema.optional(rules.between(1, Platform.membersPage))
    },
    success: MembersPage,
    errors: [ApiError.Forbidden, ApiError.NotFound]
  })
)

/**
 * Streams all members of a chat. The pages are requested as the stream is pulled. Default of `count`, the size of a
 * page: 100.
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
 * Adds users to a group chat, at most 100 per call. The bot must be an administrator with the right
 * `add_remove_members`. Users cannot be added to a channel.
 *
 * Fails with `AddParticipantFailed` if some users could not be added; the others were added. Fails with `Forbidden` if
 * the bot has no right, with `NotFound` if the chat does not exist, and with `OperationRejected` if the platform
 * rejects the call.
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
 * Removes a member from a chat. The bot must be an administrator with the right `add_remove_members`. `block` says
 * whether the user is also prevented from joining again. Default: `false`.
 *
 * Fails with `Forbidden` if the bot has no right, with `NotFound` if the chat or the member does not exist, and with
 * `OperationRejected` if the platform rejects the call.
 *
 * `NotFound` is a success if an earlier attempt of the same update, or a request whose response was lost, may have
 * removed the member.
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
  query: { user_id: UserId, block: Schema.optional(rules.flag(false)) },
  success: done,
  errors: [ApiError.Forbidden, ApiError.NotFound, ApiError.OperationRejected],
  repeated: { key: ({ chat_id, user_id }) => `${chat_id} ${user_id}`, errors: [ApiError.NotFound] }
}))

/**
 * Returns the bot as a member of a chat, with its rights.
 *
 * Fails with `Forbidden` if the bot is not a member, and with `NotFound` if the chat does not exist.
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
 * Removes the bot from a chat.
 *
 * Fails with `Forbidden` if the bot is not a member, with `NotFound` if the chat does not exist, and with
 * `OperationRejected` if the platform rejects the call.
 *
 * `Forbidden` and `NotFound` are a success if an earlier attempt of the same update, or a request whose response was
 * lost, may have carried the call out.
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
  errors: [ApiError.Forbidden, ApiError.NotFound, ApiError.OperationRejected],
  repeated: { key: ({ chat_id }) => chat_id, errors: [ApiError.Forbidden, ApiError.NotFound] }
}))

/**
 * Returns the administrators of a chat. The bot must be an administrator.
 *
 * Fails with `Forbidden` if the bot is not an administrator, and with `NotFound` if the chat does not exist.
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
 * Makes members administrators with the given rights, which replace the rights of the members. A chat has at most 50
 * administrators. The bot must be an administrator with the right `add_admins`.
 *
 * Members can have rights with old names, `Platform.oldPermissions`, which the platform does not grant. Leave out such
 * rights if you pass on the `permissions` of a member, or the platform rejects the call.
 *
 * Fails with `Forbidden` if the bot has no right, with `NotFound` if the chat or a member does not exist, and with
 * `OperationRejected` if the platform rejects the call.
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
 * @assumption oldPermissions
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
 * Removes the rights of an administrator, who stays a member. The bot must be an administrator with the right
 * `add_admins`.
 *
 * Fails with `Forbidden` if the bot has no right, with `NotFound` if the chat or the administrator does not exist, and
 * with `OperationRejected` if the platform rejects the call.
 *
 * `NotFound` is a success if an earlier attempt of the same update, or a request whose response was lost, may have
 * removed the administrator.
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
  errors: [ApiError.Forbidden, ApiError.NotFound, ApiError.OperationRejected],
  repeated: { key: ({ chat_id, user_id }) => `${chat_id} ${user_id}`, errors: [ApiError.NotFound] }
}))
