/**
 * Prints the CPU time of the main thread per update in microseconds, for `Bot.run` with an inbox in memory and for grammY's runner with
 * `sequentialize`: 1,000 chats, ordered per chat, with empty handlers. Both run on one thread without waiting, so this is the
 * time that an idle machine takes, but other programs affect it less. Requires `--expose-gc`, which excludes the creation of the
 * updates from the figure.
 */
import * as Colloquy from "@colloquy/core/bot/Bot"
import { Inbox } from "@colloquy/core"
import { createConcurrentSink, createRunner, createSource, sequentialize } from "@grammyjs/runner"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Bot } from "grammy"
import type { Update as TelegramUpdate } from "grammy/types"
import { printCosts } from "./child.ts"
import { layerSource, pageOf } from "./inbox/traffic.ts"
import { takeTurns, threadTime } from "./rounds.ts"
import { me } from "./telegram.ts"

const updates = 100_000
const chats = 1000
const page = 100

const expectAll = (handled: number) => {
  if (handled !== updates) throw new Error(`${handled} of ${updates} updates were handled`)
}

const ours = async (): Promise<number> => {
  const arriving = Array.from({ length: updates / page }, (_, at) => pageOf(at * page, page, chats))
  let handled = 0
  const bot = layerSource((inbox) => Effect.forEach(arriving, (page) => inbox.receive(page), { discard: true })).pipe(
    Layer.provide(Inbox.layerMemory())
  )
  const work = Effect.sync(() => {
    handled++
  })
  gc!()
  const start = threadTime()
  await Effect.runPromise(Colloquy.run(() => work).pipe(Effect.provide(bot)))
  const took = threadTime() - start
  expectAll(handled)
  return took / updates
}

const grammy = async (): Promise<number> => {
  const from = { id: 42, is_bot: false, first_name: "Ann" }
  const updateAt = (index: number): TelegramUpdate => ({
    update_id: index + 1,
    message: {
      message_id: index,
      date: 1,
      text: "Hello",
      from,
      chat: { id: 1 + (index % chats), type: "private", first_name: "Ann" }
    }
  })
  const arriving = Array.from({ length: updates / page }, (_, at) =>
    Array.from({ length: page }, (_, index) => updateAt(at * page + index))
  )
  let handled = 0
  const bot = new Bot("1:bench", { botInfo: me })
  bot.use(sequentialize((context) => String(context.chat?.id)))
  bot.on("message", () => {
    handled++
  })
  let next = 0
  const finished = Promise.withResolvers<void>()
  const source = createSource<TelegramUpdate>({
    supply: async () => {
      const page = arriving[next++]
      if (page !== undefined) return [...page]
      finished.resolve()
      return new Promise(() => undefined)
    }
  })
  const sink = createConcurrentSink<TelegramUpdate>({ consume: (update) => bot.handleUpdate(update) }, async (error) =>
    finished.reject(error)
  )
  gc!()
  const start = threadTime()
  const runner = createRunner(source, sink)
  runner.start()
  await finished.promise
  while (handled < updates) await new Promise((resolve) => setImmediate(resolve))
  const took = threadTime() - start
  expectAll(handled)
  return took / updates
}

printCosts(await takeTurns({ "Bot.run": ours, grammY: grammy }, { rounds: 9 }))
process.exit(0)
