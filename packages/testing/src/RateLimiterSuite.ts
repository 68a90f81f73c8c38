/**
 * What any `RateLimiter` must do, as cases for whatever test runner. They wait by the clock that they get: real time for
 * a limiter that asks a server.
 *
 * @since 0.1.0
 */
import { ChatId } from "@colloquy/core/Recipient"
import * as RateLimiter from "@colloquy/core/RateLimiter"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"

/**
 * A case: run `effect` with a limiter of its own that has the {@link settings}.
 *
 * @category models
 * @since 0.1.0
 */
export interface Case {
  readonly name: string
  readonly effect: Effect.Effect<void, Broken | RateLimiter.RateLimiterError, RateLimiter.RateLimiter>
}

/**
 * What is not as it must be.
 *
 * @category errors
 * @since 0.1.0
 */
export class Broken extends Data.TaggedError("Broken")<{ readonly message: string }> {}

/**
 * The settings that the cases count on: windows short enough not to wait for long.
 *
 * @category settings
 * @since 0.1.0
 */
export const settings: RateLimiter.Options = {
  host: { count: 6, window: 290 },
  messages: { count: 2, window: 290 },
  answers: { count: 1, window: 290 },
  polling: { count: 1, window: 290 },
  margin: 10,
  maxQueued: 100,
  maxWait: "1 minute"
}

const window = 300

const expect = (isRight: boolean, message: string) => (isRight ? Effect.void : Effect.fail(new Broken({ message })))

const toChat = (key: number): RateLimiter.Target => ({ scope: "messages", key })

const acquire = (claim?: RateLimiter.Target) => RateLimiter.RateLimiter.use((limiter) => limiter.acquire(claim))

const inTurn = <A>(items: ReadonlyArray<A>, call: (item: A) => ReturnType<typeof acquire>) =>
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

const mostIn = (times: ReadonlyArray<number>) =>
  Math.max(...times.map((start) => times.filter((at) => at >= start && at < start + window).length))

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index)

const staysWithin = (count: number, times: ReadonlyArray<number>, what: string) =>
  expect(mostIn(times) <= count, `${what}: ${mostIn(times)} departures in one window, ${count} are allowed`)

/**
 * The cases.
 *
 * @category cases
 * @since 0.1.0
 */
export const cases: ReadonlyArray<Case> = [
  {
    name: "lets no more go than the limits allow, in any window, at the host and in a chat",
    effect: Effect.gen(function* () {
      const perChat = new Map<number, Array<number>>()
      const { times } = yield* inTurn(numbers(30), (index) =>
        Effect.tap(acquire(toChat(index % 5)), ({ at }) =>
          Effect.sync(() => perChat.set(index % 5, [...(perChat.get(index % 5) ?? []), at]))
        )
      )
      yield* staysWithin(6, times, "the host")
      yield* Effect.forEach(perChat, ([chat, times]) => staysWithin(2, times, `chat ${chat}`), { discard: true })
    })
  },
  {
    name: "lets answers and replies go at once while there is room",
    effect: Effect.gen(function* () {
      const { times } = yield* inTurn(numbers(6), () => RateLimiter.withPriority(acquire(), "reply"))
      yield* expect(Math.max(...times) - Math.min(...times) < window / 2, `departed at ${times.join(", ")}`)
    })
  },
  {
    name: "serves a chat in the order of its calls, whatever their lanes",
    effect: Effect.gen(function* () {
      const lanes = ["broadcast", "normal", "reply"] as const
      const { order } = yield* inTurn(numbers(6), (index) =>
        RateLimiter.withPriority(acquire(toChat(1)), lanes[index % 3])
      )
      yield* expect(order.join() === numbers(6).join(), `the order was ${order.join(", ")}`)
    })
  },
  {
    name: "does not let a busy chat hold up another",
    effect: Effect.gen(function* () {
      const { order } = yield* inTurn([...numbers(8).map(() => 1), 2, 2], (chat) => acquire(toChat(chat)))
      yield* expect(order.lastIndexOf(2) < 6, `the order was ${order.join(", ")}`)
    })
  },
  {
    name: "lets the more urgent lane go first",
    effect: Effect.gen(function* () {
      yield* inTurn(numbers(6), () => RateLimiter.withPriority(acquire(), "answer"))
      const lanes: ReadonlyArray<RateLimiter.Priority> = ["broadcast", "normal", "reply", "answer"]
      const { order } = yield* inTurn(lanes, (lane) => RateLimiter.withPriority(acquire(), lane))
      yield* expect(order.join() === "answer,reply,ordinary,broadcast", `the order was ${order.join(", ")}`)
    })
  },
  {
    name: "gives the place of a call that is interrupted to the next",
    effect: Effect.gen(function* () {
      yield* inTurn(numbers(2), () => acquire(toChat(1)))
      const limiter = yield* RateLimiter.RateLimiter
      const waiting = yield* Effect.forEach(numbers(20), () =>
        Effect.forkChild(acquire(toChat(1)), { startImmediately: true })
      )
      yield* Fiber.interruptAll(waiting)
      const { waiting: left } = yield* limiter.status
      yield* expect(left.normal === 0, `${left.normal} still wait`)
      const { times } = yield* inTurn(numbers(2), () => acquire(toChat(1)))
      yield* expect(times[1] - times[0] < window, "the places of those who left were taken")
    })
  },
  {
    name: "fails at once, or when the deadline passes, where the caller asks for it",
    effect: Effect.gen(function* () {
      yield* inTurn(numbers(2), () => acquire(toChat(1)))
      const error = yield* Effect.flip(RateLimiter.withMaxWait(acquire(toChat(1)), 0)).pipe(
        Effect.mapError(() => new Broken({ message: "it departed" }))
      )
      const millis = Duration.toMillis(error.retryAfter)
      yield* expect(!error.isFull && millis > 0 && millis <= 2 * window, `it says to wait for ${millis} ms`)
      yield* Effect.flip(RateLimiter.withMaxWait(acquire(toChat(1)), 20)).pipe(
        Effect.mapError(() => new Broken({ message: "it departed" }))
      )
    })
  },
  {
    name: "lets more wait than departs, but not more than the backlog",
    effect: Effect.gen(function* () {
      const limiter = yield* RateLimiter.RateLimiter
      const waiting = yield* Effect.forEach(numbers(130), () =>
        Effect.forkChild(Effect.exit(acquire(toChat(1))), { startImmediately: true })
      )
      const error = yield* Effect.flip(acquire(toChat(1))).pipe(
        Effect.mapError(() => new Broken({ message: "it departed" }))
      )
      yield* expect(error.isFull, "the backlog is not full")
      const { waiting: left } = yield* limiter.status
      yield* expect(left.normal <= 100, `${left.normal} wait`)
      yield* Fiber.interruptAll(waiting)
    })
  },
  {
    name: "pauses everybody, for the longest of the pauses",
    effect: Effect.gen(function* () {
      const limiter = yield* RateLimiter.RateLimiter
      const first = yield* acquire()
      yield* limiter.pause(Duration.millis(500))
      yield* limiter.pause(Duration.millis(100))
      const { at } = yield* RateLimiter.withPriority(acquire(toChat(1)), "answer")
      yield* expect(at - first.at >= 500, `it departed ${at - first.at} ms after the last`)
    })
  },
  {
    name: "learns from a 429 what the platform allows, once for all that was in flight",
    effect: Effect.gen(function* () {
      const limiter = yield* RateLimiter.RateLimiter
      const departures = yield* Effect.forEach(numbers(6), () => RateLimiter.withPriority(acquire(), "answer"))
      for (const refused of departures.slice(3)) yield* limiter.onRateLimited(refused)
      const { times } = yield* inTurn(numbers(9), () => RateLimiter.withPriority(acquire(), "answer"))
      yield* staysWithin(3, times, "the host after a 429")
      yield* expect(Math.min(...times) - departures[5].at >= window, "nobody paused")
    })
  },
  {
    name: "takes a dialog for one chat, by its user and by its id",
    effect: Effect.gen(function* () {
      const limiter = yield* RateLimiter.RateLimiter
      const byUser: RateLimiter.Target = { scope: "messages", user: 5 }
      const first = yield* acquire(byUser)
      yield* limiter.linkDialog({ user_id: 5, chat_id: 77 })
      const { times } = yield* inTurn([byUser, toChat(77), byUser, toChat(77)], acquire)
      yield* staysWithin(2, [first.at, ...times], "the dialog")
    })
  },
  {
    name: "counts an answer in the chat whose update is handled",
    effect: Effect.gen(function* () {
      const answer = acquire({ scope: "answers", priority: "answer" })
      const inChat = (id: number) => RateLimiter.withChat(answer, ChatId.make(id))
      const { times } = yield* inTurn([1, 1, 1], inChat)
      yield* staysWithin(1, times, "answers")
      const free = yield* inTurn(numbers(3), () => answer)
      yield* expect(
        Math.max(...free.times) - Math.min(...free.times) < window,
        "answers of no chat wait for each other"
      )
    })
  }
]
