import { RateLimiter } from "@colloquy/core"
import { RedisRateLimiter } from "@colloquy/node"
import { RateLimiterSuite } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Redis from "effect/persistence/Redis"
import { isSkipped, layer, prefix } from "./support/redis.ts"

const { settings } = RateLimiterSuite

const window = 300

const many = (count: number) => Array.from({ length: count }, (_, index) => index)

const limiterAt = (prefix: string, options: Partial<RedisRateLimiter.Options> = {}) =>
  Effect.map(
    Layer.build(RedisRateLimiter.layer({ ...settings, prefix, ...options }).pipe(Layer.provide(layer))),
    Context.get(RateLimiter.RateLimiter)
  )

const mostIn = (times: ReadonlyArray<number>) =>
  Math.max(...times.map((start) => times.filter((at) => at >= start && at < start + window).length))

describe.skipIf(isSkipped)("the limiter in Redis", () => {
  for (const { effect, name } of RateLimiterSuite.cases) {
    it.live(name, () =>
      Effect.flatMap(prefix, (prefix) =>
        Effect.provide(effect, RedisRateLimiter.layer({ ...settings, prefix }).pipe(Layer.provide(layer)))
      )
    )
  }
})

describe.skipIf(isSkipped)("several processes with one limit", () => {
  it.live("let no more go together than the limits allow, and take turns", () =>
    Effect.gen(function* () {
      const name = yield* prefix
      const limiters = yield* Effect.forEach(many(3), () => limiterAt(name))
      const gone: Array<{ readonly who: number; readonly chat: number; readonly at: number }> = []
      yield* Effect.forEach(
        many(60),
        (index) =>
          Effect.map(
            limiters[index % 3].acquire({ scope: "messages", key: index % 20 }),
            ({ at }) => void gone.push({ who: index % 3, chat: index % 20, at })
          ),
        { concurrency: "unbounded", discard: true }
      )
      assert.isAtMost(mostIn(gone.map(({ at }) => at)), 6)
      for (const [, inChat] of Map.groupBy(gone, ({ chat }) => chat)) {
        assert.isAtMost(mostIn(inChat.map(({ at }) => at)), 2)
      }
      const early = gone.slice(0, 45)
      for (const who of many(3)) {
        assert.isAtLeast(early.filter((departure) => departure.who === who).length, 9, `process ${who}`)
      }
    })
  )

  it.live("pause and learn together", () =>
    Effect.gen(function* () {
      const name = yield* prefix
      const [one, other] = yield* Effect.forEach(many(2), () => limiterAt(name))
      const answer = (limiter: RateLimiter.RateLimiter["Service"]) =>
        RateLimiter.withPriority(limiter.acquire(undefined), "answer")
      const departures = yield* Effect.forEach(many(6), () => answer(one))
      yield* Effect.forEach(departures.slice(3), (refused) => one.onRateLimited(refused, Duration.millis(400)))
      const times = yield* Effect.forEach(many(9), () => Effect.map(answer(other), ({ at }) => at), {
        concurrency: "unbounded"
      })
      assert.isAtLeast(Math.min(...times) - departures[5].at, 400)
      assert.isAtMost(mostIn(times), 3)
      assert.strictEqual((yield* other.status).allowed, 3)
    })
  )

  it.live("leave nothing in Redis of a chat that is quiet, and soon nothing at all", () =>
    Effect.gen(function* () {
      const name = yield* prefix
      const limiter = yield* limiterAt(name)
      yield* Effect.forEach(many(6), (key) =>
        RateLimiter.withPriority(limiter.acquire({ scope: "messages", key }), "reply")
      )
      const ttls = yield* Redis.Redis.use((redis) =>
        Effect.flatMap(redis.send<ReadonlyArray<string>>("KEYS", `*${name}*`), (keys) =>
          Effect.forEach(keys, (key) => Effect.map(redis.send<number>("PTTL", key), (ttl) => [key, ttl] as const))
        )
      ).pipe(Effect.provide(layer))
      assert.isAtLeast(ttls.length, 7)
      for (const [key, ttl] of ttls) {
        assert.isAbove(ttl, 0, key)
        if (key.includes(":messages:")) assert.isAtMost(ttl, window + 1100, key)
      }
    })
  )
})

/** A Redis that can be switched off, and what was logged. */
const switchable = Effect.gen(function* () {
  let isOn = true
  const redis = Context.get(yield* Layer.build(layer), Redis.Redis)
  const off = Effect.fail(new Redis.RedisError({ cause: new Error("switched off") }))
  const logged: Array<string> = []
  const context = Layer.succeed(Redis.Redis, {
    ...redis,
    eval:
      (script) =>
      (...params) =>
        Effect.suspend(() => (isOn ? redis.eval(script)(...params) : off))
  })
  const logger = Logger.layer([Logger.make(({ message }) => void logged.push(String(message)))])
  return { context, logger, logged, set: (on: boolean) => Effect.sync(() => (isOn = on)) }
})

describe.skipIf(isSkipped)("while Redis is away", () => {
  const run = (
    whenAway: RedisRateLimiter.Options["whenAway"],
    test: (t: {
      readonly limiter: RateLimiter.RateLimiter["Service"]
      readonly logged: ReadonlyArray<string>
      readonly set: (on: boolean) => Effect.Effect<unknown>
    }) => Effect.Effect<void, unknown>
  ) =>
    Effect.gen(function* () {
      const name = yield* prefix
      const { context, logged, logger, set } = yield* switchable
      yield* RateLimiter.RateLimiter.use((limiter) => test({ limiter, logged, set })).pipe(
        Effect.provide(
          RedisRateLimiter.layer({ ...settings, prefix: name, whenAway }).pipe(
            Layer.provide(context),
            Layer.provideMerge(logger)
          )
        )
      )
    })

  it.live("calls wait, a log says so, and they go on when it is back", () =>
    run("wait", ({ limiter, logged, set }) =>
      Effect.gen(function* () {
        yield* set(false)
        const waiting = yield* Effect.forkChild(limiter.acquire(undefined), { startImmediately: true })
        while (logged.length === 0) yield* Effect.sleep(10)
        assert.include(logged[0], "calls wait")
        assert.isUndefined(waiting.pollUnsafe())
        yield* set(true)
        yield* Fiber.join(waiting)
        assert.include(logged.join("\n"), "is back")
      })
    )
  )

  it.live("calls go by a share of the limits, a log says so, and they share again when it is back", () =>
    run({ share: 0.5 }, ({ limiter, logged, set }) =>
      Effect.gen(function* () {
        yield* limiter.acquire(undefined)
        yield* set(false)
        const answer = RateLimiter.withPriority(limiter.acquire(undefined), "answer")
        const departures = yield* Effect.forEach(many(9), () => answer, { concurrency: "unbounded" })
        assert.isAtMost(mostIn(departures.map(({ at }) => at)), 3)
        assert.include(logged[0], "0.5 of the limits")
        yield* set(true)
        while (logged.length === 1) yield* Effect.andThen(answer, Effect.sleep(50))
        assert.include(logged[1], "is back")
      })
    )
  )
})

describe.skipIf(isSkipped)("what cannot be read in Redis", () => {
  it.live("counts as Redis being away, and ends when it can", () =>
    Effect.gen(function* () {
      const name = yield* prefix
      const limiter = yield* limiterAt(name)
      const { send } = Context.get(yield* Layer.build(layer), Redis.Redis)
      const state = `{${name}}:state`
      yield* send("SET", state, "not a hash")
      const waiting = yield* Effect.forkChild(limiter.acquire(undefined), { startImmediately: true })
      yield* Effect.sleep(100)
      assert.isUndefined(waiting.pollUnsafe())
      yield* send("DEL", state)
      yield* Fiber.join(waiting)
    })
  )
})
