/**
 * The bot of a soak run. Its parent kills it. It appends the start and the end of each handler to a file, and replies to
 * every fifth message with the number of the message.
 */
import { Bot, Handler, Inbox, LongPolling, Messages, RateLimiter, Update } from "@colloquy/core"
import { NodeBot } from "@colloquy/node"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { openSync, readdirSync, writeSync } from "node:fs"
import { answer, concurrency, replyEvery, token } from "./protocol.ts"
import { type StoreName, stores } from "./stores.ts"

/** What its parent passes to the bot, as JSON. */
export interface BotTask {
  readonly url: string
  readonly store: StoreName
  /** A unique name for the data of the store. */
  readonly name: string
  /** The file for the starts and the ends of handlers. */
  readonly journal: string
  /** How many times the bot was started before. */
  readonly run: number
}

export interface Sample {
  /** After a garbage collection, in bytes. */
  readonly heap: number
  readonly rss: number
  /** Open files and sockets of the process. */
  readonly files: number
  /** What keeps the event loop of Node running: timers, sockets and so on. */
  readonly resources: number
  readonly queued: number
  readonly deadLetters: number
}

export interface BotCommands {
  readonly sample: Sample
}

const task = JSON.parse(process.argv[2]) as BotTask

const journal = openSync(task.journal, "a")

const write = (what: "begin" | "end", number: number) =>
  Effect.sync(() => void writeSync(journal, `${task.run} ${what} ${number}\n`))

const handle = Handler.on("message_created", (update) =>
  Effect.gen(function* () {
    const number = Number(Update.textOf(update))
    yield* write("begin", number)
    if (number % replyEvery === 0) yield* Messages.reply(update, String(number))
    yield* write("end", number)
  })
)

const program = Effect.gen(function* () {
  const { stats } = yield* Inbox.Inbox
  const run = Effect.runPromiseWith(yield* Effect.context<never>())
  answer<BotCommands>({
    sample: async () => {
      globalThis.gc?.()
      const { heapUsed: heap, rss } = process.memoryUsage()
      const { deadLetters, queued } = await run(Effect.orDie(stats))
      return {
        heap,
        rss,
        files: readdirSync("/proc/self/fd").length,
        resources: process.getActiveResourcesInfo().length,
        queued,
        deadLetters
      }
    }
  })
  process.send?.({ isReady: true })
  yield* Bot.run(handle, { concurrency })
})

const client = NodeBot.layerClient({ token, baseUrl: task.url }).pipe(Layer.provideMerge(RateLimiter.layerMemory()))

const inbox = Inbox.layer({ leaseDuration: "2 seconds" }).pipe(Layer.provide(stores[task.store](task.name).inbox))

process.on("disconnect", () => process.exit())
await Effect.runPromise(
  Effect.provide(program, LongPolling.layer({ limit: 500 }).pipe(Layer.provideMerge(client), Layer.provideMerge(inbox)))
)
