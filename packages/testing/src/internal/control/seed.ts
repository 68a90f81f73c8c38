import { AttachmentRequests } from "@colloquy/core/AttachmentRequest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { CannotDo } from "../../Person.ts"
import { problemOfRights } from "../platform/checks.ts"
import { readContent } from "../platform/content.ts"
import type { Bot, Room } from "../platform/model.ts"
import { publish } from "../platform/posts.ts"
import * as refusal from "../http/refusal.ts"
import { describe } from "../http/requestReader.ts"
import { allRights, appoint } from "../platform/rooms.ts"
import { toChat } from "../platform/views.ts"
import { botOf, type ControlCall, type Handled, on, personOf, roomOf } from "./call.ts"
import * as declarations from "./declarations.ts"
import { makeChat, makeUser } from "./making.ts"
import { readAttachments } from "./saying.ts"

type Seeding<A = void> = Effect.Effect<A, refusal.Refusal | CannotDo>

/** Says where in the seed the trouble is. */
const at =
  (place: string) =>
  <A, E>(effect: Effect.Effect<A, E | refusal.Refusal | CannotDo>) =>
    Effect.mapError(effect, (error) => {
      const { message } =
        error instanceof refusal.Refusal ? (error.body as { readonly message: string }) : (error as CannotDo)
      return refusal.invalidPayload(`${place}.${message}`)
    })

const decodeRequests = Schema.decodeUnknownEffect(AttachmentRequests, { errors: "all" })

const sayAsBot = (call: ControlCall, bot: Bot, room: Room, said: declarations.SeedMessage): Seeding =>
  Effect.gen(function* () {
    const attachments = yield* Effect.mapError(decodeRequests(said.attachments ?? []), (error) =>
      refusal.invalidPayload(`attachments: ${describe(error)}`)
    )
    const { format, text } = said
    const content = yield* readContent({ ...call, bot }, room, {
      text: text ?? null,
      attachments,
      format: format ?? null
    })
    publish(call.world, room, bot.account, content)
  })

const say = (call: ControlCall, bot: Bot, room: Room, said: declarations.SeedMessage): Seeding =>
  Effect.gen(function* () {
    const { comments, user_id } = said
    const bot_id = bot.account.user.user_id
    if (user_id == null) yield* sayAsBot(call, bot, room, said)
    else {
      const person = yield* personOf(call, { user_id, bot_id })
      const attachments = yield* readAttachments(said.attachments ?? [])
      yield* person.say(room.chat_id, said.text ?? "", { attachments })
    }
    const post = room.posts.at(-1)!
    for (const { text, user_id } of comments ?? []) {
      const person = yield* personOf(call, { user_id, bot_id })
      yield* person.comment(post.mid, text)
    }
  })

const makeSeedChat = (call: ControlCall, { admins, messages, ...chat }: declarations.SeedChat): Seeding<Room> =>
  Effect.gen(function* () {
    const bot = yield* botOf(call, chat)
    const { chat_id } = yield* makeChat(chat, call)
    const room = yield* roomOf(call, chat_id)
    const owner = room.owner === undefined ? undefined : call.world.accounts.get(room.owner)
    for (const { permissions, user_id } of admins ?? []) {
      const member = room.members.get(user_id)
      if (member === undefined) return yield* refusal.invalidPayload(`admins: user ${user_id} is no member`)
      const problem = problemOfRights(permissions ?? allRights)
      if (problem !== undefined) return yield* refusal.invalidPayload(`admins: ${problem}`)
      appoint(call.world, room, member, permissions ?? allRights, owner)
    }
    yield* Effect.forEach(messages ?? [], (said, index) => at(`messages[${index}]`)(say(call, bot, room, said)))
    return room
  })

/** Makes a whole world of people, chats and what was said in them. */
export const seeding: ReadonlyArray<Handled> = [
  on(declarations.seed, ({ chats, silent, users }, call) =>
    Effect.gen(function* () {
      const made = yield* Effect.forEach(users ?? [], (user, index) => at(`users[${index}]`)(makeUser(user, call)))
      const rooms = yield* Effect.forEach(chats ?? [], (chat, index) => at(`chats[${index}]`)(makeSeedChat(call, chat)))
      const bots = [...call.world.bots.values()]
      if (silent === true) for (const { updates } of bots) updates.clear()
      return { users: made, chats: rooms.map((room) => toChat(call.world, room, bots[0])) }
    })
  )
]
