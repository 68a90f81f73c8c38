import { AttachmentRequests } from "@colloquy/core/AttachmentRequest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { PersonError } from "../../Person.ts"
import * as refusal from "../http/refusal.ts"
import { describe } from "../http/requestReader.ts"
import { botOf, type ControlCall, type Route, on, personOf, chatOf } from "./call.ts"
import * as declarations from "./declarations.ts"
import { createChat, createUser, readAttachments } from "./creation.ts"
import { readContent } from "../endpoints/content.ts"
import { allRights, setAdminRights } from "../platform/members.ts"
import { createMessage } from "../platform/messages.ts"
import type { BotState, ChatState } from "../platform/state.ts"
import { problemOfRights } from "../platform/validation.ts"
import { toChat } from "../platform/views.ts"

type SeedEffect<A = void> = Effect.Effect<A, refusal.Refusal | PersonError>

/** Prefixes the message of a failure with its path in the seed. */
const withPath =
  (place: string) =>
  <A, E>(effect: Effect.Effect<A, E | refusal.Refusal | PersonError>) =>
    Effect.mapError(effect, (error) => {
      const { message } =
        error instanceof refusal.Refusal ? (error.body as { readonly message: string }) : (error as PersonError)
      return refusal.invalidPayload(`${place}.${message}`)
    })

const decodeRequests = Schema.decodeUnknownEffect(AttachmentRequests, { errors: "all" })

const sendAsBot = (call: ControlCall, bot: BotState, chat: ChatState, message: declarations.SeedMessage): SeedEffect =>
  Effect.gen(function* () {
    const attachments = yield* Effect.mapError(decodeRequests(message.attachments ?? []), (error) =>
      refusal.invalidPayload(`attachments: ${describe(error)}`)
    )
    const { format, text } = message
    const content = yield* readContent({ ...call, context: call, bot }, chat, {
      text: text ?? null,
      attachments,
      format: format ?? null
    })
    createMessage(call.state, chat, bot.user, content)
  })

const send = (call: ControlCall, bot: BotState, chat: ChatState, message: declarations.SeedMessage): SeedEffect =>
  Effect.gen(function* () {
    const { comments, user_id } = message
    const bot_id = bot.user.profile.user_id
    if (user_id == null) yield* sendAsBot(call, bot, chat, message)
    else {
      const person = yield* personOf(call, { user_id, bot_id })
      const attachments = yield* readAttachments(message.attachments ?? [])
      yield* person.send(chat.chat_id, message.text ?? "", { attachments })
    }
    const sent = chat.messages.at(-1)!
    for (const { text, user_id } of comments ?? []) {
      const person = yield* personOf(call, { user_id, bot_id })
      yield* person.comment(sent.mid, text)
    }
  })

const createSeedChat = (
  call: ControlCall,
  { admins, messages, ...request }: declarations.SeedChat
): SeedEffect<ChatState> =>
  Effect.gen(function* () {
    const bot = yield* botOf(call, request)
    const { chat_id } = yield* createChat(request, call)
    const chat = yield* chatOf(call, chat_id)
    const owner = chat.owner === undefined ? undefined : call.state.users.get(chat.owner)
    for (const { permissions, user_id } of admins ?? []) {
      const member = chat.members.get(user_id)
      if (member === undefined) return yield* refusal.invalidPayload(`admins: user ${user_id} is no member`)
      const problem = problemOfRights(permissions ?? allRights)
      if (problem !== undefined) return yield* refusal.invalidPayload(`admins: ${problem}`)
      setAdminRights(call.state, chat, member, permissions ?? allRights, owner)
    }
    yield* Effect.forEach(messages ?? [], (message, index) =>
      withPath(`messages[${index}]`)(send(call, bot, chat, message))
    )
    return chat
  })

/** Creates users, chats and messages from one document. */
export const seedRoutes: ReadonlyArray<Route> = [
  on(declarations.seed, ({ chats, silent, users }, call) =>
    Effect.gen(function* () {
      const createdUsers = yield* Effect.forEach(users ?? [], (user, index) =>
        withPath(`users[${index}]`)(createUser(user, call))
      )
      const createdChats = yield* Effect.forEach(chats ?? [], (chat, index) =>
        withPath(`chats[${index}]`)(createSeedChat(call, chat))
      )
      const bots = [...call.state.bots.values()]
      if (silent === true) for (const { updates } of bots) updates.clear()
      return { users: createdUsers, chats: createdChats.map((chat) => toChat(call.state, chat, bots[0])) }
    })
  )
]
