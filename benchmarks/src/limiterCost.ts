/** Prints the time to acquire a permit of the rate limiter, and of a semaphore, in microseconds. */
import { RateLimiter } from "@colloquy/core"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import { printCosts } from "./child.ts"

const rounds = 9
const calls = 200_000
const chats = 1000

const repeat = (effects: ReadonlyArray<Effect.Effect<unknown, unknown>>) =>
  Effect.gen(function* () {
    for (let index = 0; index < calls; index++) yield* effects[index % effects.length]
  })

const measure = async (effect: Effect.Effect<unknown, unknown>): Promise<number> => {
  const start = performance.now()
  await Effect.runPromise(effect)
  return ((performance.now() - start) * 1000) / calls
}

const spacious: RateLimiter.Limit = { count: 10_000_000, window: "1 second" }
const settings = { ...RateLimiter.defaults, host: spacious, messages: spacious }
const limiter = await Effect.runPromise(RateLimiter.makeMemory(settings))
const contenders = {
  acquire: repeat(Array.from({ length: chats }, (_, key) => limiter.acquire({ scope: "messages", key }))),
  withPermit: repeat([Semaphore.makeUnsafe(1).withPermit(Effect.void)])
}

const costs = Object.fromEntries(Object.keys(contenders).map((name) => [name, new Array<number>()]))
for (let round = -2; round < rounds; round++) {
  for (const [name, effect] of Object.entries(contenders)) {
    const cost = await measure(effect)
    if (round >= 0) costs[name].push(cost)
  }
}
printCosts(costs)
