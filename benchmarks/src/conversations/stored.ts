/**
 * Prints what a conversation of 20 turns leaves: `conversation`, the bytes that a conversation stores while it waits, `grammY`, the size of the
 * file of the same conversation of `@grammyjs/conversations`, and `rows`, that are left after the end.
 */
import {
  type Conversation as Plugin,
  type ConversationFlavor,
  conversations,
  createConversation
} from "@grammyjs/conversations"
import { FileAdapter } from "@grammyjs/storage-file"
import { Bot, type Context } from "grammy"
import type { Update } from "grammy/types"
import { readdirSync, statSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { printCosts } from "../child.ts"
import * as places from "../inbox/places.ts"
import { me, startTelegram, unlimited } from "../telegram.ts"
import { answerOf, makeForm, questionOf, runForm } from "./form.ts"
import * as platform from "./platform.ts"

const turns = 20

const chats = 20

/** What belongs to a conversation. The other tables are of the inbox. */
const tables = ["states", "timers", "journal", "updates"]

const sizeOf = (value: unknown): number =>
  typeof value === "string" ? Buffer.byteLength(value) : value === null ? 0 : 8

const rowsIn = (place: places.Place) => {
  const database = new DatabaseSync(places.fileOf(place, "inbox.sqlite"), { readOnly: true })
  try {
    const names = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all() as Array<{
      name: string
    }>
    const rows = names
      .filter(({ name }) => tables.some((table) => name.endsWith(`_${table}`)))
      .map(({ name }) => database.prepare(`SELECT * FROM ${name}`).all())
    if (rows.length !== tables.length) throw new Error(`The store does not have the tables ${tables.join(", ")}`)
    return rows.flat()
  } finally {
    database.close()
  }
}

const ours = () =>
  places.withPlace("sqlite", async (place) => {
    const { runtime, write } = runForm(place, makeForm(turns + 1), platform.layer())
    try {
      await write(chats, 1, "/begin")
      for (let index = 1; index <= turns; index++) await write(chats, 1 + index, answerOf(index))
      const rows = rowsIn(place)
      if (rows.length === 0) throw new Error("Nothing is stored")
      const bytes = rows.flatMap((row) => Object.values(row)).reduce<number>((sum, value) => sum + sizeOf(value), 0)
      await write(chats, 2 + turns, answerOf(turns + 1))
      return { bytes: bytes / chats, rows: rowsIn(place).length }
    } finally {
      await runtime.dispose()
    }
  })

type Talking = ConversationFlavor<Context>

/** A text that a person writes to the bot. */
const written = (update_id: number, chat: number, text: string): Update => ({
  update_id,
  message: {
    message_id: 100_000 + update_id,
    from: { id: chat, is_bot: false, first_name: "Ann", username: "ann", language_code: "en" },
    chat: { id: chat, first_name: "Ann", username: "ann", type: "private" },
    date: 1_774_000_000 + update_id,
    text,
    ...(text.startsWith("/") ? { entities: [{ offset: 0, length: text.length, type: "bot_command" }] } : {})
  }
})

const theirs = () =>
  places.withPlace("sqlite", async (place) => {
    const dirName = places.fileOf(place, ".")
    const api = await startTelegram(unlimited)
    const bot = new Bot<Talking>("1:token", { botInfo: me, client: { apiRoot: api.apiRoot } })
    bot.use(conversations({ storage: { type: "key", adapter: new FileAdapter({ dirName }) } }))
    const form = async (conversation: Plugin<Talking, Context>, context: Context) => {
      const answers: Array<string> = []
      for (let index = 1; index <= turns + 1; index++) {
        await context.reply(questionOf(index))
        answers.push((await conversation.waitFor("message:text")).message.text)
      }
      await context.reply(`Thank you for ${answers.length} answers.`)
    }
    bot.use(createConversation(form))
    bot.command("begin", (context) => context.conversation.enter("form"))
    for (let chat = 1; chat <= chats; chat++) {
      const write = (at: number, text: string) => bot.handleUpdate(written(chat * 1000 + at, chat, text))
      await write(1, "/begin")
      for (let index = 1; index <= turns; index++) await write(1 + index, answerOf(index))
    }
    const sent = api.counts.accepted
    api.close()
    if (sent !== chats * (turns + 1)) throw new Error(`grammY has sent ${sent} messages`)
    const files = readdirSync(dirName, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    if (files.length !== chats) throw new Error(`grammY has stored ${files.length} files`)
    return files.reduce((sum, { name, parentPath }) => sum + statSync(join(parentPath, name)).size, 0) / chats
  })

const { bytes, rows } = await ours()
printCosts({ conversation: [bytes], grammY: [await theirs()], rows: [rows] })
