/**
 * Prints how long hostile responses and updates keep the event loop busy, in milliseconds: the longest stall for each. The
 * parent process sends the responses.
 */
import { type BotApi, Messages, RetryPolicy, Update } from "@colloquy/core"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import { printCosts } from "./child.ts"
import { updates } from "./hostileBodies.ts"
import * as client from "./once/client.ts"
import { threadTime } from "./rounds.ts"

const [url, ...sizes] = process.argv.slice(2)
const [count, updateSize] = sizes.map(Number)

/** CPU time of this thread, in milliseconds, so that other programs of the machine do not count. */
const cpuTime = (): number => threadTime() / 1000

let last = cpuTime()
let longest = 0
// A callback of every turn of the event loop.
const watch = () => {
  const now = cpuTime()
  longest = Math.max(longest, now - last)
  last = now
  setImmediate(watch)
}
watch()

const stallOf = (work: () => Promise<unknown>): Promise<number> =>
  new Promise((resolve, reject) => {
    // The work begins in a turn of its own, and the watch sees the turn after it.
    setTimeout(() => {
      longest = 0
      last = cpuTime()
      work().then(() => setTimeout(() => resolve(longest), 5), reject)
    }, 5)
  })

const program = Effect.gen(function* () {
  const context = yield* Effect.context<BotApi.BotApi>()
  const call = () => Effect.runPromiseWith(context)(Effect.exit(Messages.list({ chat_id: 1 as never, count: 1 })))
  const stalls: Record<string, ReadonlyArray<number>> = {}
  // The first request is not measured: it compiles the schema.
  yield* Effect.promise(call)
  for (let index = 1; index <= count; index++)
    stalls[`response ${index}`] = [yield* Effect.promise(() => stallOf(call))]
  for (const [name, body] of updates(updateSize)) {
    const text = body()
    stalls[name] = [yield* Effect.promise(() => stallOf(async () => Update.parse(text)))]
  }
  return stalls
})

const stalls = await program.pipe(
  Effect.provide([client.layer(url), Logger.layer([])]),
  Effect.provideService(RetryPolicy.RetryPolicy, RetryPolicy.none),
  Effect.runPromise
)
printCosts(stalls)
process.exit(0)
