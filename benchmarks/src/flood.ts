/** Prints the wall time of 10,000 sends through the documented limits in virtual time, in milliseconds. */
import { Messages, RateLimiter } from "@colloquy/core"
import { Emulator } from "@colloquy/testing"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import { printCosts } from "./child.ts"

const rounds = 5
const sends = 10_000
const chats = 100

const flood = Effect.gen(function* () {
  const people = yield* Effect.forEach(Array.from({ length: chats }), () =>
    Effect.tap(Emulator.user("Ann"), (person) => person.start())
  )
  const start = performance.now()
  const send = (index: number) => Messages.send({ user_id: people[index % chats].user_id, text: "Hello" })
  const flooding = yield* Effect.forkChild(
    Effect.forEach(
      Array.from({ length: sends }, (_, index) => index),
      send,
      { concurrency: "unbounded", discard: true }
    )
  )
  yield* TestClock.adjust("10 minutes")
  yield* Fiber.join(flooding)
  return performance.now() - start
}).pipe(
  Effect.provide(Emulator.layerBot({ clientLimits: RateLimiter.defaults }).pipe(Layer.provideMerge(TestClock.layer())))
)

const costs: Array<number> = []
for (let round = -1; round < rounds; round++) {
  const cost = await Effect.runPromise(flood)
  if (round >= 0) costs.push(cost)
}
printCosts({ "10,000 sends": costs })
