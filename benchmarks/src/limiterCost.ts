/** Prints the time to acquire a permit of the rate limiter, and of a semaphore, in microseconds. */
import { RateLimiter } from "@colloquy/core"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import { printCosts } from "./child.ts"
import { millisOf, takeTurns } from "./rounds.ts"

const calls = 200_000
const chats = 1000

const costOf = (effects: ReadonlyArray<Effect.Effect<unknown, unknown>>) => {
  const all = Effect.gen(function* () {
    for (let index = 0; index < calls; index++) yield* effects[index % effects.length]
  })
  return async () => ((await millisOf(() => Effect.runPromise(all))) * 1000) / calls
}

const spacious: RateLimiter.Limit = { count: 10_000_000, window: "1 second" }
const settings = { ...RateLimiter.defaults, host: spacious, messages: spacious }
const limiter = await Effect.runPromise(RateLimiter.makeMemory(settings))
const contenders = {
  acquire: costOf(Array.from({ length: chats }, (_, key) => limiter.acquire({ scope: "messages", key }))),
  withPermit: costOf([Semaphore.makeUnsafe(1).withPermit(Effect.void)])
}

printCosts(await takeTurns(contenders, { rounds: 9, warmUps: 2 }))
