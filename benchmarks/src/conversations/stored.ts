/**
 * Prints what a conversation of 20 turns leaves: `bytes`, that a conversation stores while it waits, `grammY`, the size of the
 * file of the same conversation of `@grammyjs/conversations`, and `rows`, that are left after the end.
 */
import {
  type Conversation as Plugin,
  type ConversationFlavor,
  conversations,
  createConversation
} from "@grammyjs/conversations"
import { Inbox, Updates } from "@colloquy/core"
import { FileAdapter } from "@grammyjs/storage-file"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as ManagedRuntime from "effect/ManagedRuntime"
import { Bot, type Context } from "grammy"
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { printCosts } from "../child.ts"
import * as places from "../inbox/places.ts"
import { layerSource } from "../inbox/traffic.ts"
import { answerOf, botOf, makeForm, questionOf, writeAll } from "./form.ts"
import * as platform from "./platform.ts"
import * as telegram from "./telegram.ts"

const turns = 20

const chats = 20

/** What belongs to a conversation. The other tables are of the inbox. */
const tables = ["states", "timers", "journal", "updates"]

const sizeOf = (value: unknown): number =>
  typeof value === "string" ? Buffer.byteLength(value) : value === null ? 0 : 8

const rowsIn = (place: places.Place) => {
  const database = new DatabaseSync(join(tmpdir(), place.name, "inbox.sqlite"), { readOnly: true })
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
    const runtime = ManagedRuntime.make(
      layerSource(() => Effect.never).pipe(
        Layer.provideMerge(Inbox.layer()),
        Layer.provide(places.layer(place)),
        Layer.provideMerge(platform.layer()),
        Layer.provideMerge(Logger.layer([]))
      )
    )
    const write = (at: number, text: string) => runtime.runPromise(writeAll(chats, at, text))
    runtime.runFork(Updates.run(botOf(makeForm(turns + 1))))
    try {
      await write(1, "/begin")
      for (let index = 1; index <= turns; index++) await write(1 + index, answerOf(index))
      const rows = rowsIn(place)
      if (rows.length === 0) throw new Error("Nothing is stored")
      const bytes = rows.flatMap((row) => Object.values(row)).reduce<number>((sum, value) => sum + sizeOf(value), 0)
      await write(2 + turns, answerOf(turns + 1))
      return { bytes: bytes / chats, rows: rowsIn(place).length }
    } finally {
      await runtime.dispose()
    }
  })

type Talking = ConversationFlavor<Context>

const theirs = async () => {
  const directory = mkdtempSync(join(tmpdir(), "colloquy_bench_"))
  const api = await telegram.start()
  try {
    const bot = new Bot<Talking>("1:token", { botInfo: telegram.me, client: { apiRoot: api.apiRoot } })
    bot.use(conversations({ storage: { type: "key", adapter: new FileAdapter({ dirName: directory }) } }))
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
      const write = (at: number, text: string) => bot.handleUpdate(telegram.written(chat * 1000 + at, chat, text))
      await write(1, "/begin")
      for (let index = 1; index <= turns; index++) await write(1 + index, answerOf(index))
    }
    if (api.said.length !== chats * (turns + 1)) throw new Error(`grammY has sent ${api.said.length} messages`)
    const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    if (files.length !== chats) throw new Error(`grammY has stored ${files.length} files`)
    return files.reduce((sum, { name, parentPath }) => sum + statSync(join(parentPath, name)).size, 0) / chats
  } finally {
    api.close()
    rmSync(directory, { recursive: true })
  }
}

const { bytes, rows } = await ours()
printCosts({ bytes: [bytes], grammY: [await theirs()], rows: [rows] })
