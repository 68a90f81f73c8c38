import type { Permission } from "@colloquy/core/Member"
import * as Effect from "effect/Effect"
import type { Person, UserRef } from "../../Person.ts"
import { problemOfRights, problemOfTitle } from "../platform/checks.ts"
import type { Account, Membership, Room } from "../platform/model.ts"
import { userIdOf } from "../platform/refs.ts"
import { admit, appoint, dismiss, hasRight, rename } from "../platform/rooms.ts"
import { idOf } from "../platform/world.ts"
import { administered, openRoom, ownRoom, roomOf } from "./access.ts"
import { type Actor, cannot, type Doing } from "./actor.ts"

const accountOf = (actor: Actor, ref: UserRef): Doing<Account> =>
  Effect.suspend((): Doing<Account> => {
    const user_id = userIdOf(ref)
    const account = actor.world.accounts.get(user_id)
    if (account === undefined) return cannot(actor, `there is no user ${user_id}`)
    return account.user.is_bot ? cannot(actor, `${account.user.first_name} is a bot`) : Effect.succeed(account)
  })

const memberOf = (actor: Actor, room: Room, ref: UserRef): Doing<Membership> =>
  Effect.flatMap(accountOf(actor, ref), (account): Doing<Membership> => {
    const member = room.members.get(idOf(account))
    return member === undefined
      ? cannot(actor, `${account.user.first_name} is not in the chat`)
      : Effect.succeed(member)
  })

const requireRights = (actor: Actor, permissions: ReadonlyArray<Permission> | undefined): Doing => {
  const problem = problemOfRights(permissions)
  return problem === undefined ? Effect.void : cannot(actor, problem)
}

/** What a person does with chats and those who are in them. */
export const memberships = (
  actor: Actor
): Pick<Person, "join" | "leave" | "add" | "kick" | "appoint" | "addBot" | "removeBot" | "appointBot" | "rename"> => {
  const { bot, self, world } = actor
  return {
    join: Effect.fnUntraced(function* (ref) {
      const room = yield* roomOf(actor, ref)
      if (room.type === "dialog") return yield* cannot(actor, "a dialog cannot be joined")
      if (room.members.has(idOf(self))) return
      if (room.blocked.has(idOf(self))) return yield* cannot(actor, "they are blocked there")
      if (room.isClosed) return yield* cannot(actor, "the chat is closed")
      admit(world, room, self)
    }),
    leave: Effect.fnUntraced(function* (ref) {
      const room = yield* ownRoom(actor, ref)
      return room.type === "dialog" ? yield* cannot(actor, "a dialog cannot be left") : dismiss(world, room, self)
    }),
    add: Effect.fnUntraced(function* (ref, person) {
      const room = yield* openRoom(actor, ref, "add_remove_members")
      const other = yield* accountOf(actor, person)
      const { first_name, user_id } = other.user
      if (room.members.has(user_id)) return yield* cannot(actor, `${first_name} is in the chat already`)
      if (other.isPrivate) return yield* cannot(actor, `${first_name} lets nobody add them`)
      if (room.blocked.has(user_id) && !hasRight(room, self, "add_remove_members")) {
        return yield* cannot(actor, `${first_name} is blocked there`)
      }
      room.blocked.delete(user_id)
      admit(world, room, other, self)
    }),
    kick: Effect.fnUntraced(function* (ref, person, { block = false } = {}) {
      const room = yield* administered(actor, ref, "add_remove_members")
      const { account } = yield* memberOf(actor, room, person)
      if (account === self) return yield* cannot(actor, "they cannot remove themselves: use leave")
      if (room.owner === idOf(account)) return yield* cannot(actor, "the owner cannot be removed")
      if (block) room.blocked.add(idOf(account))
      dismiss(world, room, account, self)
    }),
    appoint: Effect.fnUntraced(function* (ref, person, permissions) {
      const room = yield* administered(actor, ref, "add_admins")
      const member = yield* memberOf(actor, room, person)
      if (room.owner === idOf(member.account)) return yield* cannot(actor, "the owner has all rights")
      if (member.account === self) return yield* cannot(actor, "they cannot appoint themselves")
      yield* requireRights(actor, permissions)
      appoint(world, room, member, permissions, self)
    }),
    addBot: Effect.fnUntraced(function* (ref) {
      const room = yield* openRoom(actor, ref, "add_remove_members")
      if (!room.members.has(idOf(bot.account))) admit(world, room, bot.account, self)
    }),
    removeBot: Effect.fnUntraced(function* (ref) {
      const room = yield* administered(actor, ref, "add_remove_members")
      if (!room.members.has(idOf(bot.account))) return yield* cannot(actor, "the bot is not there")
      dismiss(world, room, bot.account, self)
    }),
    appointBot: Effect.fnUntraced(function* (ref, permissions) {
      const room = yield* administered(actor, ref, "add_admins")
      const member = room.members.get(idOf(bot.account))
      if (member === undefined) return yield* cannot(actor, "the bot is not there")
      yield* requireRights(actor, permissions)
      appoint(world, room, member, permissions, self)
    }),
    rename: Effect.fnUntraced(function* (ref, title) {
      const room = yield* openRoom(actor, ref, "change_chat_info")
      const problem = problemOfTitle(title)
      return problem === undefined ? rename(world, room, title, self) : yield* cannot(actor, problem)
    })
  }
}
