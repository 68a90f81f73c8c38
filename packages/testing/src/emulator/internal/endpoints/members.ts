import { type FailedUsers } from "@colloquy/core/client/ApiError"
import type { ChatId } from "@colloquy/core/model/Chat"
import type * as Members from "@colloquy/core/endpoints/Members"
import * as Platform from "@colloquy/core/base/Platform"
import type { UserId } from "@colloquy/core/model/User"
import * as Effect from "effect/Effect"
import * as refusal from "../http/refusal.ts"
import { addMember, isAdmin, removeMember, setAdminRights } from "../platform/members.ts"
import type { ChatState, MemberState } from "../platform/state.ts"
import { idOf } from "../platform/users.ts"
import { toMember } from "../platform/views.ts"
import { administered, type Call, chatOf, chatWithRight, type Handlers } from "./call.ts"

const memberOf = (chat: ChatState, user_id: UserId): refusal.Refusable<MemberState> =>
  refusal.found(chat.members.get(user_id), () => refusal.notFound(`Member ${user_id}`))

/** Subscribers of a channel are shown to its administrators only. */
const withVisibleMembers = (call: Call, chat_id: ChatId): refusal.Refusable<ChatState> =>
  Effect.flatMap(chatOf(call, chat_id), (chat) =>
    chat.type === "channel" && !isAdmin(chat, call.bot.user) ? refusal.notAdmin() : Effect.succeed(chat)
  )

const whyNot = ({ state }: Call, chat: ChatState, user_id: UserId): string | undefined => {
  const user = state.users.get(user_id)
  if (user === undefined) return Platform.codeAddParticipantNotFound
  return user.isPrivate && !chat.members.has(user_id) ? Platform.codeAddParticipantPrivacy : undefined
}

const byReason = (failures: ReadonlyArray<readonly [UserId, string]>): ReadonlyArray<FailedUsers> =>
  [...new Set(failures.map(([, error_code]) => error_code))].map((error_code) => ({
    error_code,
    user_ids: failures.filter(([, code]) => code === error_code).map(([user_id]) => user_id)
  }))

export const members: Handlers<typeof Members> = {
  list: ({ chat_id, count = Platform.membersPage.default, marker, user_ids }, call) =>
    Effect.map(withVisibleMembers(call, chat_id), (chat) => {
      const all = [...chat.members.values()]
      if (user_ids != null) {
        return { members: all.filter(({ user }) => user_ids.includes(idOf(user))).map((m) => toMember(chat, m)) }
      }
      const start = Math.max(0, Number(marker ?? 0n))
      const end = start + count
      const page = all.slice(start, end).map((member) => toMember(chat, member))
      return { members: page, ...(end < all.length ? { marker: BigInt(end) } : {}) }
    }),

  add: Effect.fnUntraced(function* ({ chat_id, user_ids }, call) {
    const { bot, state } = call
    const chat = yield* chatWithRight(call, chat_id, "add_remove_members")
    if (chat.type !== "chat") return yield* refusal.chatDenied("Members can be added to a group chat only")
    const failures: Array<readonly [UserId, string]> = []
    for (const user_id of new Set(user_ids)) {
      const reason = whyNot(call, chat, user_id)
      if (reason !== undefined) failures.push([user_id, reason])
      else if (!chat.members.has(user_id)) {
        chat.blocked.delete(user_id)
        addMember(state, chat, state.users.get(user_id)!, bot.user)
      }
    }
    if (failures.length === 0) return
    return yield* refusal.rejected("Some users could not be added", {
      failed_user_ids: failures.map(([user_id]) => user_id),
      failed_user_details: byReason(failures)
    })
  }),

  /** @assumption ownerStays */
  remove: Effect.fnUntraced(function* ({ block, chat_id, user_id }, call) {
    const chat = yield* chatWithRight(call, chat_id, "add_remove_members")
    const member = yield* memberOf(chat, user_id)
    if (chat.owner === user_id) return
    if (block) chat.blocked.add(user_id)
    removeMember(call.state, chat, member.user, call.bot.user)
  }),

  getMe: Effect.fnUntraced(function* ({ chat_id }, call) {
    const chat = yield* chatOf(call, chat_id)
    return toMember(chat, yield* memberOf(chat, idOf(call.bot.user)))
  }),

  leave: Effect.fnUntraced(function* ({ chat_id }, call) {
    const chat = yield* chatOf(call, chat_id)
    if (chat.type === "dialog") return yield* refusal.chatDenied("A dialog cannot be left")
    removeMember(call.state, chat, call.bot.user)
  }),

  listAdmins: ({ chat_id }, call) =>
    Effect.map(administered(call, chat_id), (chat) => ({
      members: [...chat.members.values()]
        .filter(({ rights }) => rights !== undefined)
        .map((member) => toMember(chat, member))
    })),

  setAdmins: Effect.fnUntraced(function* ({ admins, chat_id }, call) {
    const chat = yield* chatWithRight(call, chat_id, "add_admins")
    const old = admins
      .flatMap(({ permissions }) => permissions)
      .find((right) => Platform.oldPermissions.includes(right))
    if (old !== undefined) return yield* refusal.invalidPayload(`admins: ${old} is an old name of a right`)
    const chosen = yield* Effect.forEach(admins, ({ user_id }) => memberOf(chat, user_id))
    const others = [...chat.members.values()].filter((member) => member.rights !== undefined)
    if (new Set([...others, ...chosen]).size > Platform.maxAdmins) {
      return yield* refusal.rejected(`A chat has at most ${Platform.maxAdmins} administrators`)
    }
    if (admins.some(({ user_id }) => user_id === chat.owner)) {
      return yield* refusal.chatDenied("The owner has all rights")
    }
    admins.forEach(({ alias, permissions }, index) => {
      chosen[index].alias = alias ?? undefined
      setAdminRights(call.state, chat, chosen[index], permissions, call.bot.user)
    })
  }),

  removeAdmin: Effect.fnUntraced(function* ({ chat_id, user_id }, call) {
    const chat = yield* chatWithRight(call, chat_id, "add_admins")
    const member = yield* memberOf(chat, user_id)
    if (member.rights === undefined) return yield* refusal.notFound(`Administrator ${user_id}`)
    if (chat.owner === user_id) return yield* refusal.chatDenied("The owner stays an administrator")
    setAdminRights(call.state, chat, member, undefined, call.bot.user)
  })
}
