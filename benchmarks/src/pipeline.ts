/**
 * Prints the CPU time of the main thread per update in microseconds, for `Updates.run` with an inbox in memory and for grammY's runner with
 * `sequentialize`: 1,000 chats, ordered per chat, with empty handlers. Both run on one thread without waiting, so this is the
 * time that an idle machine takes, but other programs affect it less. Requires `--expose-gc`, which excludes the creation of the
 * updates from the figure.
 */
import { Inbox, type Update, Updates } from "@colloquy/core"
import { Fixtures } from "@colloquy/testing"
import { createConcurrentSink, createRunner, createSource, sequentialize } from "@grammyjs/runner"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { Bot } from "grammy"
import type { Update as TelegramUpdate, UserFromGetMe } from "grammy/types"
import { printCosts } from "./child.ts"

const rounds = 9
const updates = 100_000
const chats = 1000
const page = 100

const pages = <A>(make: (index: number) => A): ReadonlyArray<ReadonlyArray<A>> =>
  Array.from({ length: updates / page }, (_, at) => Array.from({ length: page }, (_, index) => make(at * page + index)))

/** The CPU time of the main thread, in milliseconds. */
const now = (): number => {
  const { system, user } = process.threadCpuUsage()
  return (user + system) / 1000
}

const expectAll = (handled: number) => {
  if (handled !== updates) throw new Error(`${handled} of ${updates} updates were handled`)
}

const ours = async (): Promise<number> => {
  const arriving = pages((index): Inbox.Received => ({
    decoded: Result.succeed<Update.Update>({
      ...Fixtures.botStarted(),
      chat_id: (1 + (index % chats)) as Update.Of<"bot_started">["chat_id"],
      timestamp: index
    })
  }))
  let handled = 0
  const source = Layer.effect(
    Updates.Updates,
    Inbox.Inbox.use((inbox) =>
      Effect.succeed(
        Updates.Updates.of({
          inbox,
          source: Effect.orDie(Effect.forEach(arriving, (page) => inbox.receive(page), { discard: true }))
        })
      )
    )
  ).pipe(Layer.provide(Inbox.layerMemory()))
  const work = Effect.sync(() => {
    handled++
  })
  gc!()
  const start = now()
  await Effect.runPromise(Updates.run(() => work).pipe(Effect.provide(source)))
  const millis = now() - start
  expectAll(handled)
  return (millis * 1000) / updates
}

const me = { id: 1, is_bot: true, first_name: "Bench", username: "bench_bot" } as UserFromGetMe

const grammy = async (): Promise<number> => {
  const from = { id: 42, is_bot: false, first_name: "Ann" }
  const arriving = pages(
    (index) =>
      ({
        update_id: index + 1,
        message: {
          message_id: index,
          date: 1,
          text: "Hello",
          from,
          chat: { id: 1 + (index % chats), type: "private", first_name: "Ann" }
        }
      }) as TelegramUpdate
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
  const start = now()
  const runner = createRunner(source, sink)
  runner.start()
  await finished.promise
  while (handled < updates) await new Promise((resolve) => setImmediate(resolve))
  const millis = now() - start
  expectAll(handled)
  return (millis * 1000) / updates
}

const costs = { "Updates.run": [] as Array<number>, grammY: [] as Array<number> }
for (let round = -1; round < rounds; round++) {
  const measured = [await ours(), await grammy()]
  if (round < 0) continue
  costs["Updates.run"].push(measured[0])
  costs.grammY.push(measured[1])
}
printCosts(costs)
process.exit(0)
