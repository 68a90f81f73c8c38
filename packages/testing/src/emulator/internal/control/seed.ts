import { AttachmentRequests } from "@colloquy/core/model/AttachmentRequest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Person, PersonError } from "../../Person.ts"
import * as refusal from "../http/refusal.ts"
import { describe } from "../http/requestReader.ts"
import { botOf, type ControlCall, type Handlers, personOf, chatOf, userOf } from "./call.ts"
import type { SeedChat, SeedComment, SeedMessage } from "./declarations.ts"
import { createChat, createUser, readAttachments } from "./creation.ts"
import { addMedia } from "./media.ts"
import { readContent } from "../endpoints/content.ts"
import { restoreMessage } from "../people/messages.ts"
import { closeChat } from "../platform/chats.ts"
import { createComment } from "../platform/comments.ts"
import { allRights, setAdminRights } from "../platform/members.ts"
import { createMessage } from "../platform/messages.ts"
import { restorePosition } from "../platform/ids.ts"
import { type BotState, type ChatState, type MessageState, now } from "../platform/state.ts"
import { IsSilent } from "../platform/updates.ts"
import { defined, problemOfRights } from "../platform/validation.ts"
import { toChat } from "../platform/views.ts"
import { parseText } from "../text/parse.ts"

/** A call, and whether the rights and the membership of the authors are checked. */
interface SeedCall extends ControlCall {
  readonly isChecked: boolean
}

/** Creates each item of a list. The message of a failure begins with the place of the item in the seed. */
const createEach = <Item, A>(
  list: string,
  items: ReadonlyArray<Item> | null | undefined,
  create: (item: Item) => Effect.Effect<A, refusal.Refusal | PersonError>
) =>
  Effect.forEach(items ?? [], (item, index) =>
    Effect.mapError(create(item), ({ message }) => refusal.invalidPayload(`${list}[${index}].${message}`))
  )

const decodeRequests = Schema.decodeUnknownEffect(AttachmentRequests, { errors: "all" })

/** The saved position of a message or comment, or `undefined` for new content. */
const positionOf = Effect.fnUntraced(function* (
  { state }: ControlCall,
  { chat_id }: ChatState,
  { mid, timestamp }: Pick<SeedMessage, "mid" | "timestamp">
) {
  if (mid == null) return timestamp == null ? undefined : yield* refusal.invalidPayload("timestamp: requires mid")
  const position = restorePosition(state, chat_id, { mid, timestamp: timestamp ?? now(state) })
  return position ?? (yield* refusal.invalidPayload(`mid: no new message of chat ${chat_id} can have the id ${mid}`))
})

const sendAsBot = Effect.fnUntraced(function* (call: SeedCall, bot: BotState, chat: ChatState, message: SeedMessage) {
  const attachments = yield* Effect.mapError(decodeRequests(message.attachments ?? []), (error) =>
    refusal.invalidPayload(`attachments: ${describe(error)}`)
  )
  const { format, text } = message
  const link = yield* linkOf(call, chat, message)
  const content = yield* readContent({ ...call, context: call, bot }, chat, {
    text: text ?? null,
    attachments,
    format: format ?? null,
    ...defined({ link })
  })
  createMessage(call.state, chat, bot.user, content, true, yield* positionOf(call, chat, message))
})

/** The message that a message links to, by its place in the seed. */
const linkOf = Effect.fnUntraced(function* ({ state }: ControlCall, chat: ChatState, { link }: SeedMessage) {
  if (link == null) return undefined
  const from = link.chat_id == null ? chat : state.chats.get(link.chat_id)
  const linked = from?.messages[link.index]
  if (linked === undefined) return yield* refusal.invalidPayload("link: there is no such message before this one")
  return { type: link.type, mid: linked.mid }
})

const sendAsPerson = Effect.fnUntraced(function* (call: SeedCall, chat: ChatState, by: Person, message: SeedMessage) {
  const attachments = yield* readAttachments(message.attachments ?? [])
  const options = { attachments, ...defined({ format: message.format, link: yield* linkOf(call, chat, message) }) }
  if (call.isChecked) {
    if (message.mid != null) return yield* refusal.invalidPayload("mid: requires unchecked: true")
    return yield* Effect.asVoid(by.send(chat.chat_id, message.text ?? "", options))
  }
  const user = yield* userOf(call, "user_id", by.user_id)
  const actor = { state: call.state, bot: yield* botOf(call, {}), self: user }
  const position = yield* positionOf(call, chat, message)
  yield* restoreMessage(actor, chat, message.text ?? "", options, position)
})

/** Comments on a post. The comments of bots are not validated. */
const sendComment = Effect.fnUntraced(function* (
  call: SeedCall,
  bot: BotState,
  post: MessageState,
  { format, mid, on_behalf, reply_to, text, timestamp, user_id }: SeedComment
) {
  const author = yield* userOf(call, "user_id", user_id)
  const replyTo = reply_to == null ? undefined : post.comments[reply_to]
  if (reply_to != null && replyTo === undefined) {
    return yield* refusal.invalidPayload(`reply_to: there is no comment ${reply_to} before this one`)
  }
  if (call.isChecked && !author.profile.is_bot) {
    if (mid != null) return yield* refusal.invalidPayload("mid: requires unchecked: true")
    const person = yield* personOf(call, { user_id, bot_id: bot.user.profile.user_id })
    return yield* Effect.asVoid(
      person.comment(post.mid, text, { onBehalf: on_behalf ?? false, ...defined({ replyTo: replyTo?.value }) })
    )
  }
  const content = { ...parseText(text, format), replyTo }
  const position = yield* positionOf(call, post.chat, { mid, timestamp })
  createComment(call.state, post, author, content, on_behalf ?? false, position)
})

const send = Effect.fnUntraced(function* (call: SeedCall, bot: BotState, chat: ChatState, message: SeedMessage) {
  const { bot_id, comments, user_id } = message
  const author = bot_id == null ? bot : yield* botOf(call, { bot_id })
  if (user_id == null) yield* sendAsBot(call, author, chat, message)
  else {
    const person = yield* personOf(call, { user_id, bot_id: bot.user.profile.user_id })
    yield* sendAsPerson(call, chat, person, message)
  }
  const post = chat.messages.at(-1)!
  yield* createEach("comments", comments, (comment) => sendComment(call, bot, post, comment))
})

const createSeedChat = Effect.fnUntraced(function* (
  call: SeedCall,
  { admins, description, is_closed, is_stopped, messages, pinned, ...request }: SeedChat
) {
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
  yield* createEach("messages", messages, (message) => send(call, bot, chat, message))
  if (pinned != null) {
    if (chat.messages[pinned] === undefined)
      return yield* refusal.invalidPayload(`pinned: there is no message ${pinned}`)
    chat.pinned = chat.messages[pinned]
  }
  if (description != null) chat.description = description
  if (is_stopped === true) chat.isSuspended = true
  if (is_closed === true) closeChat(call.state, chat)
  return chat
})

/** Creates users, chats and messages from one document. */
export const seedHandlers = {
  seed: ({ chats, media, silent, unchecked, users }, call) =>
    Effect.gen(function* () {
      const createdUsers = yield* createEach("users", users, (user) => createUser(user, call))
      yield* createEach("media", media, (each) => addMedia(call.state, each))
      const seeding = { ...call, isChecked: unchecked !== true }
      const createdChats = yield* createEach("chats", chats, (chat) => createSeedChat(seeding, chat))
      const bots = [...call.state.bots.values()]
      return { users: createdUsers, chats: createdChats.map((chat) => toChat(call.state, chat, bots[0])) }
    }).pipe(Effect.provideService(IsSilent, silent === true))
} satisfies Partial<Handlers>
