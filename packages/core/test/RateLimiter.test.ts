import { assert, describe, it, vi } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import * as RateLimiter from "../src/RateLimiter.ts"

interface Arrival {
  readonly after: number
  readonly claim: RateLimiter.Claim | undefined
}

interface Departure {
  readonly index: number
  readonly at: number
  readonly claim: RateLimiter.Claim | undefined
}

/** Lets the arrivals come one after another and says when each departed. */
const departuresOf = Effect.fnUntraced(function* (limits: RateLimiter.Limits, arrivals: ReadonlyArray<Arrival>) {
  const limiter = yield* RateLimiter.make(limits)
  const departures: Array<Departure> = []
  const fibers: Array<Fiber.Fiber<unknown>> = []
  for (const [index, { after, claim }] of arrivals.entries()) {
    if (after > 0) yield* TestClock.adjust(after)
    fibers.push(
      yield* limiter.acquire(claim).pipe(
        Effect.andThen(Clock.currentTimeMillis),
        Effect.map((at) => departures.push({ index, at, claim })),
        Effect.forkChild({ startImmediately: true })
      )
    )
  }
  yield* TestClock.adjust("1 hour")
  yield* Fiber.joinAll(fibers)
  return departures
})

/** The most departures in any window that begins with a departure, which is the most in any window. */
const mostIn = (window: number, times: ReadonlyArray<number>): number =>
  Math.max(0, ...times.map((start) => times.filter((at) => at >= start && at < start + window).length))

const laneOf = (claim: RateLimiter.Claim | undefined) => (claim === undefined ? "none" : `${claim.scope}:${claim.key}`)

const byLane = (departures: ReadonlyArray<Departure>) => Map.groupBy(departures, ({ claim }) => laneOf(claim))

const claim = (scope: RateLimiter.Claim["scope"], key: number): RateLimiter.Claim => ({ scope, key })

const arrivals = Arbitrary.array(
  Arbitrary.map(
    Arbitrary.all({
      after: Arbitrary.schema(Schema.Literals([0, 0, 0, 1, 20, 333, 500, 1049, 1050, 1051])),
      scope: Arbitrary.schema(Schema.Literals(["none", "messages", "messages", "answers", "polling"])),
      key: Arbitrary.schema(Schema.Literals([1, 2, 3]))
    }),
    ({ after, scope, key }): Arrival => ({ after, claim: scope === "none" ? undefined : claim(scope, key) })
  ),
  { minLength: 1, maxLength: 60 }
)

const narrow: RateLimiter.Limits = {
  host: { count: 5, window: 1000 },
  messages: { count: 2, window: 1050 },
  answers: { count: 1, window: 400 },
  polling: { count: 3, window: 700 }
}

const windowOf = (limit: RateLimiter.Limit) => Duration.toMillis(limit.window)

describe("departures", () => {
  it.effect.prop(
    "never exceed a limit in any window, at the host or in a lane, and keep their order in a lane",
    { arrivals },
    ({ arrivals }) =>
      Effect.gen(function* () {
        const departures = yield* departuresOf(narrow, arrivals)
        assert.lengthOf(departures, arrivals.length)
        assert.isAtMost(
          mostIn(
            windowOf(narrow.host),
            departures.map(({ at }) => at)
          ),
          narrow.host.count
        )
        for (const [lane, inLane] of byLane(departures)) {
          const indices = inLane.map(({ index }) => index)
          assert.deepStrictEqual(
            indices,
            [...indices].sort((a, b) => a - b),
            lane
          )
          const scope = inLane[0].claim?.scope
          if (scope === undefined) continue
          const times = inLane.map(({ at }) => at)
          assert.isAtMost(mostIn(windowOf(narrow[scope]), times), narrow[scope].count, lane)
        }
      }),
    { arbitrary: { runs: 150 } }
  )

  it.effect("go at once while there is room, and then as soon as there is again", () =>
    Effect.gen(function* () {
      const five = Array.from({ length: 5 }, () => ({ after: 0, claim: claim("messages", 1) }))
      const times = (yield* departuresOf(RateLimiter.documented, five)).map(({ at }) => at)
      assert.deepStrictEqual(times, [0, 0, 1050, 1050, 2100])
      const many = Array.from({ length: 61 }, () => ({ after: 0, claim: undefined }))
      const start = yield* Clock.currentTimeMillis
      const hosts = (yield* departuresOf(RateLimiter.documented, many)).map(({ at }) => at - start)
      assert.deepStrictEqual([hosts[29], hosts[30], hosts[59], hosts[60]], [0, 1050, 1050, 2100])
    })
  )

  it.effect("of a busy chat do not hold up other chats", () =>
    Effect.gen(function* () {
      const hot = Array.from({ length: 50 }, () => ({ after: 0, claim: claim("messages", 1) }))
      const cold = Array.from({ length: 20 }, (_, key) => ({ after: 0, claim: claim("messages", key + 2) }))
      const departures = yield* departuresOf(RateLimiter.documented, [...hot, ...cold])
      const coldTimes = departures.filter(({ claim }) => claim?.key !== 1).map(({ at }) => at)
      assert.deepStrictEqual(new Set(coldTimes), new Set([0]))
    })
  )

  it.effect("of one key in two scopes are counted apart", () =>
    Effect.gen(function* () {
      const both = [claim("messages", 1), claim("messages", 1), claim("answers", 1), claim("answers", 1)]
      const departures = yield* departuresOf(
        RateLimiter.documented,
        both.map((claim) => ({ after: 0, claim }))
      )
      assert.deepStrictEqual(
        departures.map(({ at }) => at),
        [0, 0, 0, 0]
      )
    })
  )
})

describe("a waiting call", () => {
  it.effect("that is interrupted gives its place to the next", () =>
    Effect.gen(function* () {
      const limiter = yield* RateLimiter.make(RateLimiter.documented)
      const lane = claim("messages", 1)
      yield* limiter.acquire(lane)
      yield* limiter.acquire(lane)
      const acquire = limiter
        .acquire(lane)
        .pipe(Effect.andThen(Clock.currentTimeMillis), Effect.forkChild({ startImmediately: true }))
      const first = yield* acquire
      const second = yield* acquire
      const third = yield* acquire
      yield* TestClock.adjust("1 second")
      yield* Fiber.interrupt(first)
      yield* Fiber.interrupt(third)
      yield* TestClock.adjust("50 millis")
      assert.strictEqual(yield* Fiber.join(second), 1050)
      yield* limiter.acquire(lane)
      assert.strictEqual(yield* Clock.currentTimeMillis, 1050)
    })
  )

  it.effect("at the host that is interrupted holds up nobody", () =>
    Effect.gen(function* () {
      const limiter = yield* RateLimiter.make({ ...RateLimiter.documented, host: { count: 1, window: 1000 } })
      yield* limiter.acquire(undefined)
      const waiting = yield* Effect.forkChild(limiter.acquire(claim("messages", 1)), { startImmediately: true })
      const next = yield* limiter
        .acquire(claim("messages", 2))
        .pipe(Effect.andThen(Clock.currentTimeMillis), Effect.forkChild({ startImmediately: true }))
      yield* Fiber.interrupt(waiting)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* Fiber.join(next), 1000)
    })
  )
})

describe("a clock that is set back", () => {
  it.effect("costs no more than the window, and no more than the pause", () =>
    Effect.gen(function* () {
      const day = Duration.toMillis("1 day")
      yield* TestClock.setTime(day)
      const limiter = yield* RateLimiter.make({ ...RateLimiter.unlimited, host: { count: 1, window: "1 second" } })
      yield* limiter.acquire(undefined)
      yield* limiter.pause(Duration.seconds(5))
      yield* TestClock.setTime(0)
      const fiber = yield* Effect.forkChild(limiter.acquire(undefined), { startImmediately: true })
      yield* TestClock.adjust("5 seconds")
      yield* Fiber.join(fiber)
    })
  )
})

describe("a pause", () => {
  it.effect("holds for everybody, and the longest counts", () =>
    Effect.gen(function* () {
      const limiter = yield* RateLimiter.make(RateLimiter.documented)
      yield* limiter.pause(Duration.seconds(10))
      yield* limiter.pause(Duration.seconds(3))
      const claims = [undefined, claim("messages", 1), claim("answers", 1)]
      const fibers = yield* Effect.forEach(claims, (claim) =>
        limiter
          .acquire(claim)
          .pipe(Effect.andThen(Clock.currentTimeMillis), Effect.forkChild({ startImmediately: true }))
      )
      yield* TestClock.adjust("9 seconds")
      yield* limiter.pause(Duration.seconds(2))
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(yield* Fiber.joinAll(fibers), [11_000, 11_000, 11_000])
      yield* limiter.acquire(claim("messages", 2))
    })
  )
})

describe("lanes", () => {
  it.effect("of chats that have gone quiet are swept, and those in use stay", () =>
    Effect.gen(function* () {
      const swept = vi.spyOn(Map.prototype, "delete")
      yield* Effect.addFinalizer(() => Effect.sync(() => swept.mockRestore()))
      const sweptLanes = () => swept.mock.calls.filter(([key]) => String(key).startsWith("messages:")).length
      const limiter = yield* RateLimiter.make({ ...RateLimiter.documented, host: { count: 1e6, window: 1 } })
      const visit = (from: number, to: number) =>
        Effect.forEach(
          Array.from({ length: to - from }, (_, index) => from + index),
          (key) => limiter.acquire(claim("messages", key)),
          { discard: true }
        )
      yield* visit(0, 990)
      yield* TestClock.adjust("1 minute")
      yield* visit(990, 1000)
      assert.strictEqual(sweptLanes(), 0)
      yield* visit(1000, 1001)
      assert.strictEqual(sweptLanes(), 990)
      yield* visit(995, 996)
      const third = yield* Effect.forkChild(limiter.acquire(claim("messages", 995)), { startImmediately: true })
      assert.isUndefined(third.pollUnsafe())
      yield* TestClock.adjust("1050 millis")
      yield* Fiber.join(third)
    })
  )
})

describe("layerMemory", () => {
  it.effect("keeps the documented limits that are left out", () =>
    Effect.gen(function* () {
      const limiter = yield* RateLimiter.RateLimiter
      yield* limiter.acquire(claim("messages", 1))
      const second = yield* Effect.forkChild(limiter.acquire(claim("messages", 1)), { startImmediately: true })
      const other = yield* Effect.forkChild(
        Effect.andThen(limiter.acquire(claim("answers", 1)), limiter.acquire(claim("answers", 1))),
        { startImmediately: true }
      )
      assert.isDefined(other.pollUnsafe())
      assert.isUndefined(second.pollUnsafe())
      yield* TestClock.adjust("1 minute")
      assert.isDefined(second.pollUnsafe())
    }).pipe(Effect.provide(RateLimiter.layerMemory({ messages: { count: 1, window: "1 minute" } })))
  )
})
