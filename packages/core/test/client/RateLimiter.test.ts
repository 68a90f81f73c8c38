import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import { CurrentObserver } from "../../src/client/internal/rateLimiter/metrics.ts"
import { ChatId } from "../../src/model/Recipient.ts"
import * as RateLimiter from "../../src/client/RateLimiter.ts"
import * as RateLimiterStore from "../../src/client/RateLimiterStore.ts"

interface Call {
  /** Milliseconds after the previous call. */
  readonly after: number
  readonly target: RateLimiter.Target | undefined
  readonly priority?: RateLimiter.Priority
  /** When the caller is interrupted, if it still waits. */
  readonly interruptAfter?: number
}

interface Granted extends Call {
  readonly index: number
  readonly at: number
}

const { defaults } = RateLimiter

const withoutMargin = { ...defaults, margin: 0 }

/** Makes the calls one after another, and returns the calls that got a permit, in the order of their permits. */
const grantedOf = Effect.fnUntraced(function* (
  limiter: RateLimiter.RateLimiter["Service"],
  calls: ReadonlyArray<Call>
) {
  const granted: Array<Granted> = []
  const fibers: Array<Fiber.Fiber<unknown, unknown>> = []
  for (const [index, call] of calls.entries()) {
    const { after, target, priority = "normal", interruptAfter } = call
    if (after > 0) yield* TestClock.adjust(after)
    const acquired = limiter.acquire(target).pipe(
      RateLimiter.withPriority(priority),
      Effect.andThen(Clock.currentTimeMillis),
      Effect.map((at) => granted.push({ index, at, ...call }))
    )
    const interrupted = Effect.timeoutOption(acquired, interruptAfter ?? Infinity)
    fibers.push(yield* Effect.forkChild(interrupted, { startImmediately: true }))
  }
  yield* TestClock.adjust("1 hour")
  yield* Fiber.joinAll(fibers)
  return granted
})

const timesOf = (options: RateLimiter.Options, calls: ReadonlyArray<Call>) =>
  Effect.gen(function* () {
    const start = yield* Clock.currentTimeMillis
    const granted = yield* grantedOf(yield* RateLimiter.makeMemory(options), calls)
    return granted.map(({ at }) => at - start)
  })

/** The maximum number of permits in any window. It is found in a window that begins with a permit. */
const maxInWindow = (window: number, times: ReadonlyArray<number>): number =>
  Math.max(0, ...times.map((start) => times.filter((at) => at >= start && at < start + window).length))

const target = (scope: RateLimiter.Target["scope"], key: number): RateLimiter.Target => ({ scope, key })

const many = <A>(count: number, make: (index: number) => A) => Array.from({ length: count }, (_, index) => make(index))

const isSorted = (numbers: ReadonlyArray<number>) =>
  numbers.every((number, index) => index === 0 || numbers[index - 1] <= number)

/** The dialog with user 7 is chat 1. */
const bucketOf = ({ target }: Call) =>
  target === undefined ? undefined : `${target.scope}:${target.user === 7 ? 1 : target.key}`

const narrow: typeof defaults = {
  ...defaults,
  host: { count: 5, window: 1000 },
  messages: { count: 2, window: 1050 },
  answers: { count: 1, window: 400 },
  polling: { count: 3, window: 700 },
  margin: 10
}

const pick = <A>(...values: ReadonlyArray<A>) =>
  Arbitrary.map(Arbitrary.schema(Schema.Literals(values.map((_, index) => index))), (index) => values[index])

const calls = Arbitrary.array(
  Arbitrary.map(
    Arbitrary.all({
      after: pick(0, 0, 0, 1, 20, 333, 500, 1049, 1050, 1051),
      scope: pick("none", "messages", "messages", "user", "answers", "polling"),
      key: pick(1, 2, 3),
      priority: pick<RateLimiter.Priority>("answer", "reply", "normal", "broadcast"),
      interruptAfter: pick(undefined, undefined, undefined, 1, 400, 2000)
    }),
    ({ key, scope, interruptAfter, ...rest }): Call => ({
      ...rest,
      ...(interruptAfter === undefined ? {} : { interruptAfter }),
      target:
        scope === "none"
          ? undefined
          : scope === "user"
            ? { scope: "messages", user: 7 }
            : target(scope as "messages" | "answers" | "polling", key)
    })
  ),
  { minLength: 1, maxLength: 60 }
)

describe("RateLimiter.acquire", () => {
  it.effect.prop(
    "exceeds no limit in any window, keeps the order of each bucket, and serves every call",
    { calls },
    ({ calls }) =>
      Effect.gen(function* () {
        const limiter = yield* RateLimiter.makeMemory(narrow)
        yield* limiter.linkDialog({ user_id: 7, chat_id: 1 })
        const granted = yield* grantedOf(limiter, calls)
        assert.isAtLeast(granted.length, calls.filter(({ interruptAfter }) => interruptAfter === undefined).length)
        const within = (scope: Exclude<RateLimiter.Scope, "edits" | "removals">, granted: ReadonlyArray<Granted>) =>
          assert.isAtMost(
            maxInWindow(
              Duration.toMillis(narrow[scope].window) + 10,
              granted.map(({ at }) => at)
            ),
            narrow[scope].count
          )
        within("host", granted)
        for (const [bucket, inBucket] of Map.groupBy(granted, bucketOf)) {
          if (bucket === undefined) continue
          within(inBucket[0].target!.scope as "messages", inBucket)
          assert.isTrue(isSorted(inBucket.map(({ index }) => index)), bucket)
        }
        const { waiting } = yield* limiter.status
        assert.deepStrictEqual(waiting, { answer: 0, reply: 0, normal: 0, broadcast: 0 })
      }),
    { arbitrary: { runs: 200 } }
  )

  it.effect("grants permits at once within the limits, and further permits as soon as the window allows", () =>
    Effect.gen(function* () {
      const toOne = many(5, () => ({ after: 0, target: target("messages", 1) }))
      assert.deepStrictEqual(yield* timesOf(withoutMargin, toOne), [0, 0, 1000, 1000, 2000])
      const replies = many(61, () => ({ after: 0, target: undefined, priority: "reply" as const }))
      const times = yield* timesOf(withoutMargin, replies)
      assert.deepStrictEqual([times[29], times[30], times[59], times[60]], [0, 1000, 1000, 2000])
    })
  )

  it.effect("spreads normal calls and broadcasts over the window beyond a third of the limit", () =>
    Effect.gen(function* () {
      const host = { count: 10, window: 1000 }
      const times = yield* timesOf(
        { ...withoutMargin, host },
        many(25, () => ({ after: 0, target: undefined }))
      )
      assert.deepStrictEqual(times.slice(0, 10), [0, 0, 0, 0, 100, 200, 300, 400, 500, 600])
      assert.deepStrictEqual(
        times.slice(10),
        many(15, (index) => 1000 + index * 100)
      )
    })
  )

  it.effect("adds a margin to each window, and eight more for the first requests of a process", () =>
    Effect.gen(function* () {
      const three = many(3, () => ({ after: 0, target: target("answers", 1) }))
      assert.deepStrictEqual(yield* timesOf(defaults, three), [0, 0, 1225])
      assert.deepStrictEqual(yield* timesOf({ ...defaults, margin: "1 second" }, three), [0, 0, 10_000])
    })
  )

  it.effect("does not delay a chat because another one is busy", () =>
    Effect.gen(function* () {
      const limiter = yield* RateLimiter.makeMemory(defaults)
      const busy = many(50, () => ({ after: 0, target: target("messages", 1) }))
      const quiet = many(6, (key) => ({ after: 0, target: target("messages", key + 2) }))
      const granted = yield* grantedOf(limiter, [...busy, ...quiet])
      const quietTimes = granted.filter(({ target }) => target?.key !== 1).map(({ at }) => at)
      assert.deepStrictEqual(new Set(quietTimes), new Set([0]))
    })
  )

  it.effect("counts the same key separately in each scope", () =>
    Effect.gen(function* () {
      const both = [target("messages", 1), target("messages", 1), target("answers", 1), target("answers", 1)]
      assert.deepStrictEqual(
        yield* timesOf(
          defaults,
          both.map((target) => ({ after: 0, target }))
        ),
        [0, 0, 0, 0]
      )
    })
  )
})

describe("Edits and removals", () => {
  const calls: ReadonlyArray<Call> = [
    ...many(2, () => ({ after: 0, target: target("messages", 1), priority: "reply" as const })),
    ...many(3, () => ({ after: 0, target: target("edits", 1), priority: "reply" as const })),
    ...many(3, () => ({ after: 0, target: target("removals", 1), priority: "reply" as const }))
  ]
  const limit = { count: 2, window: 1000 }
  const host = { count: 30, window: 1000 }

  it.effect("count as messages to their chat by default", () =>
    Effect.gen(function* () {
      const times = yield* timesOf({ margin: 0, host }, calls)
      assert.deepStrictEqual(times, [0, 0, 1000, 1000, 2000, 2000, 3000, 3000])
    })
  )

  it.effect("count by themselves with a limit of their own", () =>
    Effect.gen(function* () {
      const times = yield* timesOf({ margin: 0, host, edits: limit, removals: limit }, calls)
      assert.deepStrictEqual(
        times.toSorted((a, b) => a - b),
        [0, 0, 0, 0, 0, 0, 1000, 1000]
      )
    })
  )

  it.effect("need a limit that is an integer above 0", () =>
    Effect.gen(function* () {
      const exit = yield* Effect.exit(RateLimiter.makeMemory({ edits: { count: 0, window: 1000 } }))
      assert.include(String(exit), "`edits.count` must be an integer above 0")
    })
  )
})

describe("RateLimiter.linkDialog", () => {
  const user: RateLimiter.Target = { scope: "messages", user: 5 }
  const chat: RateLimiter.Target = { scope: "messages", key: 77 }

  it.effect("counts messages to the user and to the chat together", () =>
    Effect.gen(function* () {
      const limiter = yield* RateLimiter.makeMemory(withoutMargin)
      yield* limiter.acquire(user)
      yield* limiter.linkDialog({ user_id: 5, chat_id: 77 })
      yield* limiter.acquire(chat)
      const third = yield* Effect.forkChild(limiter.acquire(user), { startImmediately: true })
      assert.isUndefined(third.pollUnsafe())
      const granted = yield* grantedOf(limiter, [
        { after: 0, target: chat },
        { after: 0, target: user },
        { after: 0, target: chat }
      ])
      assert.deepStrictEqual(
        granted.map(({ at }) => at),
        [1000, 2000, 2000]
      )
    })
  )

  it.effect("serves the calls that already wait in the order of arrival", () =>
    Effect.gen(function* () {
      const limiter = yield* RateLimiter.makeMemory(withoutMargin)
      const sent: Array<string> = []
      const fibers = yield* Effect.forEach([user, user, chat, chat, user, chat, chat, user], (target, index) =>
        Effect.forkChild(
          Effect.map(limiter.acquire(target), () => sent.push(`${index}`)),
          { startImmediately: true }
        )
      )
      assert.deepStrictEqual(sent, ["0", "1", "2", "3"])
      yield* limiter.linkDialog({ user_id: 5, chat_id: 77 })
      yield* TestClock.adjust(999)
      assert.lengthOf(sent, 4)
      yield* TestClock.adjust(1)
      assert.deepStrictEqual(sent.slice(4), ["4", "5"])
      yield* TestClock.adjust(1000)
      yield* Fiber.joinAll(fibers)
      assert.deepStrictEqual(sent.slice(4), ["4", "5", "6", "7"])
    })
  )

  it.effect("does not affect answers, which count in the chat whose update is handled", () =>
    Effect.gen(function* () {
      const limiter = yield* RateLimiter.makeMemory(withoutMargin)
      const answer = limiter.acquire({ scope: "answers", priority: "answer" })
      const inChat = (id: number) => RateLimiter.withChat(answer, ChatId.make(id))
      yield* Effect.all([inChat(1), inChat(1), inChat(2), inChat(2), answer, answer])
      const third = yield* Effect.forkChild(inChat(1), { startImmediately: true })
      assert.isUndefined(third.pollUnsafe())
      assert.strictEqual((yield* limiter.status).waiting.answer, 1)
      yield* TestClock.adjust(1000)
      yield* Fiber.join(third)
    })
  )
})

describe("Permit.confirm", () => {
  const grantAll = (limiter: RateLimiter.RateLimiter["Service"], count: number) =>
    Effect.forEach(
      many(count, (index) => index),
      () => RateLimiter.withPriority(limiter.acquire(target("messages", 1)), "reply")
    )

  const limits = { ...defaults, host: { count: 3, window: 1000 }, messages: { count: 3, window: 1000 }, margin: 1 }

  it.effect("counts a permit from the time at which its request is sent", () =>
    Effect.gen(function* () {
      const limiter = yield* RateLimiter.makeMemory(limits)
      const [permit] = yield* grantAll(limiter, 3)
      yield* TestClock.adjust(300)
      assert.isTrue(permit.confirm("ready"))
      yield* TestClock.adjust(720)
      yield* grantAll(limiter, 2)
      const third = yield* Effect.forkChild(grantAll(limiter, 1), { startImmediately: true })
      yield* TestClock.adjust(270)
      assert.isUndefined(third.pollUnsafe())
      yield* TestClock.adjust(30)
      yield* Fiber.join(third)
    })
  )

  it.effect("rejects a permit that is outside the windows, because the process was suspended", () =>
    Effect.gen(function* () {
      const limiter = yield* RateLimiter.makeMemory(limits)
      const permits = yield* grantAll(limiter, 3)
      yield* TestClock.adjust(1500)
      yield* grantAll(limiter, 2)
      for (const permit of permits) assert.isFalse(permit.confirm("ready"))
      const again = RateLimiter.withPriority(limiter.acquire(target("messages", 1), permits[0]), "reply")
      assert.isTrue((yield* again).confirm("ready"))
      const further = yield* Effect.forkChild(again, { startImmediately: true })
      assert.isUndefined(further.pollUnsafe())
    })
  )

  it.effect("rejects a permit after a pause, unless it is final", () =>
    Effect.gen(function* () {
      const limiter = yield* RateLimiter.makeMemory(limits)
      const [one, other] = yield* grantAll(limiter, 2)
      yield* TestClock.adjust(10)
      yield* limiter.pause(Duration.seconds(1))
      assert.isFalse(one.confirm("connected"))
      assert.isTrue(other.confirm("final"))
    })
  )
})

describe("RateLimiter priorities", () => {
  const withPriority = (priority: RateLimiter.Priority, count: number) =>
    many(count, () => ({ after: 0, target: undefined, priority }))

  it.effect("serve the most urgent calls first", () =>
    Effect.gen(function* () {
      const limiter = yield* RateLimiter.makeMemory({ ...withoutMargin, host: { count: 1, window: 1000 } })
      const granted = yield* grantedOf(limiter, [
        ...withPriority("normal", 1),
        ...withPriority("broadcast", 2),
        ...withPriority("normal", 2),
        ...withPriority("reply", 2),
        ...withPriority("answer", 2)
      ])
      assert.deepStrictEqual(
        granted.map(({ index }) => index),
        [0, 7, 8, 5, 6, 3, 4, 1, 2]
      )
    })
  )

  it.effect("get at least about one of twenty permits each, however many more urgent calls wait", () =>
    Effect.gen(function* () {
      const limiter = yield* RateLimiter.makeMemory({ ...withoutMargin, host: { count: 10, window: 1000 } })
      const granted = yield* grantedOf(limiter, [
        ...withPriority("answer", 220),
        ...withPriority("reply", 220),
        ...withPriority("normal", 220),
        ...withPriority("broadcast", 220)
      ])
      const early = granted.slice(0, 220)
      for (const priority of ["reply", "normal", "broadcast"]) {
        const positions = early.flatMap((permit, index) => (permit.priority === priority ? [index] : []))
        assert.isAtLeast(positions.length, 9, priority)
        assert.isAtMost(
          Math.max(...positions.slice(1).map((position, index) => position - positions[index])),
          23,
          priority
        )
      }
    })
  )

  const inStore = (options: RateLimiter.Options) =>
    Effect.provide(RateLimiter.make(options), RateLimiterStore.layerMemory)

  it.effect.each(
    [30, 100, 300].flatMap((count) => [
      { count, make: RateLimiter.makeMemory },
      { count, make: inStore }
    ])
  )(
    "get one of about twenty permits each of a limit of $count, also if they are spread over the window",
    ({ count, make }) =>
      Effect.gen(function* () {
        const limiter = yield* make({ ...defaults, host: { count, window: 1000 } })
        const granted = yield* grantedOf(limiter, [
          ...withPriority("reply", 2000),
          ...withPriority("broadcast", 200),
          ...withPriority("normal", 200)
        ])
        // The first permits are granted before the other calls are made.
        const together = granted.slice(count, 1500)
        for (const priority of ["normal", "broadcast"]) {
          const early = together.filter((permit) => permit.priority === priority)
          assert.isAtLeast(early.length, together.length / 22, priority)
          assert.isAtMost(early.length, together.length / 19, priority)
        }
      }).pipe(Effect.scoped)
  )

  it.effect("let an answer wait at most 35 ms behind broadcasts", () =>
    Effect.gen(function* () {
      const limiter = yield* RateLimiter.makeMemory(defaults)
      const flood = yield* Effect.forEach(withPriority("broadcast", 500), ({ priority }) =>
        Effect.forkChild(RateLimiter.withPriority(limiter.acquire(undefined), priority), { startImmediately: true })
      )
      yield* TestClock.adjust("3 seconds")
      for (let index = 0; index < 50; index++) {
        yield* TestClock.adjust(97)
        const start = yield* Clock.currentTimeMillis
        const answer = yield* limiter
          .acquire({ scope: "answers", key: index })
          .pipe(
            RateLimiter.withPriority("answer"),
            Effect.andThen(Clock.currentTimeMillis),
            Effect.forkChild({ startImmediately: true })
          )
        yield* TestClock.adjust(35)
        assert.isDefined(answer.pollUnsafe())
        assert.isAtMost((yield* Fiber.join(answer)) - start, 35)
      }
      yield* Fiber.interruptAll(flood)
    })
  )

  it.effect("raise the priority of earlier calls of the same chat", () =>
    Effect.gen(function* () {
      const limiter = yield* RateLimiter.makeMemory({ ...withoutMargin, host: { count: 1, window: 1000 } })
      const own = target("messages", 1)
      const granted = yield* grantedOf(limiter, [
        ...withPriority("normal", 2),
        { after: 0, target: own, priority: "broadcast" },
        { after: 0, target: own, priority: "reply" }
      ])
      assert.deepStrictEqual(
        granted.map(({ index }) => index),
        [0, 2, 3, 1]
      )
    })
  )

  it.effect("come from the target, unless the caller sets `broadcast`", () =>
    Effect.gen(function* () {
      const limiter = yield* RateLimiter.makeMemory({ ...withoutMargin, host: { count: 1, window: 1000 } })
      yield* limiter.acquire(undefined)
      const answer = Effect.forkChild(limiter.acquire({ scope: "answers", key: 1, priority: "answer" }), {
        startImmediately: true
      })
      const fibers = [
        yield* answer,
        yield* RateLimiter.withPriority(answer, "reply"),
        yield* RateLimiter.withPriority(answer, "broadcast")
      ]
      assert.deepStrictEqual((yield* limiter.status).waiting, { answer: 2, reply: 0, normal: 0, broadcast: 1 })
      yield* Fiber.interruptAll(fibers)
    })
  )
})

describe("A waiting call", () => {
  it.effect("leaves the queue of its chat when it is interrupted", () =>
    Effect.gen(function* () {
      const limiter = yield* RateLimiter.makeMemory(withoutMargin)
      const chat = target("messages", 1)
      yield* limiter.acquire(chat)
      yield* limiter.acquire(chat)
      const acquire = limiter
        .acquire(chat)
        .pipe(Effect.andThen(Clock.currentTimeMillis), Effect.forkChild({ startImmediately: true }))
      const first = yield* acquire
      const second = yield* acquire
      const third = yield* acquire
      yield* TestClock.adjust("500 millis")
      yield* Fiber.interrupt(first)
      yield* Fiber.interrupt(third)
      assert.strictEqual((yield* limiter.status).waiting.normal, 1)
      yield* TestClock.adjust("500 millis")
      assert.strictEqual(yield* Fiber.join(second), 1000)
      yield* limiter.acquire(chat)
      assert.strictEqual(yield* Clock.currentTimeMillis, 1000)
    })
  )

  it.effect("leaves the queue of the host when it is interrupted", () =>
    Effect.gen(function* () {
      const limiter = yield* RateLimiter.makeMemory({ ...withoutMargin, host: { count: 1, window: 1000 } })
      yield* limiter.acquire(undefined)
      const waiting = yield* Effect.forkChild(limiter.acquire(target("messages", 1)), { startImmediately: true })
      const next = yield* limiter
        .acquire(target("messages", 2))
        .pipe(Effect.andThen(Clock.currentTimeMillis), Effect.forkChild({ startImmediately: true }))
      yield* Fiber.interrupt(waiting)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* Fiber.join(next), 1000)
    })
  )

  it.effect("fails after the maximum wait with the remaining wait", () =>
    Effect.gen(function* () {
      const limiter = yield* RateLimiter.makeMemory({ ...withoutMargin, maxWait: "1500 millis" })
      const waiting = yield* Effect.forEach(
        many(5, (index) => index),
        () => Effect.forkChild(Effect.exit(limiter.acquire(target("messages", 1))), { startImmediately: true })
      )
      yield* TestClock.adjust("1499 millis")
      assert.isUndefined(waiting[4].pollUnsafe())
      yield* TestClock.adjust("1 millis")
      const exits = yield* Fiber.joinAll(waiting)
      assert.deepStrictEqual(exits.map(Exit.isSuccess), [true, true, true, true, false])
      const error = yield* Effect.flip(Fiber.join(waiting[4]).pipe(Effect.flatten))
      assert.deepStrictEqual([error._tag, error.reason], ["RateLimiterError", "MaxWaitExceeded"])
      assert.strictEqual(
        error.message,
        "The rate limiter did not send the request: no permit was available within the maximum wait. Retry after 500ms."
      )
      assert.strictEqual(Duration.toMillis(error.retryAfter), 500)
    })
  )

  it.effect("fails after the maximum wait that the caller set, and at once if that is 0", () =>
    Effect.gen(function* () {
      const limiter = yield* RateLimiter.makeMemory(withoutMargin)
      const own = target("messages", 1)
      const withoutWait = RateLimiter.withMaxWait(limiter.acquire(own), 0)
      yield* withoutWait
      yield* withoutWait
      const error = yield* Effect.flip(withoutWait)
      assert.strictEqual(Duration.toMillis(error.retryAfter), 1000)
      assert.strictEqual((yield* limiter.status).waiting.normal, 0)
      const waiting = yield* Effect.forkChild(RateLimiter.withMaxWait(limiter.acquire(own), "1 second"))
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(waiting)
    })
  )

  it.effect("fails at once if the queue of its priority is full", () =>
    Effect.gen(function* () {
      const limiter = yield* RateLimiter.makeMemory({
        ...withoutMargin,
        host: { count: 1, window: 1000 },
        maxQueued: 2
      })
      const acquire = (priority: RateLimiter.Priority) => RateLimiter.withPriority(limiter.acquire(undefined), priority)
      yield* acquire("normal")
      const waiting = yield* Effect.forEach(["normal", "normal", "reply"] as const, (priority) =>
        Effect.forkChild(acquire(priority), { startImmediately: true })
      )
      const error = yield* Effect.flip(acquire("normal"))
      assert.deepStrictEqual([error.reason, Duration.toMillis(error.retryAfter)], ["QueueFull", 4000])
      yield* TestClock.adjust("3 seconds")
      yield* Fiber.joinAll(waiting)
    })
  )
})

describe("RateLimiter with a clock that is set back", () => {
  it.effect("delays calls by no more than the window and the pause", () =>
    Effect.gen(function* () {
      const day = Duration.toMillis("1 day")
      yield* TestClock.setTime(day)
      const limiter = yield* RateLimiter.makeMemory({
        ...RateLimiter.unlimited,
        host: { count: 1, window: "1 second" }
      })
      yield* limiter.acquire(undefined)
      yield* limiter.pause(Duration.seconds(5))
      yield* TestClock.setTime(0)
      const fiber = yield* Effect.forkChild(limiter.acquire(undefined), { startImmediately: true })
      yield* TestClock.adjust("5 seconds")
      yield* Fiber.join(fiber)
    })
  )
})

describe("RateLimiter.unlimited", () => {
  it.effect("grants permits that can be used at any time, so that a call is sent however slow the process is", () =>
    Effect.gen(function* () {
      const limiter = yield* RateLimiter.makeMemory(RateLimiter.unlimited)
      for (const scope of [undefined, target("messages", 1), target("answers", 1)]) {
        const permit = yield* limiter.acquire(scope)
        yield* TestClock.adjust("1 minute")
        assert.isTrue(permit.confirm("ready"))
      }
    })
  )
})

describe("RateLimiter.pause", () => {
  it.effect("pauses all calls for the longest of several pauses", () =>
    Effect.gen(function* () {
      const limiter = yield* RateLimiter.makeMemory(defaults)
      yield* limiter.pause(Duration.seconds(10))
      yield* limiter.pause(Duration.seconds(3))
      const targets = [undefined, target("messages", 1), target("answers", 1)]
      const fibers = yield* Effect.forEach(targets, (target) =>
        limiter
          .acquire(target)
          .pipe(
            RateLimiter.withPriority("reply"),
            Effect.andThen(Clock.currentTimeMillis),
            Effect.forkChild({ startImmediately: true })
          )
      )
      yield* TestClock.adjust("9 seconds")
      yield* limiter.pause(Duration.seconds(2))
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(yield* Fiber.joinAll(fibers), [11_000, 11_000, 11_000])
      yield* limiter.acquire(target("messages", 2))
    })
  )
})

describe("RateLimiter.status", () => {
  it.effect("shows that idle chats are removed", () =>
    Effect.gen(function* () {
      const limiter = yield* RateLimiter.makeMemory({ ...withoutMargin, host: { count: 1e6, window: 1 } })
      const visit = (from: number, count: number) =>
        Effect.forEach(
          many(count, (index) => from + index),
          (key) => limiter.acquire(target("messages", key)),
          { discard: true }
        )
      const buckets = Effect.map(limiter.status, ({ buckets }) => buckets)
      yield* visit(0, 1000)
      assert.strictEqual(yield* buckets, 1000)
      yield* TestClock.adjust(999)
      yield* visit(999, 1)
      assert.strictEqual(yield* buckets, 1000)
      yield* TestClock.adjust(1)
      yield* visit(2000, 1)
      assert.strictEqual(yield* buckets, 2)
      const third = yield* Effect.forkChild(limiter.acquire(target("messages", 999)), { startImmediately: true })
      assert.isDefined(third.pollUnsafe())
    })
  )
})

describe("RateLimiter.layerMemory", () => {
  it.effect("uses the default for an omitted limit", () =>
    Effect.gen(function* () {
      const limiter = yield* RateLimiter.RateLimiter
      yield* limiter.acquire(target("messages", 1))
      const second = yield* Effect.forkChild(limiter.acquire(target("messages", 1)), { startImmediately: true })
      const other = yield* Effect.forkChild(
        Effect.andThen(limiter.acquire(target("answers", 1)), limiter.acquire(target("answers", 1))),
        { startImmediately: true }
      )
      assert.isDefined(other.pollUnsafe())
      assert.isUndefined(second.pollUnsafe())
      yield* TestClock.adjust(60_225)
      assert.isDefined(second.pollUnsafe())
    }).pipe(Effect.provide(RateLimiter.layerMemory({ messages: { count: 1, window: "1 minute" } })))
  )

  it.effect("dies if a limit allows no request", () =>
    Effect.gen(function* () {
      const exit = yield* Effect.exit(RateLimiter.makeMemory({ answers: { count: 0, window: 1 } }))
      assert.isTrue(Exit.isFailure(exit) && String(exit.cause).includes("`answers.count` must be an integer above 0"))
    })
  )

  it.effect("lets waiting and later calls die when the fiber that grants permits has died", () =>
    Effect.gen(function* () {
      const limiter = yield* RateLimiter.RateLimiter
      const call = Effect.forkChild(Effect.exit(limiter.acquire(undefined)), { startImmediately: true })
      const calls = [yield* call, yield* call, yield* call]
      yield* TestClock.adjust("1 second")
      calls.push(yield* call)
      const exits = yield* Effect.forEach(calls, Fiber.join)
      const defects = exits.map((exit) => (Exit.isFailure(exit) ? String(Cause.squash(exit.cause)) : "granted"))
      const died = "RateLimiterStopped: The rate limiter grants no more permits because of a defect: Error: a defect"
      assert.deepStrictEqual(defects, ["granted", "granted", died, died])
    }).pipe(
      Effect.provide(RateLimiter.layerMemory({ host: { count: 1, window: 1000 }, margin: 0 })),
      Effect.provideService(CurrentObserver, {
        onPermit: (_, waited) => {
          if (waited > 0) throw new Error("a defect")
        },
        onWaiting: () => {},
        onRejected: () => {},
        onRateLimited: () => {},
        onPaused: () => {}
      })
    )
  )
})
