import { AttachmentRequests } from "@colloquy/core/AttachmentRequest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { PersonError } from "../../Person.ts"
import * as refusal from "../http/refusal.ts"
import { describe } from "../http/requestReader.ts"
import { botOf, type ControlCall, type Handled, on, personOf, chatOf } from "./call.ts"
import * as declarations from "./declarations.ts"
import { makeChat, makeUser } from "./making.ts"
import { readAttachments } from "./saying.ts"
import { readContent } from "../endpoints/content.ts"
import { allRights, setAdminRights } from "../platform/members.ts"
import { createMessage } from "../platform/messages.ts"
import type { BotState, ChatState } from "../platform/state.ts"
import { problemOfRights } from "../platform/validation.ts"
import { toChat } from "../platform/views.ts"

type Seeding<A = void> = Effect.Effect<A, refusal.Refusal | PersonError>

/** Says where in the seed the trouble is. */
const at =
  (place: string) =>
  <A, E>(effect: Effect.Effect<A, E | refusal.Refusal | PersonError>) =>
    Effect.mapError(effect, (error) => {
      const { message } =
        error instanceof refusal.Refusal ? (error.body as { readonly message: string }) : (error as PersonError)
      return refusal.invalidPayload(`${place}.${message}`)
    })

const decodeRequests = Schema.decodeUnknownEffect(AttachmentRequests, { errors: "all" })

const sayAsBot = (call: ControlCall, bot: BotState, chat: ChatState, said: declarations.SeedMessage): Seeding =>
  Effect.gen(function* () {
    const attachments = yield* Effect.mapError(decodeRequests(said.attachments ?? []), (error) =>
      refusal.invalidPayload(`attachments: ${describe(error)}`)
    )
    const { format, text } = said
    const content = yield* readContent({ ...call, context: call, bot }, chat, {
      text: text ?? null,
      attachments,
      format: format ?? null
    })
    createMessage(call.state, chat, bot.user, content)
  })

const say = (call: ControlCall, bot: BotState, chat: ChatState, said: declarations.SeedMessage): Seeding =>
  Effect.gen(function* () {
    const { comments, user_id } = said
    const bot_id = bot.user.profile.user_id
    if (user_id == null) yield* sayAsBot(call, bot, chat, said)
    else {
      const person = yield* personOf(call, { user_id, bot_id })
      const attachments = yield* readAttachments(said.attachments ?? [])
      yield* person.send(chat.chat_id, said.text ?? "", { attachments })
    }
    const message = chat.messages.at(-1)!
    for (const { text, user_id } of comments ?? []) {
      const person = yield* personOf(call, { user_id, bot_id })
      yield* person.comment(message.mid, text)
    }
  })

const makeSeedChat = (call: ControlCall, { admins, messages, ...request }: declarations.SeedChat): Seeding<ChatState> =>
  Effect.gen(function* () {
    const bot = yield* botOf(call, request)
    const { chat_id } = yield* makeChat(request, call)
    const chat = yield* chatOf(call, chat_id)
    const owner = chat.owner === undefined ? undefined : call.state.users.get(chat.owner)
    for (const { permissions, user_id } of admins ?? []) {
      const member = chat.members.get(user_id)
      if (member === undefined) return yield* refusal.invalidPayload(`admins: user ${user_id} is no member`)
      const problem = problemOfRights(permissions ?? allRights)
      if (problem !== undefined) return yield* refusal.invalidPayload(`admins: ${problem}`)
      setAdminRights(call.state, chat, member, permissions ?? allRights, owner)
    }
    yield* Effect.forEach(messages ?? [], (said, index) => at(`messages[${index}]`)(say(call, bot, chat, said)))
    return chat
  })

/** Makes a whole world of people, chats and what was said in them. */
export const seeding: ReadonlyArray<Handled> = [
  on(declarations.seed, ({ chats, silent, users }, call) =>
    Effect.gen(function* () {
      const made = yield* Effect.forEach(users ?? [], (user, index) => at(`users[${index}]`)(makeUser(user, call)))
      const madeChats = yield* Effect.forEach(chats ?? [], (chat, index) =>
        at(`chats[${index}]`)(makeSeedChat(call, chat))
      )
      const bots = [...call.state.bots.values()]
      if (silent === true) for (const { updates } of bots) updates.clear()
      return { users: made, chats: madeChats.map((chat) => toChat(call.state, chat, bots[0])) }
    })
  )
]
