/**
 * A bot that its parent kills: `kill9Bot.ts STORE NAME LOG RUN`. Its source reads updates in pages and resumes
 * after the last committed page. Its handlers append each start and end to the file LOG.
 */
import { Inbox, type Update, Updates } from "@colloquy/core"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { openSync, writeSync } from "node:fs"
import { chats, concurrency, lease, total } from "./kill9.ts"
import * as places from "./places.ts"
import { indexOf, layerSource, pageOf } from "./traffic.ts"

const page = 50

const [store, name, file, run] = process.argv.slice(2)
const place = places.fromArguments([store!, name!])

const log = openSync(file!, "a")
const write = (what: "begin" | "end", index: number) => Effect.sync(() => writeSync(log, `${run} ${what} ${index}\n`))

const source = layerSource((inbox) =>
  Effect.gen(function* () {
    const committed = Number((yield* inbox.marker("bench")) ?? 0n)
    for (let next = Math.max(0, committed - page); next < total; next += page) {
      yield* inbox.receive(pageOf(next, page, chats), { source: "bench", value: BigInt(next + page) })
    }
    return yield* Effect.never
  })
)

const handle = (update: Update.Update) =>
  Effect.gen(function* () {
    const index = indexOf(update)
    yield* write("begin", index)
    yield* Effect.sleep(1 + (index % 5))
    yield* write("end", index)
  })

await Effect.runPromise(
  Updates.run(handle, { concurrency }).pipe(
    Effect.provide(
      source.pipe(Layer.provide(Inbox.layer({ leaseDuration: lease })), Layer.provide(places.layer(place)))
    )
  )
)
