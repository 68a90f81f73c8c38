import type { Chat } from "@colloquy/core/Chat"
import type * as Endpoint from "@colloquy/core/Endpoint"
import { UserId, type UserWithPhoto } from "@colloquy/core/User"
import * as Effect from "effect/Effect"
import type { PersonError } from "../../Person.ts"
import * as refusal from "../http/refusal.ts"
import { createDialog, createGroup, findDialog } from "../platform/chats.ts"
import type { EmulatorContext } from "../platform/context.ts"
import { addUser } from "../platform/users.ts"
import { defined, problemOfChat, problemOfUser } from "../platform/validation.ts"
import { toChat } from "../platform/views.ts"
import { botOf, personOf, userOf } from "./call.ts"
import type * as declarations from "./declarations.ts"

export const makeUser = (
  { hides_activity, is_private, locale, location, phone, ...profile }: Endpoint.Request<typeof declarations.users>,
  { state }: EmulatorContext
): Effect.Effect<UserWithPhoto, refusal.Refusal> =>
  Effect.suspend(() => {
    const given = { ...defined(profile), ...(hides_activity === true ? { last_activity_time: null } : {}) }
    const problem = problemOfUser(state, { ...given, ...defined({ phone }) })
    if (problem !== undefined) return Effect.fail(refusal.invalidPayload(problem))
    return Effect.succeed(addUser(state, given, defined({ isPrivate: is_private, locale, location, phone })).profile)
  })

export const makeChat = (
  request: Endpoint.Request<typeof declarations.chats>,
  control: EmulatorContext
): Effect.Effect<Chat, refusal.Refusal | PersonError> =>
  Effect.gen(function* () {
    const { state } = control
    const { bot: given, bot_id, chat_id, has_comments, is_public, owner_id, title, type } = request
    const bot = yield* botOf(control, { bot_id })
    const role = given == null || given === false ? given : defined(given)
    const problem = problemOfChat(state, defined({ type, chat_id, title, bot: role }))
    if (problem !== undefined) return yield* refusal.invalidPayload(problem)
    const members = yield* Effect.forEach(request.members ?? [], (user_id) =>
      personOf(control, { user_id, bot_id }, "members")
    )
    if (type === "dialog") {
      const [person, ...others] = members
      if (person === undefined || others.length > 0) {
        return yield* refusal.invalidPayload("members: a dialog is with exactly one person")
      }
      const user = yield* userOf(control, "members", person.user_id)
      const known = findDialog(state, user, bot)
      if (chat_id != null && known !== undefined) {
        return yield* refusal.invalidPayload(`chat_id: the dialog with ${person.user_id} is ${known.chat_id} already`)
      }
      if (chat_id != null && state.users.has(UserId.make(chat_id))) {
        return yield* refusal.invalidPayload("chat_id: must not be the id of a user")
      }
      if (chat_id != null) createDialog(state, user, bot, chat_id)
      return yield* person.start()
    }
    const owner = owner_id == null ? undefined : yield* personOf(control, { user_id: owner_id, bot_id }, "owner_id")
    const chat = createGroup(state, bot, {
      ...defined({ type, chat_id, title, owner, bot: role, isPublic: is_public, hasComments: has_comments }),
      members
    })
    return toChat(state, chat, bot)
  })
