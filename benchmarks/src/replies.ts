/**
 * Prints the latency of answers and replies in milliseconds while 10,000 broadcast messages are queued, against
 * servers that allow 30 requests per second: for Colloquy, and for grammY with its throttler. A call that is still
 * queued at the end counts with its time so far.
 */
import { Answers, Keyboard, Messages, RateLimiter } from "@colloquy/core"
import { NodeBot } from "@colloquy/node"
import { Emulator, EmulatorOptions, EmulatorServer } from "@colloquy/testing"
import { apiThrottler } from "@grammyjs/transformer-throttler"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import { Api } from "grammy"
import { printCosts } from "./child.ts"
import { platformLimits, startTelegram } from "./telegram.ts"

const broadcasts = 10_000
const probes = 120
const people = 20
const between = 150
const allowed = 30

const indices = (count: number) => Array.from({ length: count }, (_, index) => index)

const timed = <R>(costs: Array<number>, call: Effect.Effect<unknown, unknown, R>) =>
  Effect.suspend(() => {
    const start = performance.now()
    return Effect.ensuring(
      Effect.ignore(call),
      Effect.sync(() => costs.push(performance.now() - start))
    )
  })

const probing = <R>(costs: Array<number>, probe: (index: number) => Effect.Effect<unknown, unknown, R>) =>
  Effect.gen(function* () {
    const fibers: Array<Fiber.Fiber<unknown>> = []
    for (const index of indices(probes)) {
      yield* Effect.sleep(between * (0.5 + Math.random()))
      fibers.push(yield* Effect.forkChild(timed(costs, probe(index))))
    }
    yield* Effect.sleep("1 second")
    yield* Fiber.interruptAll(fibers)
  })

const ours = Effect.gen(function* () {
  const costs: Array<number> = []
  const url = yield* EmulatorServer.EmulatorServer.use(({ url }) => Effect.succeed(url))
  const visitors = yield* Effect.forEach(indices(people), (index) =>
    Effect.gen(function* () {
      const person = yield* Emulator.user(`Ann ${index}`)
      return { person, ...(yield* person.start()) }
    })
  )
  const bot = NodeBot.layer({ token: "token", baseUrl: url })
  yield* Effect.gen(function* () {
    const keyboard = Keyboard.make([Keyboard.callback("Yes", "yes")])
    const asked = yield* Effect.forEach(visitors, ({ person }) =>
      Messages.send({ user_id: person.user_id, text: "Well?", attachments: [keyboard] })
    )
    const readers = yield* Effect.forEach(indices(2000), (index) =>
      Effect.map(
        Effect.tap(Emulator.user(`Bob ${index}`), (person) => person.start()),
        ({ user_id }) => user_id
      )
    )
    const broadcast = yield* Effect.forEach(
      indices(broadcasts),
      (index) => Messages.send({ user_id: readers[index % readers.length], text: "News" }),
      { concurrency: "unbounded", discard: true }
    ).pipe(RateLimiter.withPriority("broadcast"), Effect.forkChild)
    yield* Effect.sleep("3 seconds")
    yield* probing(costs, (index) => {
      const { chat_id, person } = visitors[index % people]
      const reply = Messages.send({ chat_id, text: "Hello" }).pipe(RateLimiter.withPriority("reply"))
      if (index % 2 === 0) return reply
      return Effect.flatMap(person.press(asked[index % people], "Yes"), (callback_id) =>
        Answers.send({ callback_id: callback_id!, notification: "Thanks" }).pipe(RateLimiter.withChat(chat_id))
      )
    })
    yield* Fiber.interrupt(broadcast)
  }).pipe(Effect.provide(bot))
  return costs
}).pipe(
  Effect.provide(
    EmulatorServer.layer().pipe(
      Layer.provideMerge(
        Emulator.layer({ token: "token", limits: { ...EmulatorOptions.platformLimits, host: allowed } })
      )
    )
  )
)

const theirs = Effect.gen(function* () {
  const costs: Array<number> = []
  const telegram = yield* Effect.promise(() => startTelegram(platformLimits(allowed)))
  const api = new Api("1:token", { apiRoot: telegram.apiRoot })
  api.config.use(apiThrottler())
  const send = (chat: number, text: string) => Effect.promise(() => api.sendMessage(chat, text))
  for (const index of indices(broadcasts)) api.sendMessage(1000 + (index % 2000), "News").catch(() => undefined)
  yield* Effect.sleep("3 seconds")
  yield* probing(costs, (index) => send(1 + (index % people), "Hello"))
  telegram.close()
  return costs
})

printCosts({ Colloquy: await Effect.runPromise(ours), grammY: await Effect.runPromise(theirs) })
process.exit()
