/** Prints the wall time of eight hours of webhook retries in virtual time, in milliseconds. */
import { Subscriptions } from "@colloquy/core"
import { Emulator } from "@colloquy/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as TestClock from "effect/testing/TestClock"
import { printCosts } from "./child.ts"
import { takeTurns } from "./rounds.ts"

const updates = 1000

const retries = Effect.gen(function* () {
  const url = "https://bot.example/updates"
  yield* Emulator.receive(url, () => Effect.succeed({ status: 500 }))
  const visitor = yield* Emulator.user("Ann")
  yield* Subscriptions.subscribe({ url })
  for (let index = 0; index < updates; index++) yield* visitor.send("Hello")
  const start = performance.now()
  yield* TestClock.adjust("9 hours")
  const millis = performance.now() - start
  const left = yield* Subscriptions.list()
  const attempts = (yield* Emulator.deliveries).length
  if (left.length > 0 || attempts < 8 * updates) throw new Error(`${attempts} attempts, ${left.length} subscriptions`)
  return millis
}).pipe(
  Effect.scoped,
  Effect.provide(Emulator.layerBot().pipe(Layer.provideMerge(TestClock.layer()), Layer.merge(Logger.layer([]))))
)

printCosts(await takeTurns({ retries: () => Effect.runPromise(retries) }, { rounds: 5 }))
