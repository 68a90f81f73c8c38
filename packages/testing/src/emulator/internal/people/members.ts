import type { Permission } from "@colloquy/core/model/Member"
import * as Effect from "effect/Effect"
import type { Person, UserRef } from "../../Person.ts"
import { renameChat } from "../platform/chats.ts"
import { addMember, hasRight, removeMember, setAdminRights } from "../platform/members.ts"
import type { ChatState, UserState } from "../platform/state.ts"
import { idOf } from "../platform/users.ts"
import { problemOfRights, problemOfTitle } from "../platform/validation.ts"
import { type Action, type Actor, administered, cannot, chatOf, joinedChat, openChat, userIdOf } from "./access.ts"

const userOf = (actor: Actor, ref: UserRef): Action<UserState> =>
  Effect.suspend((): Action<UserState> => {
    const user_id = userIdOf(ref)
    const user = actor.state.users.get(user_id)
    if (user === undefined) return cannot(actor, `there is no user ${user_id}`)
    return user.profile.is_bot ? cannot(actor, `${user.profile.first_name} is a bot`) : Effect.succeed(user)
  })

const memberOf = Effect.fnUntraced(function* (actor: Actor, chat: ChatState, ref: UserRef) {
  const { first_name, user_id } = (yield* userOf(actor, ref)).profile
  const member = chat.members.get(user_id)
  return member ?? (yield* cannot(actor, `${first_name} is not in the chat`))
})

const requireRights = (actor: Actor, permissions: ReadonlyArray<Permission> | undefined): Action => {
  const problem = problemOfRights(permissions)
  return problem === undefined ? Effect.void : cannot(actor, problem)
}

export const memberActions = (actor: Actor) => {
  const { bot, self, state } = actor
  return {
    join: Effect.fnUntraced(function* (ref) {
      const chat = yield* chatOf(actor, ref)
      if (chat.type === "dialog") return yield* cannot(actor, "a dialog cannot be joined")
      if (chat.members.has(idOf(self))) return
      if (chat.blocked.has(idOf(self))) return yield* cannot(actor, "they are blocked there")
      if (chat.isClosed) return yield* cannot(actor, "the chat is closed")
      addMember(state, chat, self)
    }),
    leave: Effect.fnUntraced(function* (ref) {
      const chat = yield* joinedChat(actor, ref)
      return chat.type === "dialog" ? yield* cannot(actor, "a dialog cannot be left") : removeMember(state, chat, self)
    }),
    addMember: Effect.fnUntraced(function* (ref, person) {
      const chat = yield* openChat(actor, ref, "add_remove_members")
      const other = yield* userOf(actor, person)
      const { first_name, user_id } = other.profile
      if (chat.members.has(user_id)) return yield* cannot(actor, `${first_name} is in the chat already`)
      if (other.isPrivate) return yield* cannot(actor, `${first_name} does not allow others to add them`)
      if (chat.blocked.has(user_id) && !hasRight(chat, self, "add_remove_members")) {
        return yield* cannot(actor, `${first_name} is blocked there`)
      }
      chat.blocked.delete(user_id)
      addMember(state, chat, other, self)
    }),
    removeMember: Effect.fnUntraced(function* (ref, person, { block = false } = {}) {
      const chat = yield* administered(actor, ref, "add_remove_members")
      const { user } = yield* memberOf(actor, chat, person)
      if (user === self) return yield* cannot(actor, "they cannot remove themselves: use leave")
      if (chat.owner === idOf(user)) return yield* cannot(actor, "the owner cannot be removed")
      if (block) chat.blocked.add(idOf(user))
      removeMember(state, chat, user, self)
    }),
    setAdmin: Effect.fnUntraced(function* (ref, person, permissions) {
      const chat = yield* administered(actor, ref, "add_admins")
      const member = yield* memberOf(actor, chat, person)
      if (chat.owner === idOf(member.user)) return yield* cannot(actor, "the owner has all rights")
      if (member.user === self) return yield* cannot(actor, "they cannot appoint themselves")
      yield* requireRights(actor, permissions)
      setAdminRights(state, chat, member, permissions, self)
    }),
    addBot: Effect.fnUntraced(function* (ref) {
      const chat = yield* openChat(actor, ref, "add_remove_members")
      if (!chat.members.has(idOf(bot.user))) addMember(state, chat, bot.user, self)
    }),
    removeBot: Effect.fnUntraced(function* (ref) {
      const chat = yield* administered(actor, ref, "add_remove_members")
      if (!chat.members.has(idOf(bot.user))) return yield* cannot(actor, "the bot is not there")
      removeMember(state, chat, bot.user, self)
    }),
    setBotAdmin: Effect.fnUntraced(function* (ref, permissions) {
      const chat = yield* administered(actor, ref, "add_admins")
      const member = chat.members.get(idOf(bot.user))
      if (member === undefined) return yield* cannot(actor, "the bot is not there")
      yield* requireRights(actor, permissions)
      setAdminRights(state, chat, member, permissions, self)
    }),
    rename: Effect.fnUntraced(function* (ref, title) {
      const chat = yield* openChat(actor, ref, "change_chat_info")
      const problem = problemOfTitle(title)
      return problem === undefined ? renameChat(state, chat, title, self) : yield* cannot(actor, problem)
    })
  } satisfies Partial<Person>
}
