import { ChatId } from "@colloquy/core/model/Recipient"
import * as RateLimiter from "@colloquy/core/client/RateLimiter"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { fail, ok } from "node:assert"
import { test } from "../test.ts"

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index)

const window = 300

const toChat = (key: number): RateLimiter.Target => ({ scope: "messages", key })

const acquire = (target?: RateLimiter.Target) => RateLimiter.RateLimiter.use((limiter) => limiter.acquire(target))

const rejected = (target: RateLimiter.Target) =>
  Effect.matchEffect(acquire(target), {
    onFailure: Effect.succeed,
    onSuccess: () => Effect.sync(() => fail("the call got a permit"))
  })

/** Starts a call, which may have to wait. */
const start = <A, E, R>(call: Effect.Effect<A, E, R>) => Effect.forkChild(call, { startImmediately: true })

/** How many calls of each priority wait. */
const waiting = RateLimiter.RateLimiter.use(({ status }) => Effect.map(status, ({ waiting }) => waiting))

/** Starts the calls in order, and returns the order and the times of their permits. */
const acquireAll = <A>(items: ReadonlyArray<A>, call: (item: A) => ReturnType<typeof acquire>) =>
  Effect.gen(function* () {
    const order: Array<A> = []
    const times: Array<number> = []
    const acquired = (item: A) =>
      Effect.map(call(item), ({ at }) => {
        order.push(item)
        times.push(at)
      })
    yield* Effect.forEach(items, acquired, { concurrency: "unbounded", discard: true })
    return { order, times }
  })

const maxInWindow = (times: ReadonlyArray<number>) =>
  Math.max(...times.map((start) => times.filter((at) => at >= start && at < start + window).length))

const assertWithin = (limit: number, times: ReadonlyArray<number>, what: string): void =>
  ok(maxInWindow(times) <= limit, `${what} got ${maxInWindow(times)} permits in one window, the limit is ${limit}`)

export const limiterCases = [
  test("grants no more permits than the limits allow in any window, for the host and for a chat", function* () {
    const perChat = new Map<number, Array<number>>()
    const { times } = yield* acquireAll(numbers(30), (index) =>
      Effect.tap(acquire(toChat(index % 5)), ({ at }) =>
        Effect.sync(() => perChat.set(index % 5, [...(perChat.get(index % 5) ?? []), at]))
      )
    )
    assertWithin(6, times, "the host")
    for (const [chat, times] of perChat) assertWithin(2, times, `chat ${chat}`)
  }),

  test("grants permits to answers and replies at once within the limits", function* () {
    const { times } = yield* acquireAll(numbers(6), () => RateLimiter.withPriority(acquire(), "reply"))
    ok(Math.max(...times) - Math.min(...times) < window / 2, `the permits came at ${times.join(", ")}`)
  }),

  test("serves the calls of a chat in order, whatever their priorities", function* () {
    const priorities = ["broadcast", "normal", "reply"] as const
    const { order } = yield* acquireAll(numbers(6), (index) =>
      RateLimiter.withPriority(acquire(toChat(1)), priorities[index % 3])
    )
    ok(order.join() === numbers(6).join(), `the order was ${order.join(", ")}`)
  }),

  test("does not delay a chat because another one is busy", function* () {
    const { order } = yield* acquireAll([...numbers(8).map(() => 1), 2, 2], (chat) => acquire(toChat(chat)))
    ok(order.lastIndexOf(2) < 6, `the order was ${order.join(", ")}`)
  }),

  test("serves the more urgent priority first", function* () {
    yield* acquireAll(numbers(6), () => RateLimiter.withPriority(acquire(), "answer"))
    const priorities: ReadonlyArray<RateLimiter.Priority> = ["broadcast", "normal", "reply", "answer"]
    const { order } = yield* acquireAll(priorities, (priority) => RateLimiter.withPriority(acquire(), priority))
    ok(order.join() === "answer,reply,normal,broadcast", `the order was ${order.join(", ")}`)
  }),

  test("removes an interrupted call from the queue", function* () {
    yield* acquireAll(numbers(2), () => acquire(toChat(1)))
    const calls = yield* Effect.forEach(numbers(20), () => start(acquire(toChat(1))))
    yield* Fiber.interruptAll(calls)
    const { normal } = yield* waiting
    ok(normal === 0, `${normal} calls still wait`)
    const { times } = yield* acquireAll(numbers(2), () => acquire(toChat(1)))
    ok(times[1] - times[0] < window, "the interrupted calls used permits")
  }),

  test("rejects a call at once, or after its maximum wait", function* () {
    yield* acquireAll(numbers(2), () => acquire(toChat(1)))
    const { reason, retryAfter } = yield* RateLimiter.withMaxWait(rejected(toChat(1)), 0)
    const millis = Duration.toMillis(retryAfter)
    ok(reason === "MaxWaitExceeded", `the reason is ${reason}`)
    ok(millis > 0 && millis <= 2 * window, `retryAfter is ${millis} ms`)
    yield* RateLimiter.withMaxWait(rejected(toChat(1)), 20)
  }),

  test("rejects a call when the queue is full", function* () {
    const calls = yield* Effect.forEach(numbers(130), () => start(Effect.exit(acquire(toChat(1)))))
    const { reason } = yield* rejected(toChat(1))
    ok(reason === "QueueFull", `the reason is ${reason}`)
    const { normal } = yield* waiting
    ok(normal <= 100, `${normal} calls wait`)
    yield* Fiber.interruptAll(calls)
  }),

  test("replaces the waiting call of a slot by a newer one, which takes its place and the more urgent priority", function* () {
    yield* acquireAll(numbers(2), () => acquire(toChat(1)))
    const order: Array<string> = []
    const startAs = (name: string, call: ReturnType<typeof acquire>) =>
      start(Effect.exit(Effect.map(call, () => void order.push(name))))
    const inSlot = (priority: RateLimiter.Priority) =>
      acquire(toChat(1)).pipe(RateLimiter.withSlot("message"), RateLimiter.withPriority(priority))
    const first = yield* startAs("first", inSlot("broadcast"))
    const other = yield* startAs("other", acquire(toChat(1)))
    const second = yield* startAs("second", inSlot("reply"))
    const third = yield* startAs("third", inSlot("normal"))
    const left = yield* waiting
    ok(left.reply === 1 && left.broadcast === 0, `waiting are ${JSON.stringify(left)}`)
    const replaced = yield* Fiber.joinAll([first, second])
    for (const exit of replaced) {
      const isReplaced = exit._tag === "Failure" && JSON.stringify(exit.cause).includes("Replaced")
      ok(isReplaced, "a call that was replaced did not fail with the reason Replaced")
    }
    yield* Fiber.joinAll([other, third])
    ok(order.join() === "third,other", `the order was ${order.join(", ")}`)
  }),

  test("pauses all calls for the longest of several pauses", function* () {
    const limiter = yield* RateLimiter.RateLimiter
    const first = yield* acquire()
    yield* limiter.pause(Duration.millis(500))
    yield* limiter.pause(Duration.millis(100))
    const { at } = yield* RateLimiter.withPriority(acquire(toChat(1)), "answer")
    ok(at - first.at >= 500, `the permit came ${at - first.at} ms after the last one`)
  }),

  test("lowers the limit after a 429, once for all requests in flight", function* () {
    const permits = yield* Effect.forEach(numbers(6), () => RateLimiter.withPriority(acquire(), "answer"))
    for (const permit of permits.slice(3)) yield* permit.rejected()
    const { times } = yield* acquireAll(numbers(9), () => RateLimiter.withPriority(acquire(), "answer"))
    assertWithin(3, times, "the host after a 429")
    ok(Math.min(...times) - permits[5].at >= window, "the calls did not pause")
  }),

  test("counts messages to a user and to the chat of the dialog together", function* () {
    const limiter = yield* RateLimiter.RateLimiter
    const toUser: RateLimiter.Target = { scope: "messages", user: 5 }
    const first = yield* acquire(toUser)
    yield* limiter.linkDialog({ user_id: 5, chat_id: 77 })
    const { times } = yield* acquireAll([toUser, toChat(77), toUser, toChat(77)], acquire)
    assertWithin(2, [first.at, ...times], "the dialog")
  }),

  test("counts an answer in the chat whose update is handled, and answers of unknown chats together", function* () {
    const answer = acquire({ scope: "answers", priority: "answer" })
    const inChat = (id: number) => RateLimiter.withChat(answer, ChatId.make(id))
    const { times } = yield* acquireAll([1, 1, 1], inChat)
    assertWithin(1, times, "the chat")
    const { times: others } = yield* acquireAll([2, 3, 4], inChat)
    ok(Math.max(...others) - Math.min(...others) < window, "answers in several chats waited for each other")
    const { times: unknown } = yield* acquireAll(numbers(3), () => answer)
    assertWithin(1, unknown, "the unknown chat")
  })
]
