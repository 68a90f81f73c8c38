import { type FailedUsers } from "@colloquy/core/ApiError"
import type { ChatId } from "@colloquy/core/Chat"
import type * as Members from "@colloquy/core/Members"
import type { UserId } from "@colloquy/core/User"
import * as Effect from "effect/Effect"
import { administered, type Call, roomOf, roomWithRight } from "./call.ts"
import type { Membership, Room } from "../platform/model.ts"
import * as refusal from "../http/refusal.ts"
import { admit, appoint, dismiss, isAdmin } from "../platform/rooms.ts"
import { toMember } from "../platform/views.ts"
import { idOf } from "../platform/world.ts"
import type { Handlers } from "./handler.ts"

/** @assumption A GET /chats/{chatId}/members gives 20 members unless told. */
const defaultCount = 20

/** @assumption A A chat has at most 50 administrators. */
const maxAdmins = 50

const memberOf = (room: Room, user_id: UserId): Effect.Effect<Membership, refusal.Refusal> =>
  Effect.suspend(() => {
    const member = room.members.get(user_id)
    return member === undefined ? refusal.notFound(`Member ${user_id}`) : Effect.succeed(member)
  })

/** Subscribers of a channel are shown to its administrators only. */
const withVisibleMembers = (call: Call, chat_id: ChatId): Effect.Effect<Room, refusal.Refusal> =>
  Effect.flatMap(roomOf(call, chat_id), (room) =>
    room.type === "channel" && !isAdmin(room, call.bot.account) ? refusal.notAdmin() : Effect.succeed(room)
  )

const whyNot = ({ world }: Call, room: Room, user_id: UserId): string | undefined => {
  const account = world.accounts.get(user_id)
  if (account === undefined) return "add.participant.not.found"
  return account.isPrivate && !room.members.has(user_id) ? "add.participant.privacy" : undefined
}

const byReason = (failures: ReadonlyArray<readonly [UserId, string]>): ReadonlyArray<FailedUsers> =>
  [...new Set(failures.map(([, error_code]) => error_code))].map((error_code) => ({
    error_code,
    user_ids: failures.filter(([, code]) => code === error_code).map(([user_id]) => user_id)
  }))

export const members: Handlers<typeof Members> = {
  list: ({ chat_id, count = defaultCount, marker, user_ids }, call) =>
    Effect.map(withVisibleMembers(call, chat_id), (room) => {
      const all = [...room.members.values()]
      if (user_ids !== undefined) {
        return { members: all.filter(({ account }) => user_ids.includes(idOf(account))).map((m) => toMember(room, m)) }
      }
      const start = Math.max(0, Number(marker ?? 0n))
      const end = start + count
      const page = all.slice(start, end).map((member) => toMember(room, member))
      return { members: page, ...(end < all.length ? { marker: BigInt(end) } : {}) }
    }),

  add: Effect.fnUntraced(function* ({ chat_id, user_ids }, call) {
    const { bot, world } = call
    const room = yield* roomWithRight(call, chat_id, "add_remove_members")
    if (room.type !== "chat") return yield* refusal.chatDenied("Members can be added to a group chat only")
    const failures: Array<readonly [UserId, string]> = []
    for (const user_id of new Set(user_ids)) {
      const reason = whyNot(call, room, user_id)
      if (reason !== undefined) failures.push([user_id, reason])
      else if (!room.members.has(user_id)) {
        room.blocked.delete(user_id)
        admit(world, room, world.accounts.get(user_id)!, bot.account)
      }
    }
    if (failures.length === 0) return
    return yield* refusal.rejected("Some users could not be added", {
      failed_user_ids: failures.map(([user_id]) => user_id),
      failed_user_details: byReason(failures)
    })
  }),

  remove: Effect.fnUntraced(function* ({ block, chat_id, user_id }, call) {
    const room = yield* roomWithRight(call, chat_id, "add_remove_members")
    const member = yield* memberOf(room, user_id)
    if (room.owner === user_id) return yield* refusal.chatDenied("The owner cannot be removed")
    if (block) room.blocked.add(user_id)
    dismiss(call.world, room, member.account, call.bot.account)
  }),

  getMe: Effect.fnUntraced(function* ({ chat_id }, call) {
    const room = yield* roomOf(call, chat_id)
    return toMember(room, yield* memberOf(room, idOf(call.bot.account)))
  }),

  leave: Effect.fnUntraced(function* ({ chat_id }, call) {
    const room = yield* roomOf(call, chat_id)
    if (room.type === "dialog") return yield* refusal.chatDenied("A dialog cannot be left")
    dismiss(call.world, room, call.bot.account)
  }),

  listAdmins: ({ chat_id }, call) =>
    Effect.map(administered(call, chat_id), (room) => ({
      members: [...room.members.values()]
        .filter(({ rights }) => rights !== undefined)
        .map((member) => toMember(room, member))
    })),

  setAdmins: Effect.fnUntraced(function* ({ admins, chat_id }, call) {
    const room = yield* roomWithRight(call, chat_id, "add_admins")
    const chosen = yield* Effect.forEach(admins, ({ user_id }) => memberOf(room, user_id))
    const others = [...room.members.values()].filter((member) => member.rights !== undefined)
    if (new Set([...others, ...chosen]).size > maxAdmins) {
      return yield* refusal.rejected(`A chat has at most ${maxAdmins} administrators`)
    }
    if (admins.some(({ user_id }) => user_id === room.owner)) {
      return yield* refusal.chatDenied("The owner has all rights")
    }
    admins.forEach(({ alias, permissions }, index) => {
      chosen[index].alias = alias ?? undefined
      appoint(call.world, room, chosen[index], permissions, call.bot.account)
    })
  }),

  removeAdmin: Effect.fnUntraced(function* ({ chat_id, user_id }, call) {
    const room = yield* roomWithRight(call, chat_id, "add_admins")
    const member = yield* memberOf(room, user_id)
    if (member.rights === undefined) return yield* refusal.notFound(`Administrator ${user_id}`)
    if (room.owner === user_id) return yield* refusal.chatDenied("The owner stays an administrator")
    appoint(call.world, room, member, undefined, call.bot.account)
  })
}
