/**
 * A small Telegram Bot API for grammY that keeps what is said: it delivers updates by `getUpdates` until they are confirmed, and
 * records the messages of the bot with their buttons.
 */
import type { Message, Update } from "grammy/types"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import type { UserFromGetMe } from "grammy/types"

export const me = {
  id: 7,
  is_bot: true,
  first_name: "Pizza",
  username: "pizza_bot",
  can_join_groups: true,
  can_read_all_group_messages: false,
  supports_inline_queries: false
} as UserFromGetMe

/** A message of the bot as it stands in the chat. */
export interface Said {
  readonly message_id: number
  readonly chat_id: number
  text: string
  buttons: ReadonlyArray<{ readonly text: string; readonly data: string }>
}

interface Call {
  readonly chat_id?: number
  readonly message_id?: number
  readonly text?: string
  readonly offset?: number
  readonly callback_query_id?: string
  readonly reply_markup?: {
    readonly inline_keyboard?: ReadonlyArray<ReadonlyArray<{ readonly text: string; readonly callback_data?: string }>>
  }
}

const chatOf = (id: number) => ({ id, first_name: "Ann", username: "ann", type: "private" as const })

const userOf = (id: number) => ({ id, is_bot: false, first_name: "Ann", username: "ann", language_code: "en" })

/** A text that a person writes to the bot. */
export const written = (update_id: number, chat_id: number, text: string): Update => ({
  update_id,
  message: {
    message_id: 100_000 + update_id,
    from: userOf(chat_id),
    chat: chatOf(chat_id),
    date: 1_774_000_000 + update_id,
    text,
    ...(text.startsWith("/") ? { entities: [{ offset: 0, length: text.length, type: "bot_command" as const }] } : {})
  }
})

export const start = async () => {
  const said: Array<Said> = []
  const answers: Array<string> = []
  const updates: Array<Update> = []
  let messages = 0
  let beforeResponse: (text: string) => Promise<void> = () => Promise.resolve()
  let lastUpdate = 0

  const messageOf = ({ buttons, chat_id, message_id, text }: Said) =>
    ({
      message_id,
      from: me,
      chat: chatOf(chat_id),
      date: 1_774_000_000,
      text,
      ...(buttons.length === 0
        ? {}
        : { reply_markup: { inline_keyboard: buttons.map(({ data, text }) => [{ text, callback_data: data }]) } })
    }) as Message.TextMessage

  const buttonsOf = ({ reply_markup }: Call) =>
    (reply_markup?.inline_keyboard ?? []).flat().map(({ callback_data = "", text }) => ({ text, data: callback_data }))

  const methods: Readonly<Record<string, (call: Call) => unknown>> = {
    getMe: () => me,
    getUpdates: ({ offset = 0 }) => {
      while (updates.length > 0 && updates[0].update_id < offset) updates.shift()
      return updates
    },
    sendMessage: (call) => {
      const message = { message_id: ++messages, chat_id: call.chat_id!, text: call.text!, buttons: buttonsOf(call) }
      said.push(message)
      return messageOf(message)
    },
    editMessageText: (call) => edited(call),
    editMessageReplyMarkup: (call) => edited(call),
    answerCallbackQuery: ({ text = "" }) => {
      answers.push(text)
      return true
    }
  }

  const edited = (call: Call) => {
    const message = said.find(({ message_id }) => message_id === call.message_id)!
    if (call.text !== undefined) message.text = call.text
    message.buttons = buttonsOf(call)
    return messageOf(message)
  }

  const server = createServer(async (request, response) => {
    let text = ""
    for await (const chunk of request) text += String(chunk)
    const method = methods[request.url!.split("/").at(-1)!]
    const call = JSON.parse(text || "{}") as Call
    const body = JSON.stringify({ ok: true, result: method === undefined ? true : method(call) })
    await beforeResponse(call.text ?? "")
    response.writeHead(200, { "content-type": "application/json" }).end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo

  return {
    apiRoot: `http://127.0.0.1:${port}`,
    /** The messages of the bot, as they stand in the chats. */
    said,
    /** The notifications after presses of buttons. */
    answers,
    /** Runs a function with the text of each call after it was carried out, before the response. */
    intercept: (run: (text: string) => Promise<void>) => void (beforeResponse = run),
    write: (chat_id: number, text: string) => void updates.push(written(++lastUpdate, chat_id, text)),
    press: (message: Said, label: string) => {
      const button = message.buttons.find(({ text }) => text.includes(label))
      if (button === undefined) throw new Error(`"${message.text}" has no button "${label}"`)
      updates.push({
        update_id: ++lastUpdate,
        callback_query: {
          id: String(lastUpdate),
          from: userOf(message.chat_id),
          chat_instance: "1",
          message: messageOf(message),
          data: button.data
        }
      })
    },
    close: () => {
      server.close()
      server.closeAllConnections()
    }
  }
}
