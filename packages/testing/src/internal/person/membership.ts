import * as Effect from "effect/Effect"
import type { Person } from "../../Person.ts"
import { problemOfTitle } from "../checks.ts"
import { admit, appoint, dismiss, rename } from "../rooms.ts"
import { idOf } from "../world.ts"
import { openRoom, ownRoom, roomOf, roomWithRight } from "./access.ts"
import { type Actor, cannot } from "./actor.ts"

/** What a person does with chats and those who are in them. */
export const memberships = (
  actor: Actor
): Pick<Person, "join" | "leave" | "addBot" | "removeBot" | "appointBot" | "rename"> => {
  const { bot, self, world } = actor
  return {
    join: Effect.fnUntraced(function* (ref) {
      const room = yield* roomOf(actor, ref)
      if (room.type === "dialog") return yield* cannot(actor, "a dialog cannot be joined")
      if (room.blocked.has(idOf(self))) return yield* cannot(actor, "they are blocked there")
      if (room.isClosed) return yield* cannot(actor, "the chat is closed")
      if (!room.members.has(idOf(self))) admit(world, room, self)
    }),
    leave: Effect.fnUntraced(function* (ref) {
      const room = yield* ownRoom(actor, ref)
      return room.type === "dialog" ? yield* cannot(actor, "a dialog cannot be left") : dismiss(world, room, self)
    }),
    addBot: Effect.fnUntraced(function* (ref) {
      const room = yield* openRoom(actor, ref, "add_remove_members")
      if (!room.members.has(idOf(bot.account))) admit(world, room, bot.account, self)
    }),
    removeBot: Effect.fnUntraced(function* (ref) {
      const room = yield* roomWithRight(actor, ref, "add_remove_members")
      if (!room.members.has(idOf(bot.account))) return yield* cannot(actor, "the bot is not there")
      dismiss(world, room, bot.account, self)
    }),
    appointBot: Effect.fnUntraced(function* (ref, permissions) {
      const room = yield* ownRoom(actor, ref)
      const member = room.members.get(idOf(bot.account))
      if (member === undefined || room.type === "dialog") return yield* cannot(actor, "the bot is no member there")
      appoint(world, room, member, permissions, self)
    }),
    rename: Effect.fnUntraced(function* (ref, title) {
      const room = yield* openRoom(actor, ref, "change_chat_info")
      const problem = problemOfTitle(title)
      return problem === undefined ? rename(world, room, title, self) : yield* cannot(actor, problem)
    })
  }
}
