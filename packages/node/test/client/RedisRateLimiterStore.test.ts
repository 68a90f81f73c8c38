import { RateLimiter } from "@colloquy/core"
import { RedisRateLimiterStore } from "@colloquy/node"
import * as RateLimiterSuite from "@colloquy/testing/stores/RateLimiterSuite"
import { assert, describe, it } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Redis from "effect/persistence/Redis"
import { isSkipped, layer, prefix } from "../support/redis.ts"
import { inVirtualTime } from "../support/virtualRedis.ts"

const { options } = RateLimiterSuite

const window = 300

const many = (count: number) => Array.from({ length: count }, (_, index) => index)

const limiterLayer = (prefix: string, shared: RateLimiter.SharedOptions = {}) =>
  RateLimiter.layer({ ...options, ...shared }).pipe(Layer.provide(RedisRateLimiterStore.layer({ prefix })))

const limiterOf = (prefix: string, shared?: RateLimiter.SharedOptions) =>
  Effect.map(Layer.build(limiterLayer(prefix, shared)), Context.get(RateLimiter.RateLimiter))

const maxInWindow = (times: ReadonlyArray<number>) =>
  Math.max(...times.map((start) => times.filter((at) => at >= start && at < start + window).length))

describe.skipIf(isSkipped)("RateLimiter.layer on RedisRateLimiterStore", () => {
  for (const { effect, name } of RateLimiterSuite.cases) {
    it.effect(name, () =>
      Effect.flatMap(prefix, (prefix) => inVirtualTime(Effect.provide(effect, limiterLayer(prefix)))).pipe(
        Effect.provide(layer)
      )
    )
  }

  it.live("reads its prefix from Config", () =>
    Effect.gen(function* () {
      const name = yield* prefix
      const store = RedisRateLimiterStore.layerConfig({ prefix: Config.String("BOT_NAME") }).pipe(
        Layer.provide(layer),
        Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env: { BOT_NAME: name } })))
      )
      const limiter = RateLimiter.layerConfig({ host: Config.succeed({ count: 1, window: "100 millis" }) })
      yield* RateLimiter.RateLimiter.use((limiter) => limiter.acquire(undefined)).pipe(
        Effect.provide(limiter.pipe(Layer.provide(store)))
      )
      const keys = yield* Redis.Redis.use((redis) => redis.send<ReadonlyArray<string>>("KEYS", `*${name}*`)).pipe(
        Effect.provide(layer)
      )
      assert.include(keys, `{${name}:rateLimiter}:host`)
    })
  )
})

describe.skipIf(isSkipped)("RedisRateLimiterStore", () => {
  for (const { effect, name } of RateLimiterSuite.storeCases) {
    it.effect(name, () =>
      Effect.flatMap(prefix, (prefix) =>
        inVirtualTime(Effect.provide(effect, RedisRateLimiterStore.layer({ prefix })))
      ).pipe(Effect.provide(layer))
    )
  }
})

describe.skipIf(isSkipped)("Several processes that share a store", () => {
  it.effect("exceed no limit together, and receive permits alternately", () =>
    Effect.gen(function* () {
      const name = yield* prefix
      const limiters = yield* Effect.forEach(many(3), () => limiterOf(name))
      const permits: Array<{ readonly process: number; readonly chat: number; readonly at: number }> = []
      yield* Effect.forEach(
        many(60),
        (index) =>
          Effect.map(
            limiters[index % 3].acquire({ scope: "messages", key: index % 20 }),
            ({ at }) => void permits.push({ process: index % 3, chat: index % 20, at })
          ),
        { concurrency: "unbounded", discard: true }
      )
      assert.isAtMost(maxInWindow(permits.map(({ at }) => at)), 6)
      for (const [, inChat] of Map.groupBy(permits, ({ chat }) => chat)) {
        assert.isAtMost(maxInWindow(inChat.map(({ at }) => at)), 2)
      }
      const early = permits.slice(0, 45)
      for (const process of many(3)) {
        assert.isAtLeast(early.filter((permit) => permit.process === process).length, 9, `process ${process}`)
      }
    }).pipe(inVirtualTime, Effect.provide(layer))
  )

  it.effect("share pauses and lowered limits", () =>
    Effect.gen(function* () {
      const name = yield* prefix
      const [one, other] = yield* Effect.forEach(many(2), () => limiterOf(name))
      const acquire = (limiter: RateLimiter.RateLimiter["Service"]) =>
        RateLimiter.withPriority(limiter.acquire(undefined), "answer")
      const permits = yield* Effect.forEach(many(6), () => acquire(one))
      yield* Effect.forEach(permits.slice(3), (permit) => permit.rejected(Duration.millis(400)))
      const times = yield* Effect.forEach(many(9), () => Effect.map(acquire(other), ({ at }) => at), {
        concurrency: "unbounded"
      })
      assert.isAtLeast(Math.min(...times) - permits[5].at, 400)
      assert.isAtMost(maxInWindow(times), 3)
      assert.strictEqual((yield* other.status).hostLimit, 3)
    }).pipe(inVirtualTime, Effect.provide(layer))
  )

  it.live("leave only keys in Redis that expire", () =>
    Effect.gen(function* () {
      const name = yield* prefix
      // The keys of the chats are still there when they are listed.
      const limiter = yield* limiterOf(name, { messages: { count: 2, window: 60_000 } })
      yield* Effect.forEach(many(6), (key) =>
        RateLimiter.withPriority(limiter.acquire({ scope: "messages", key }), "reply")
      )
      const ttls = yield* Redis.Redis.use((redis) =>
        Effect.flatMap(redis.send<ReadonlyArray<string>>("KEYS", `*${name}*`), (keys) =>
          Effect.forEach(keys, (key) => Effect.map(redis.send<number>("PTTL", key), (ttl) => [key, ttl] as const))
        )
      )
      assert.lengthOf(
        ttls.filter(([key]) => key.includes(":messages:")),
        6
      )
      for (const [key, ttl] of ttls) {
        // -1 is a key that does not expire.
        assert.notStrictEqual(ttl, -1, key)
        // The window with its margin, the longest delay of 250 milliseconds, and a second.
        if (key.includes(":messages:")) assert.isAtMost(ttl, 61_261, key)
      }
    }).pipe(Effect.provide(layer))
  )
})

/** A Redis that can be switched off, and the logged messages. */
const switchable = Effect.gen(function* () {
  let isOn = true
  const redis = Context.get(yield* Layer.build(layer), Redis.Redis)
  const off = Effect.fail(new Redis.RedisError({ cause: new Error("switched off") }))
  const logs: Array<string> = []
  const context = Layer.succeed(Redis.Redis, {
    ...redis,
    eval:
      (script) =>
      (...params) =>
        Effect.suspend(() => (isOn ? redis.eval(script)(...params) : off))
  })
  const logger = Logger.layer([Logger.make(({ message }) => void logs.push(String(message)))])
  return { context, logger, logs, set: (on: boolean) => Effect.sync(() => (isOn = on)) }
})

describe.skipIf(isSkipped)("While Redis is unavailable, calls", () => {
  const run = (
    onUnavailable: RateLimiter.SharedOptions["onUnavailable"],
    test: (t: {
      readonly limiter: RateLimiter.RateLimiter["Service"]
      readonly logs: ReadonlyArray<string>
      readonly set: (on: boolean) => Effect.Effect<unknown>
    }) => Effect.Effect<void, unknown>
  ) =>
    Effect.gen(function* () {
      const name = yield* prefix
      const { context, logs, logger, set } = yield* switchable
      yield* RateLimiter.RateLimiter.use((limiter) => test({ limiter, logs, set })).pipe(
        Effect.provide(limiterLayer(name, { onUnavailable }).pipe(Layer.provide(context), Layer.provideMerge(logger)))
      )
    })

  it.live("wait until it is available again, and log the outage", () =>
    run("wait", ({ limiter, logs, set }) =>
      Effect.gen(function* () {
        yield* set(false)
        const waiting = yield* Effect.forkChild(limiter.acquire(undefined), { startImmediately: true })
        while (logs.length === 0) yield* Effect.sleep(10)
        assert.include(logs[0], "Calls wait until the store is available again")
        assert.isUndefined(waiting.pollUnsafe())
        yield* set(true)
        yield* Fiber.join(waiting)
        assert.include(logs.join("\n"), "is available again")
      })
    )
  )
})

describe.skipIf(isSkipped)("A malformed value in Redis", () => {
  it.live("makes the store unavailable until it is removed", () =>
    Effect.gen(function* () {
      const name = yield* prefix
      const limiter = yield* limiterOf(name)
      const { send } = yield* Redis.Redis
      const state = `{${name}:rateLimiter}:state`
      yield* send("SET", state, "not a hash")
      const waiting = yield* Effect.forkChild(limiter.acquire(undefined), { startImmediately: true })
      yield* Effect.sleep(100)
      assert.isUndefined(waiting.pollUnsafe())
      yield* send("DEL", state)
      yield* Fiber.join(waiting)
    }).pipe(Effect.provide(layer))
  )

  it.live("of the adaptive state is a StoreError", () =>
    Effect.gen(function* () {
      const name = yield* prefix
      const store = yield* RedisRateLimiterStore.make({ prefix: name })
      const { send } = yield* Redis.Redis
      yield* send("HSET", `{${name}:rateLimiter}:state`, "adaptive", `{"limit":"many"}`)
      const error = yield* Effect.flip(store.updateAdaptiveState((state) => state!))
      assert.deepStrictEqual(
        [error._tag, error.store, error.operation],
        ["StoreError", "rateLimiter", "updateAdaptiveState"]
      )
    }).pipe(Effect.provide(layer))
  )
})
