/**
 * Prints the CPU time of a send through the client, the documented limits and the emulator in virtual time, and that of a
 * bare call of the emulator's handler that writes the request and parses the response as JSON, in microseconds.
 */
import { Messages, RateLimiter } from "@colloquy/core"
import { Emulator, type EmulatorHttp } from "@colloquy/testing"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { printCosts } from "./child.ts"
import { cpuTime } from "./rounds.ts"

const rounds = 9
const sends = 10_000
const chats = 100

const indices = Array.from({ length: sends }, (_, index) => index)

const hosts = {
  image: "https://i.example",
  video: "https://v.example",
  audio: "https://a.example",
  file: "https://f.example"
}

const cpuOf = <E, R>(run: Effect.Effect<unknown, E, R>): Effect.Effect<number, E, R> =>
  Effect.gen(function* () {
    const before = cpuTime()
    yield* run
    return (cpuTime() - before) / sends
  })

const round = Effect.gen(function* () {
  const people = yield* Effect.forEach(Array.from({ length: chats }), () =>
    Effect.tap(Emulator.user("Ann"), (person) => person.start())
  )
  const emulator = yield* Emulator.Emulator
  const userOf = (index: number) => people[index % chats].user_id

  const call = (index: number) => {
    const text = JSON.stringify({ text: "Hello" })
    const request: EmulatorHttp.Request = {
      method: "POST",
      path: "/messages",
      query: `?user_id=${userOf(index)}`,
      headers: {
        authorization: Redacted.value(emulator.token),
        "content-type": "application/json",
        "content-length": String(text.length)
      },
      body: { text: Effect.succeed(text), bytes: Stream.empty },
      listener: { kind: "api", uploads: hosts }
    }
    return Effect.map(emulator.handle(request), ({ body, status }) => {
      if (status !== 200) throw new Error(`The emulator refused a call: ${body}`)
      return JSON.parse(body) as unknown
    })
  }
  const send = (index: number) => Messages.send({ user_id: userOf(index), text: "Hello" })

  const bare = yield* cpuOf(Effect.forEach(indices, call, { discard: true }))
  const flood = yield* cpuOf(
    Effect.gen(function* () {
      const flooding = yield* Effect.forkChild(
        Effect.forEach(indices, send, { concurrency: "unbounded", discard: true })
      )
      yield* TestClock.adjust("10 minutes")
      yield* Fiber.join(flooding)
    })
  )
  return { bare, send: flood }
}).pipe(
  Effect.provide(Emulator.layerBot({ clientLimits: RateLimiter.defaults }).pipe(Layer.provideMerge(TestClock.layer())))
)

const costs = { send: new Array<number>(), bare: new Array<number>() }
for (let number = -2; number < rounds; number++) {
  const cost = await Effect.runPromise(round)
  if (number < 0) continue
  costs.send.push(cost.send)
  costs.bare.push(cost.bare)
}
printCosts(costs)
