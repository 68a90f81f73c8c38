/**
 * Test cases for every implementation of `RateLimiter`, for any test runner. They use the clock of their context. If the
 * rate limiter uses a server, run them in real time.
 *
 * @since 0.1.0
 */
import { ChatId } from "@colloquy/core/Recipient"
import * as RateLimiter from "@colloquy/core/RateLimiter"
import { type AcquireOptions, type Process, turn } from "@colloquy/core/RateLimiterProtocol"
import { RateLimiterStore } from "@colloquy/core/RateLimiterStore"
import type { StoreError } from "@colloquy/core/StoreError"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Fiber from "effect/Fiber"

/**
 * A test case.
 *
 * @category models
 * @since 0.1.0
 */
export interface Case {
  /** What the rate limiter does, as the title of a test. */
  readonly name: string
  /** The test. Run it with a new rate limiter that has the {@link options}. */
  readonly effect: Effect.Effect<void, CaseFailed | RateLimiter.RateLimiterError, RateLimiter.RateLimiter>
}

/**
 * A case of the stores.
 *
 * @category models
 * @since 0.1.0
 */
export interface StoreCase {
  /** What the store does, as the title of a test. */
  readonly name: string
  /** The test. Run it with a store that is empty. */
  readonly effect: Effect.Effect<void, CaseFailed | StoreError, RateLimiterStore>
}

/**
 * A case failed: the rate limiter does not do what the name of the case says.
 *
 * @category errors
 * @since 0.1.0
 */
export class CaseFailed extends Data.TaggedError("CaseFailed")<{ readonly message: string }> {}

/**
 * The options of the rate limiter under test. Their windows are short, so that the cases do not take long.
 *
 * @category options
 * @since 0.1.0
 */
export const options: RateLimiter.Options = {
  host: { count: 6, window: 290 },
  messages: { count: 2, window: 290 },
  answers: { count: 1, window: 290 },
  polling: { count: 1, window: 290 },
  margin: 10,
  maxQueued: 100,
  maxWait: "1 minute"
}

const window = 300

const expect = (condition: boolean, message: string) =>
  condition ? Effect.void : Effect.fail(new CaseFailed({ message }))

const toChat = (key: number): RateLimiter.Target => ({ scope: "messages", key })

const acquire = (target?: RateLimiter.Target) => RateLimiter.RateLimiter.use((limiter) => limiter.acquire(target))

const rejected = (target: RateLimiter.Target) =>
  Effect.flip(acquire(target)).pipe(Effect.mapError(() => new CaseFailed({ message: "the call got a permit" })))

/** Starts the calls in order, and returns the order and the times of their permits. */
const acquireAll = <A>(items: ReadonlyArray<A>, call: (item: A) => ReturnType<typeof acquire>) =>
  Effect.gen(function* () {
    const order: Array<A> = []
    const times: Array<number> = []
    const fibers = yield* Effect.forEach(items, (item) =>
      call(item).pipe(
        Effect.map(({ at }) => {
          order.push(item)
          times.push(at)
        }),
        Effect.forkChild({ startImmediately: true })
      )
    )
    yield* Fiber.joinAll(fibers)
    return { order, times }
  })

const maxInWindow = (times: ReadonlyArray<number>) =>
  Math.max(...times.map((start) => times.filter((at) => at >= start && at < start + window).length))

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index)

const expectWithin = (limit: number, times: ReadonlyArray<number>, what: string) =>
  expect(maxInWindow(times) <= limit, `${what} got ${maxInWindow(times)} permits in one window, the limit is ${limit}`)

/**
 * The cases.
 *
 * **Example** (Test a rate limiter with vitest)
 *
 * ```ts
 * import { RateLimiter } from "@colloquy/core"
 * import * as RateLimiterSuite from "@colloquy/testing/RateLimiterSuite"
 * import { describe, it } from "@effect/vitest"
 * import { Effect } from "effect"
 *
 * describe("RateLimiter.layerMemory", () => {
 *   for (const { effect, name } of RateLimiterSuite.cases) {
 *     it.live(name, () => Effect.provide(effect, RateLimiter.layerMemory(RateLimiterSuite.options)))
 *   }
 * })
 * ```
 *
 * @category cases
 * @since 0.1.0
 */
export const cases: ReadonlyArray<Case> = [
  {
    name: "grants no more permits than the limits allow in any window, for the host and for a chat",
    effect: Effect.gen(function* () {
      const perChat = new Map<number, Array<number>>()
      const { times } = yield* acquireAll(numbers(30), (index) =>
        Effect.tap(acquire(toChat(index % 5)), ({ at }) =>
          Effect.sync(() => perChat.set(index % 5, [...(perChat.get(index % 5) ?? []), at]))
        )
      )
      yield* expectWithin(6, times, "the host")
      yield* Effect.forEach(perChat, ([chat, times]) => expectWithin(2, times, `chat ${chat}`), { discard: true })
    })
  },
  {
    name: "grants permits to answers and replies at once within the limits",
    effect: Effect.gen(function* () {
      const { times } = yield* acquireAll(numbers(6), () => RateLimiter.withPriority(acquire(), "reply"))
      yield* expect(Math.max(...times) - Math.min(...times) < window / 2, `the permits came at ${times.join(", ")}`)
    })
  },
  {
    name: "serves the calls of a chat in order, whatever their priorities",
    effect: Effect.gen(function* () {
      const priorities = ["broadcast", "normal", "reply"] as const
      const { order } = yield* acquireAll(numbers(6), (index) =>
        RateLimiter.withPriority(acquire(toChat(1)), priorities[index % 3])
      )
      yield* expect(order.join() === numbers(6).join(), `the order was ${order.join(", ")}`)
    })
  },
  {
    name: "does not delay a chat because another one is busy",
    effect: Effect.gen(function* () {
      const { order } = yield* acquireAll([...numbers(8).map(() => 1), 2, 2], (chat) => acquire(toChat(chat)))
      yield* expect(order.lastIndexOf(2) < 6, `the order was ${order.join(", ")}`)
    })
  },
  {
    name: "serves the more urgent priority first",
    effect: Effect.gen(function* () {
      yield* acquireAll(numbers(6), () => RateLimiter.withPriority(acquire(), "answer"))
      const priorities: ReadonlyArray<RateLimiter.Priority> = ["broadcast", "normal", "reply", "answer"]
      const { order } = yield* acquireAll(priorities, (priority) => RateLimiter.withPriority(acquire(), priority))
      yield* expect(order.join() === "answer,reply,normal,broadcast", `the order was ${order.join(", ")}`)
    })
  },
  {
    name: "removes an interrupted call from the queue",
    effect: Effect.gen(function* () {
      yield* acquireAll(numbers(2), () => acquire(toChat(1)))
      const limiter = yield* RateLimiter.RateLimiter
      const calls = yield* Effect.forEach(numbers(20), () =>
        Effect.forkChild(acquire(toChat(1)), { startImmediately: true })
      )
      yield* Fiber.interruptAll(calls)
      const { waiting } = yield* limiter.status
      yield* expect(waiting.normal === 0, `${waiting.normal} calls still wait`)
      const { times } = yield* acquireAll(numbers(2), () => acquire(toChat(1)))
      yield* expect(times[1] - times[0] < window, "the interrupted calls used permits")
    })
  },
  {
    name: "rejects a call at once, or after its maximum wait",
    effect: Effect.gen(function* () {
      yield* acquireAll(numbers(2), () => acquire(toChat(1)))
      const { reason, retryAfter } = yield* RateLimiter.withMaxWait(rejected(toChat(1)), 0)
      const millis = Duration.toMillis(retryAfter)
      yield* expect(reason === "MaxWaitExceeded", `the reason is ${reason}`)
      yield* expect(millis > 0 && millis <= 2 * window, `retryAfter is ${millis} ms`)
      yield* RateLimiter.withMaxWait(rejected(toChat(1)), 20)
    })
  },
  {
    name: "rejects a call when the queue is full",
    effect: Effect.gen(function* () {
      const limiter = yield* RateLimiter.RateLimiter
      const calls = yield* Effect.forEach(numbers(130), () =>
        Effect.forkChild(Effect.exit(acquire(toChat(1))), { startImmediately: true })
      )
      const { reason } = yield* rejected(toChat(1))
      yield* expect(reason === "QueueFull", `the reason is ${reason}`)
      const { waiting } = yield* limiter.status
      yield* expect(waiting.normal <= 100, `${waiting.normal} calls wait`)
      yield* Fiber.interruptAll(calls)
    })
  },
  {
    name: "replaces the waiting call of a slot by a newer one, which takes its place and the more urgent priority",
    effect: Effect.gen(function* () {
      yield* acquireAll(numbers(2), () => acquire(toChat(1)))
      const limiter = yield* RateLimiter.RateLimiter
      const order: Array<string> = []
      const start = (name: string, call: ReturnType<typeof acquire>) =>
        Effect.forkChild(Effect.exit(Effect.map(call, () => void order.push(name))), { startImmediately: true })
      const inSlot = (priority: RateLimiter.Priority) =>
        acquire(toChat(1)).pipe(RateLimiter.withSlot("message"), RateLimiter.withPriority(priority))
      const first = yield* start("first", inSlot("broadcast"))
      const other = yield* start("other", acquire(toChat(1)))
      const second = yield* start("second", inSlot("reply"))
      const third = yield* start("third", inSlot("normal"))
      const { waiting } = yield* limiter.status
      yield* expect(waiting.reply === 1 && waiting.broadcast === 0, `waiting are ${JSON.stringify(waiting)}`)
      const replaced = yield* Fiber.joinAll([first, second])
      for (const exit of replaced) {
        const isReplaced = exit._tag === "Failure" && JSON.stringify(exit.cause).includes("Replaced")
        yield* expect(isReplaced, "a call that was replaced did not fail with the reason Replaced")
      }
      yield* Fiber.joinAll([other, third])
      yield* expect(order.join() === "third,other", `the order was ${order.join(", ")}`)
    })
  },
  {
    name: "pauses all calls for the longest of several pauses",
    effect: Effect.gen(function* () {
      const limiter = yield* RateLimiter.RateLimiter
      const first = yield* acquire()
      yield* limiter.pause(Duration.millis(500))
      yield* limiter.pause(Duration.millis(100))
      const { at } = yield* RateLimiter.withPriority(acquire(toChat(1)), "answer")
      yield* expect(at - first.at >= 500, `the permit came ${at - first.at} ms after the last one`)
    })
  },
  {
    name: "lowers the limit after a 429, once for all requests in flight",
    effect: Effect.gen(function* () {
      const limiter = yield* RateLimiter.RateLimiter
      const permits = yield* Effect.forEach(numbers(6), () => RateLimiter.withPriority(acquire(), "answer"))
      for (const permit of permits.slice(3)) yield* limiter.onRateLimited(permit)
      const { times } = yield* acquireAll(numbers(9), () => RateLimiter.withPriority(acquire(), "answer"))
      yield* expectWithin(3, times, "the host after a 429")
      yield* expect(Math.min(...times) - permits[5].at >= window, "the calls did not pause")
    })
  },
  {
    name: "counts messages to a user and to the chat of the dialog together",
    effect: Effect.gen(function* () {
      const limiter = yield* RateLimiter.RateLimiter
      const toUser: RateLimiter.Target = { scope: "messages", user: 5 }
      const first = yield* acquire(toUser)
      yield* limiter.linkDialog({ user_id: 5, chat_id: 77 })
      const { times } = yield* acquireAll([toUser, toChat(77), toUser, toChat(77)], acquire)
      yield* expectWithin(2, [first.at, ...times], "the dialog")
    })
  },
  {
    name: "counts an answer in the chat whose update is handled, and answers of unknown chats together",
    effect: Effect.gen(function* () {
      const answer = acquire({ scope: "answers", priority: "answer" })
      const inChat = (id: number) => RateLimiter.withChat(answer, ChatId.make(id))
      const { times } = yield* acquireAll([1, 1, 1], inChat)
      yield* expectWithin(1, times, "the chat")
      const { times: others } = yield* acquireAll([2, 3, 4], inChat)
      yield* expect(
        Math.max(...others) - Math.min(...others) < window,
        "answers in several chats waited for each other"
      )
      const { times: unknown } = yield* acquireAll(numbers(3), () => answer)
      yield* expectWithin(1, unknown, "the unknown chat")
    })
  }
]

const storeHost = { count: 6, window: 200 }

const maxDelay = 50

const member = (id: string, overrides: Partial<Process> = {}): Process => ({
  id,
  share: 0,
  absentAfter: 50,
  reserveFor: 300,
  epoch: undefined,
  reserved: 0,
  reservedForOthers: 0,
  ...overrides
})

/** Asks the store for permits without a bucket, with the ids `<process>:<first>` and so on. */
const ask = (process: Process, count: number, overrides: Partial<AcquireOptions> = {}) =>
  RateLimiterStore.use((store) =>
    store.acquire({
      process,
      requests: numbers(count).map((index) => ({ id: `${process.id}:${index}`, bucket: undefined, isPaced: false })),
      host: storeHost,
      delay: 0,
      advance: 0,
      maxDelay,
      deadline: Number.MAX_SAFE_INTEGER,
      unused: [],
      sentAlone: [],
      ...overrides
    })
  )

const acquired = (process: Process, count: number, overrides: Partial<AcquireOptions> = {}) =>
  Effect.flatMap(ask(process, count, overrides), (result) =>
    result._tag === "Late"
      ? Effect.fail(new CaseFailed({ message: "the call came late" }))
      : Effect.succeed({ ...result, granted: result.results.filter(({ _tag }) => _tag === "Granted").length })
  )

/** Calls an empty store, and waits until it grants permits. */
const settled = Effect.andThen(ask(member("first"), 0), Effect.sleep(storeHost.window + maxDelay + 10))

const expectEqual = (actual: unknown, expected: unknown, what: string) =>
  expect(Equal.equals(actual, expected), `${what}: ${String(actual)} instead of ${String(expected)}`)

/**
 * The cases that every `RateLimiterStore` has to pass.
 *
 * **Example** (Test a store with vitest)
 *
 * ```ts
 * import * as RateLimiterStore from "@colloquy/core/RateLimiterStore"
 * import * as RateLimiterSuite from "@colloquy/testing/RateLimiterSuite"
 * import { describe, it } from "@effect/vitest"
 * import { Effect } from "effect"
 *
 * describe("RateLimiterStore.layerMemory", () => {
 *   for (const { effect, name } of RateLimiterSuite.storeCases) {
 *     it.live(name, () => Effect.provide(effect, RateLimiterStore.layerMemory()))
 *   }
 * })
 * ```
 *
 * @category cases
 * @since 0.1.0
 */
export const storeCases: ReadonlyArray<StoreCase> = [
  {
    name: "grants no permit for a window after it was empty",
    effect: Effect.gen(function* () {
      const { granted, now, results } = yield* acquired(member("a"), 1)
      yield* expectEqual(granted, 0, "permits of an empty store")
      const [result] = results
      const retryAfter = result._tag === "HostFull" ? result.retryAfter : 0
      yield* expect(Math.abs(retryAfter - storeHost.window - maxDelay) < 1, `retryAfter is ${retryAfter} ms`)
      yield* Effect.sleep(retryAfter + 10)
      const later = yield* acquired(member("a"), 7)
      yield* expectEqual(later.granted, 6, "permits after a window")
      yield* expect(later.now >= now + retryAfter, "the clock of the store went back")
    })
  },
  {
    name: "does nothing after the deadline of a call",
    effect: Effect.gen(function* () {
      yield* settled
      const deadline = (yield* RateLimiterStore.use(({ time }) => time)) - 1
      const { _tag } = yield* ask(member("a", { share: 1 }), 6, { deadline })
      yield* expectEqual(_tag, "Late", "the result")
      const { granted, reservedForOthers } = yield* acquired(member("b"), 6)
      yield* expectEqual(granted, 6, "permits that are left")
      yield* expectEqual(reservedForOthers, 0, "permits that are reserved")
    })
  },
  {
    name: "reserves the share of an absent member for a limited time",
    effect: Effect.gen(function* () {
      yield* settled
      const present = yield* acquired(member("a", { share: 0.5, reserveFor: 600 }), 0)
      yield* expectEqual(present.reserved, 3, "permits that are reserved for the member")
      yield* expectEqual((yield* acquired(member("b"), 7)).granted, 6, "permits while the member is present")
      yield* Effect.sleep(storeHost.window + 10)
      yield* expectEqual((yield* acquired(member("b"), 7)).granted, 3, "permits while the member is absent")
      yield* Effect.sleep(600 + maxDelay)
      yield* expectEqual((yield* acquired(member("b"), 7)).granted, 6, "permits after the member was removed")
    })
  },
  {
    name: "ends a membership",
    effect: Effect.gen(function* () {
      yield* settled
      yield* acquired(member("a", { share: 0.5, reserveFor: 60_000 }), 0)
      yield* RateLimiterStore.use((store) => store.leave("a"))
      yield* Effect.sleep(60)
      yield* expectEqual((yield* acquired(member("b"), 7)).granted, 6, "permits after the member left")
    })
  },
  {
    name: "reserves no more than the limit for all members together",
    effect: Effect.gen(function* () {
      yield* settled
      const reserved = (id: string) => Effect.map(acquired(member(id, { share: 0.7 }), 0), ({ reserved }) => reserved)
      yield* expectEqual(yield* reserved("a"), 4, "permits of the first member")
      yield* expectEqual(yield* reserved("b"), 2, "permits of the second member")
      yield* expectEqual(yield* reserved("c"), 0, "permits of the third member")
      yield* expectEqual(yield* reserved("a"), 4, "permits of the first member after the others came")
    })
  },
  {
    name: "counts what a process sent alone, once, and does not count unused permits",
    effect: Effect.gen(function* () {
      yield* settled
      const bucket = { key: "messages:1", count: 2, window: storeHost.window }
      const sentAlone = [
        { id: "a:alone:0", bucket, age: 0 },
        { id: "a:alone:1", bucket: undefined, age: 10 },
        { id: "a:alone:2", bucket: undefined, age: storeHost.window + 10 }
      ]
      yield* acquired(member("a"), 0, { sentAlone })
      const inBucket = numbers(2).map((index) => ({ id: `b:${index}`, bucket, isPaced: false }))
      const { results } = yield* acquired(member("b"), 0, { sentAlone, requests: inBucket })
      yield* expectEqual(results.map(({ _tag }) => _tag).join(), "Granted,BucketFull", "permits of the bucket")
      yield* expectEqual((yield* acquired(member("c"), 3)).granted, 3, "permits that are left")
      const unused = [{ id: "b:0", bucket: bucket.key }]
      const again = yield* acquired(member("b"), 0, { unused, requests: inBucket.slice(1) })
      yield* expectEqual(again.results[0]._tag, "Granted", "the permit of the bucket after one was returned")
      yield* expectEqual((yield* acquired(member("d"), 1)).granted, 0, "permits after all were granted")
    })
  },
  {
    name: "reserves what the members of a lost store report about each other",
    effect: Effect.gen(function* () {
      yield* settled
      const returned = (id: string) =>
        acquired(member(id, { epoch: "before", reserved: 2, reservedForOthers: 4, reserveFor: 60_000 }), 0)
      yield* returned("a")
      yield* expectEqual((yield* returned("b")).reservedForOthers, 2, "permits reserved for the third member")
      yield* expectEqual((yield* acquired(member("d"), 7)).granted, 4, "permits that are left")
    })
  },
  {
    name: "counts a permit later that was moved to a later time",
    effect: Effect.gen(function* () {
      yield* settled
      const { now } = yield* acquired(member("a"), 6)
      yield* RateLimiterStore.use((store) => store.move({ id: "a:0", bucket: undefined, to: now + 150 }))
      yield* Effect.sleep(storeHost.window + 10)
      yield* expectEqual((yield* acquired(member("b"), 7)).granted, 5, "permits that are left")
    })
  },
  {
    name: "counts a permit earlier that was moved to an earlier time",
    effect: Effect.gen(function* () {
      yield* settled
      const bucket = { key: "messages:1", count: 1, window: storeHost.window }
      const request = (id: string) => ({ id, bucket, isPaced: false })
      const { now } = yield* acquired(member("a"), 0, {
        delay: maxDelay,
        requests: numbers(6).map((index) => request(`a:${index}`))
      })
      yield* acquired(member("b"), 5)
      for (const id of ["a:0", "unknown"]) {
        yield* RateLimiterStore.use((store) => store.move({ id, bucket: bucket.key, to: now - storeHost.window }))
      }
      const { granted } = yield* acquired(member("c"), 0, { requests: [request("c:0"), request("c:1")] })
      yield* expectEqual(granted, 1, "permits of the host and of the bucket")
    })
  },
  {
    name: "leaves a permit to a process that waits longer, and lets the other ask again soon",
    effect: Effect.gen(function* () {
      yield* settled
      const { now } = yield* acquired(member("a"), 6)
      yield* RateLimiterStore.use((store) => store.move({ id: "a:0", bucket: undefined, to: now - 100 }))
      yield* acquired(member("b"), 1)
      yield* Effect.sleep(110)
      const { results } = yield* acquired(member("c"), 1)
      const [result] = results
      yield* expectEqual(result._tag, "HostFull", "the permit that is left to the process that waits longer")
      const retryAfter = result._tag === "HostFull" ? result.retryAfter : Infinity
      yield* expect(retryAfter > 0 && retryAfter <= turn, `retryAfter is ${retryAfter} ms`)
    })
  },
  {
    name: "leaves no permit to a process that is expected much later",
    effect: Effect.gen(function* () {
      yield* settled
      const { now } = yield* acquired(member("a"), 6)
      yield* acquired(member("b"), 1)
      yield* acquired(member("c"), 1)
      yield* RateLimiterStore.use((store) => store.move({ id: "a:0", bucket: undefined, to: now - storeHost.window }))
      yield* expectEqual((yield* acquired(member("c"), 1)).granted, 1, "permits that became free early")
    })
  },
  {
    name: "grants a permit in advance that is free soon",
    effect: Effect.gen(function* () {
      yield* settled
      const first = yield* acquired(member("a"), 6)
      const { granted, now, results } = yield* acquired(member("b"), 2, { advance: storeHost.window })
      yield* expectEqual(granted, 2, "permits in advance")
      for (const result of results) {
        const at = result._tag === "Granted" ? result.at : -Infinity
        yield* expect(at >= first.now + storeHost.window && at >= now, `a permit is granted at ${at - first.now} ms`)
      }
      yield* expectEqual((yield* acquired(member("c"), 1)).granted, 0, "permits that are free now")
      yield* Effect.sleep(storeHost.window + 10)
      yield* expectEqual((yield* acquired(member("c"), 7)).granted, 4, "permits that are left")
    })
  }
]
