import type * as UpdateLog from "@colloquy/core/inbox/UpdateLog"
import { Message } from "@colloquy/core/model/Message"
import type { ChatId } from "@colloquy/core/model/Recipient"
import * as Text from "@colloquy/core/model/Text"
import * as Update from "@colloquy/core/model/Update"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { parseJson } from "../base/json.ts"

/** A message of a seed of the emulator. */
interface SeedMessage {
  readonly user_id?: number
  readonly mid: string
  readonly timestamp: number
  readonly text: string
  readonly format?: string
  readonly attachments?: ReadonlyArray<unknown>
}

/** The emulator has no other attachments of the platform. */
const shownTypes: ReadonlySet<unknown> = new Set(["inline_keyboard", "location"])

const typeOf = (attachment: unknown): unknown =>
  typeof attachment === "object" && attachment !== null && "type" in attachment ? attachment.type : undefined

/** The attachments that the emulator can show, and the text with the types of the others. */
const contentOf = (text: string, attachments: ReadonlyArray<unknown>) => {
  const shown = attachments.filter((attachment) => shownTypes.has(typeOf(attachment)))
  const others = attachments.filter((attachment) => !shownTypes.has(typeOf(attachment)))
  const lines = [...(text === "" ? [] : [text]), ...others.map((attachment) => `(${String(typeOf(attachment))})`)]
  return { text: lines.join("\n"), ...(shown.length === 0 ? {} : { attachments: shown }) }
}

/** The messages of a conversation by their ids. */
type Conversation = Map<string, SeedMessage>

const show = (conversation: Conversation, { body, sender, timestamp }: Message): void => {
  if (body?.mid == null) return
  const hasMarkup = (body.markup ?? []).length > 0
  conversation.set(body.mid, {
    ...(sender == null || sender.is_bot ? {} : { user_id: sender.user_id }),
    mid: body.mid,
    timestamp,
    ...(hasMarkup ? { format: "html" } : {}),
    ...contentOf(hasMarkup ? Text.toHtml(Text.fromBody(body)) : (body.text ?? ""), body.attachments ?? [])
  })
}

const NewContent = Schema.Struct({
  text: Schema.optional(Schema.NullOr(Schema.String)),
  format: Schema.optional(Schema.NullOr(Schema.String)),
  attachments: Schema.optional(Schema.NullOr(Schema.Array(Schema.Unknown)))
})

/** The bot edits a message. The answer of the platform does not have the message. */
const edit = (conversation: Conversation, mid: string, edited: typeof NewContent.Type): void => {
  const message = conversation.get(mid)
  if (message === undefined) return
  const { attachments = [], format, text, ...rest } = message
  const isKept = edited.text == null
  conversation.set(mid, {
    ...rest,
    ...contentOf(isKept ? text : edited.text, edited.attachments ?? attachments),
    ...(isKept ? format && { format } : edited.format && { format: edited.format })
  })
}

const decoder =
  <A>(schema: Schema.Codec<A, unknown>) =>
  (text: string | undefined): A | undefined =>
    Option.getOrUndefined(Option.flatMap(Result.getSuccess(parseJson(text ?? "")), Schema.decodeUnknownOption(schema)))

const readSent = decoder(Schema.Struct({ message: Message }))
const readContent = decoder(NewContent)
const readAnswer = decoder(Schema.Struct({ message: Schema.optional(Schema.NullOr(NewContent)) }))

/** Applies a call of the bot that succeeded. `pressed` is the message of the callback that is answered. */
const apply = (conversation: Conversation, { answer, error, request }: UpdateLog.Call, pressed: string | undefined) => {
  if (request === undefined || error !== undefined) return
  const { body, method, path, query } = request
  const mid = new URLSearchParams(query).get("message_id") ?? ""
  switch (`${method} ${path}`) {
    case "POST /messages": {
      const sent = readSent(answer)
      return sent && show(conversation, sent.message)
    }
    case "PUT /messages":
      return edit(conversation, mid, readContent(body) ?? {})
    case "DELETE /messages":
      return conversation.delete(mid)
    case "POST /answers": {
      const edited = readAnswer(body)?.message
      return edited && pressed !== undefined ? edit(conversation, pressed, edited) : undefined
    }
  }
}

/** Returns the conversation of a chat as a seed of the emulator: its people, and the messages of the people and of the bot. */
export const toSeed = (chat_id: ChatId, story: ReadonlyArray<Pick<UpdateLog.Entry, "calls" | "update">>): object => {
  const conversation: Conversation = new Map()
  const people = new Map<number, object>()
  let type = chat_id > 0 ? "dialog" : "chat"
  for (const { calls, update: text } of story) {
    const decoded = Result.getOrUndefined(Update.parse(text ?? ""))
    const message = decoded && Update.messageOf(decoded)
    if (decoded !== undefined) {
      const user = Update.userOf(decoded)
      if (user !== undefined && !user.is_bot) {
        const { first_name, last_name, user_id, username } = user
        people.set(user_id, { user_id, first_name, last_name, username })
      }
      if (decoded.update_type === "message_removed") conversation.delete(decoded.message_id)
      type = Update.chatTypeOf(decoded) ?? type
    }
    if (message !== undefined) show(conversation, message)
    for (const call of calls) apply(conversation, call, message?.body?.mid ?? undefined)
  }
  const members = [...people.keys()]
  const role = type === "dialog" ? {} : { title: `Chat ${chat_id}`, bot: { admin: true } }
  return {
    users: [...people.values()],
    chats: [
      {
        type,
        chat_id,
        members: type === "dialog" ? members.slice(0, 1) : members,
        ...role,
        messages: [...conversation.values()].toSorted((a, b) => a.timestamp - b.timestamp)
      }
    ],
    silent: true,
    unchecked: true
  }
}
