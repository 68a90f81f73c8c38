/**
 * A bot that its parent kills: `kill9-child.ts STORE NAME LOG RUN`. Its source reads updates in pages and resumes
 * after the last committed page. Its handlers append each start and end to the file LOG.
 */
import { Inbox, type Update, Updates } from "@colloquy/core"
import { Fixtures } from "@colloquy/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { openSync, writeSync } from "node:fs"
import { chats, concurrency, isStore, lease, stores, total } from "./kill9-stores.ts"

const page = 50

const [store, name, file, run] = process.argv.slice(2)
if (!isStore(store)) throw new Error(`There is no store ${store}`)

const log = openSync(file, "a")
const write = (what: "begin" | "end", index: number) => Effect.sync(() => writeSync(log, `${run} ${what} ${index}\n`))

const received = (index: number): Inbox.Received => ({
  decoded: Result.succeed<Update.Update>({
    ...Fixtures.botStarted(),
    chat_id: (1 + (index % chats)) as Update.Of<"bot_started">["chat_id"],
    timestamp: index
  })
})

const source = Layer.effect(
  Updates.Updates,
  Effect.gen(function* () {
    const inbox = yield* Inbox.Inbox
    const source = Effect.gen(function* () {
      const committed = Number((yield* inbox.marker("bench")) ?? 0n)
      for (let next = Math.max(0, committed - page); next < total; next += page) {
        const updates = Array.from({ length: page }, (_, index) => received(next + index))
        yield* inbox.receive(updates, { source: "bench", value: BigInt(next + page) })
      }
      return yield* Effect.never
    })
    return Updates.Updates.of({ inbox, source: Effect.orDie(source) })
  })
)

const handle = (update: Update.Update) =>
  Effect.gen(function* () {
    const { timestamp } = update as Update.Of<"bot_started">
    yield* write("begin", timestamp)
    yield* Effect.sleep(1 + (timestamp % 5))
    yield* write("end", timestamp)
  })

await Effect.runPromise(
  Updates.run(handle, { concurrency }).pipe(
    Effect.provide(
      source.pipe(Layer.provide(Inbox.layer({ leaseDuration: lease })), Layer.provide(stores[store](name).inbox))
    )
  )
)
