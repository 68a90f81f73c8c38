import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import { ChatId } from "../src/Recipient.ts"
import * as RateLimiter from "../src/RateLimiter.ts"

interface Arrival {
  readonly after: number
  readonly claim: RateLimiter.Target | undefined
  readonly lane?: RateLimiter.Priority
  /** When the caller loses interest, should it still wait. */
  readonly leavesAfter?: number
}

interface Departure extends Arrival {
  readonly index: number
  readonly at: number
}

const { defaults: documented } = RateLimiter

const withoutMargin = { ...documented, margin: 0 }

/** Lets the arrivals come one after another and says when each departed. */
const departuresOf = Effect.fnUntraced(function* (
  limiter: RateLimiter.RateLimiter["Service"],
  arrivals: ReadonlyArray<Arrival>
) {
  const departures: Array<Departure> = []
  const fibers: Array<Fiber.Fiber<unknown, unknown>> = []
  for (const [index, arrival] of arrivals.entries()) {
    const { after, claim, lane = "normal", leavesAfter } = arrival
    if (after > 0) yield* TestClock.adjust(after)
    const going = limiter.acquire(claim).pipe(
      RateLimiter.withPriority(lane),
      Effect.andThen(Clock.currentTimeMillis),
      Effect.map((at) => departures.push({ index, at, ...arrival }))
    )
    const leaving = Effect.timeoutOption(going, leavesAfter ?? Infinity)
    fibers.push(yield* Effect.forkChild(leaving, { startImmediately: true }))
  }
  yield* TestClock.adjust("1 hour")
  yield* Fiber.joinAll(fibers)
  return departures
})

const timesOf = (settings: RateLimiter.Options, arrivals: ReadonlyArray<Arrival>) =>
  Effect.gen(function* () {
    const start = yield* Clock.currentTimeMillis
    const departures = yield* departuresOf(yield* RateLimiter.make(settings), arrivals)
    return departures.map(({ at }) => at - start)
  })

/** The most departures in any window that begins with a departure, which is the most in any window. */
const mostIn = (window: number, times: ReadonlyArray<number>): number =>
  Math.max(0, ...times.map((start) => times.filter((at) => at >= start && at < start + window).length))

const claim = (scope: RateLimiter.Target["scope"], key: number): RateLimiter.Target => ({ scope, key })

const many = <A>(count: number, make: (index: number) => A) => Array.from({ length: count }, (_, index) => make(index))

const isSorted = (numbers: ReadonlyArray<number>) =>
  numbers.every((number, index) => index === 0 || numbers[index - 1] <= number)

/** The dialog with user 7 is chat 1. */
const lineOf = ({ claim }: Arrival) =>
  claim === undefined ? undefined : `${claim.scope}:${claim.user === 7 ? 1 : claim.key}`

const narrow: RateLimiter.Options = {
  ...documented,
  host: { count: 5, window: 1000 },
  messages: { count: 2, window: 1050 },
  answers: { count: 1, window: 400 },
  polling: { count: 3, window: 700 },
  margin: 10
}

const pick = <A>(...values: ReadonlyArray<A>) =>
  Arbitrary.map(Arbitrary.schema(Schema.Literals(values.map((_, index) => index))), (index) => values[index])

const arrivals = Arbitrary.array(
  Arbitrary.map(
    Arbitrary.all({
      after: pick(0, 0, 0, 1, 20, 333, 500, 1049, 1050, 1051),
      scope: pick("none", "messages", "messages", "user", "answers", "polling"),
      key: pick(1, 2, 3),
      lane: pick<RateLimiter.Priority>("answer", "reply", "normal", "broadcast"),
      leavesAfter: pick(undefined, undefined, undefined, 1, 400, 2000)
    }),
    ({ key, scope, leavesAfter, ...rest }): Arrival => ({
      ...rest,
      ...(leavesAfter === undefined ? {} : { leavesAfter }),
      claim:
        scope === "none"
          ? undefined
          : scope === "user"
            ? { scope: "messages", user: 7 }
            : claim(scope as "messages" | "answers" | "polling", key)
    })
  ),
  { minLength: 1, maxLength: 60 }
)

describe("departures", () => {
  it.effect.prop(
    "never exceed a limit in any window, at the host or in a line, keep their order in a line, and are none too few",
    { arrivals },
    ({ arrivals }) =>
      Effect.gen(function* () {
        const limiter = yield* RateLimiter.make(narrow)
        yield* limiter.linkDialog({ user_id: 7, chat_id: 1 })
        const departures = yield* departuresOf(limiter, arrivals)
        assert.isAtLeast(departures.length, arrivals.filter(({ leavesAfter }) => leavesAfter === undefined).length)
        const within = (scope: RateLimiter.Scope, departures: ReadonlyArray<Departure>) =>
          assert.isAtMost(
            mostIn(
              Duration.toMillis(narrow[scope].window) + 10,
              departures.map(({ at }) => at)
            ),
            narrow[scope].count
          )
        within("host", departures)
        for (const [line, inLine] of Map.groupBy(departures, lineOf)) {
          if (line === undefined) continue
          within(inLine[0].claim!.scope, inLine)
          assert.isTrue(isSorted(inLine.map(({ index }) => index)), line)
        }
        const { waiting } = yield* limiter.status
        assert.deepStrictEqual(waiting, { answer: 0, reply: 0, normal: 0, broadcast: 0 })
      }),
    { arbitrary: { runs: 200 } }
  )

  it.effect("go at once while there is room, and then as soon as there is again", () =>
    Effect.gen(function* () {
      const toOne = many(5, () => ({ after: 0, claim: claim("messages", 1) }))
      assert.deepStrictEqual(yield* timesOf(withoutMargin, toOne), [0, 0, 1000, 1000, 2000])
      const replies = many(61, () => ({ after: 0, claim: undefined, lane: "reply" as const }))
      const times = yield* timesOf(withoutMargin, replies)
      assert.deepStrictEqual([times[29], times[30], times[59], times[60]], [0, 1000, 1000, 2000])
    })
  )

  it.effect("that are neither answers nor replies are spread over the window beyond a third of it", () =>
    Effect.gen(function* () {
      const host = { count: 10, window: 1000 }
      const times = yield* timesOf(
        { ...withoutMargin, host },
        many(25, () => ({ after: 0, claim: undefined }))
      )
      assert.deepStrictEqual(times.slice(0, 10), [0, 0, 0, 0, 100, 200, 300, 400, 500, 600])
      assert.deepStrictEqual(
        times.slice(10),
        many(15, (index) => 1000 + index * 100)
      )
    })
  )

  it.effect("keep a margin of 25 ms unless told, and eight more for the first of a process", () =>
    Effect.gen(function* () {
      const three = many(3, () => ({ after: 0, claim: claim("answers", 1) }))
      assert.deepStrictEqual(yield* timesOf(documented, three), [0, 0, 1225])
      assert.deepStrictEqual(yield* timesOf({ ...documented, margin: "1 second" }, three), [0, 0, 10_000])
    })
  )

  it.effect("of a busy chat do not hold up other chats", () =>
    Effect.gen(function* () {
      const limiter = yield* RateLimiter.make(documented)
      const hot = many(50, () => ({ after: 0, claim: claim("messages", 1) }))
      const cold = many(6, (key) => ({ after: 0, claim: claim("messages", key + 2) }))
      const departures = yield* departuresOf(limiter, [...hot, ...cold])
      const coldTimes = departures.filter(({ claim }) => claim?.key !== 1).map(({ at }) => at)
      assert.deepStrictEqual(new Set(coldTimes), new Set([0]))
    })
  )

  it.effect("of one key in two scopes are counted apart", () =>
    Effect.gen(function* () {
      const both = [claim("messages", 1), claim("messages", 1), claim("answers", 1), claim("answers", 1)]
      assert.deepStrictEqual(
        yield* timesOf(
          documented,
          both.map((claim) => ({ after: 0, claim }))
        ),
        [0, 0, 0, 0]
      )
    })
  )
})

describe("a dialog", () => {
  const user: RateLimiter.Target = { scope: "messages", user: 5 }
  const chat: RateLimiter.Target = { scope: "messages", key: 77 }

  it.effect("that is addressed by its user and by its chat is one, once that is known", () =>
    Effect.gen(function* () {
      const limiter = yield* RateLimiter.make(withoutMargin)
      yield* limiter.acquire(user)
      yield* limiter.linkDialog({ user_id: 5, chat_id: 77 })
      yield* limiter.acquire(chat)
      const start = (yield* Effect.forkChild(limiter.acquire(user), { startImmediately: true })).pollUnsafe()
      assert.isUndefined(start)
      const departures = yield* departuresOf(limiter, [
        { after: 0, claim: chat },
        { after: 0, claim: user },
        { after: 0, claim: chat }
      ])
      assert.deepStrictEqual(
        departures.map(({ at }) => at),
        [1000, 2000, 2000]
      )
    })
  )

  it.effect("whose calls wait when that becomes known serves them in the order they came", () =>
    Effect.gen(function* () {
      const limiter = yield* RateLimiter.make(withoutMargin)
      const sent: Array<string> = []
      const fibers = yield* Effect.forEach([user, user, chat, chat, user, chat, chat, user], (claim, index) =>
        Effect.forkChild(
          Effect.map(limiter.acquire(claim), () => sent.push(`${index}`)),
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

  it.effect("counts callbacks where the update is handled", () =>
    Effect.gen(function* () {
      const limiter = yield* RateLimiter.make(withoutMargin)
      const answer = limiter.acquire({ scope: "answers", priority: "answer" })
      const inChat = (id: number) => RateLimiter.withChat(answer, ChatId.make(id))
      yield* Effect.all([inChat(1), inChat(1), inChat(2), inChat(2), answer, answer, answer])
      const third = yield* Effect.forkChild(inChat(1), { startImmediately: true })
      assert.isUndefined(third.pollUnsafe())
      assert.strictEqual((yield* limiter.status).waiting.answer, 1)
      yield* TestClock.adjust(1000)
      yield* Fiber.join(third)
    })
  )
})

describe("lanes", () => {
  const inLane = (lane: RateLimiter.Priority, count: number) =>
    many(count, () => ({ after: 0, claim: undefined, lane }))

  it.effect("go by their priority", () =>
    Effect.gen(function* () {
      const limiter = yield* RateLimiter.make({ ...withoutMargin, host: { count: 1, window: 1000 } })
      const departures = yield* departuresOf(limiter, [
        ...inLane("normal", 1),
        ...inLane("broadcast", 2),
        ...inLane("normal", 2),
        ...inLane("reply", 2),
        ...inLane("answer", 2)
      ])
      assert.deepStrictEqual(
        departures.map(({ index }) => index),
        [0, 7, 8, 5, 6, 3, 4, 1, 2]
      )
    })
  )

  it.effect("that wait have one of about twenty departures each, whatever goes before them", () =>
    Effect.gen(function* () {
      const limiter = yield* RateLimiter.make({ ...withoutMargin, host: { count: 10, window: 1000 } })
      const departures = yield* departuresOf(limiter, [
        ...inLane("answer", 220),
        ...inLane("reply", 220),
        ...inLane("normal", 220),
        ...inLane("broadcast", 220)
      ])
      const early = departures.slice(0, 220)
      for (const lane of ["reply", "normal", "broadcast"]) {
        const turns = early.flatMap((departure, turn) => (departure.lane === lane ? [turn] : []))
        assert.isAtLeast(turns.length, 9, lane)
        assert.isAtMost(Math.max(...turns.slice(1).map((turn, index) => turn - turns[index])), 23, lane)
      }
    })
  )

  it.effect("leave a place for an answer soon, however much waits", () =>
    Effect.gen(function* () {
      const limiter = yield* RateLimiter.make(documented)
      const flood = yield* Effect.forEach(inLane("broadcast", 500), ({ lane }) =>
        Effect.forkChild(RateLimiter.withPriority(limiter.acquire(undefined), lane), { startImmediately: true })
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

  it.effect("lend their priority to those who stand before them in their chat", () =>
    Effect.gen(function* () {
      const limiter = yield* RateLimiter.make({ ...withoutMargin, host: { count: 1, window: 1000 } })
      const own = claim("messages", 1)
      const departures = yield* departuresOf(limiter, [
        ...inLane("normal", 2),
        { after: 0, claim: own, lane: "broadcast" },
        { after: 0, claim: own, lane: "reply" }
      ])
      assert.deepStrictEqual(
        departures.map(({ index }) => index),
        [0, 2, 3, 1]
      )
    })
  )

  it.effect("are declared by a claim, and only `broadcast` goes before that", () =>
    Effect.gen(function* () {
      const limiter = yield* RateLimiter.make({ ...withoutMargin, host: { count: 1, window: 1000 } })
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

describe("a waiting call", () => {
  it.effect("that is interrupted gives its place to the next", () =>
    Effect.gen(function* () {
      const limiter = yield* RateLimiter.make(withoutMargin)
      const lane = claim("messages", 1)
      yield* limiter.acquire(lane)
      yield* limiter.acquire(lane)
      const acquire = limiter
        .acquire(lane)
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
      yield* limiter.acquire(lane)
      assert.strictEqual(yield* Clock.currentTimeMillis, 1000)
    })
  )

  it.effect("at the host that is interrupted holds up nobody", () =>
    Effect.gen(function* () {
      const limiter = yield* RateLimiter.make({ ...withoutMargin, host: { count: 1, window: 1000 } })
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

  it.effect("fails when its deadline passes, and says how long it would take", () =>
    Effect.gen(function* () {
      const limiter = yield* RateLimiter.make({ ...withoutMargin, maxWait: "1500 millis" })
      const waiting = yield* Effect.forEach(
        many(5, (index) => index),
        () => Effect.forkChild(Effect.exit(limiter.acquire(claim("messages", 1))), { startImmediately: true })
      )
      yield* TestClock.adjust("1499 millis")
      assert.isUndefined(waiting[4].pollUnsafe())
      yield* TestClock.adjust("1 millis")
      const exits = yield* Fiber.joinAll(waiting)
      assert.deepStrictEqual(exits.map(Exit.isSuccess), [true, true, true, true, false])
      const error = yield* Effect.flip(Fiber.join(waiting[4]).pipe(Effect.flatten))
      assert.deepStrictEqual([error._tag, error.isFull], ["NotLetGo", false])
      assert.strictEqual(Duration.toMillis(error.retryAfter), 500)
    })
  )

  it.effect("has the deadline that the caller gives it, and with none of it does not wait at all", () =>
    Effect.gen(function* () {
      const limiter = yield* RateLimiter.make(withoutMargin)
      const own = claim("messages", 1)
      const nowOrNever = RateLimiter.withMaxWait(limiter.acquire(own), 0)
      yield* nowOrNever
      yield* nowOrNever
      const error = yield* Effect.flip(nowOrNever)
      assert.strictEqual(Duration.toMillis(error.retryAfter), 1000)
      assert.strictEqual((yield* limiter.status).waiting.normal, 0)
      const patient = yield* Effect.forkChild(RateLimiter.withMaxWait(limiter.acquire(own), "1 second"))
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(patient)
    })
  )

  it.effect("is one too many beyond the backlog of its lane", () =>
    Effect.gen(function* () {
      const limiter = yield* RateLimiter.make({ ...withoutMargin, host: { count: 1, window: 1000 }, maxQueued: 2 })
      const acquire = (lane: RateLimiter.Priority) => RateLimiter.withPriority(limiter.acquire(undefined), lane)
      yield* acquire("normal")
      const waiting = yield* Effect.forEach(["normal", "normal", "reply"] as const, (lane) =>
        Effect.forkChild(acquire(lane), { startImmediately: true })
      )
      const error = yield* Effect.flip(acquire("normal"))
      assert.deepStrictEqual([error.isFull, Duration.toMillis(error.retryAfter)], [true, 4000])
      yield* TestClock.adjust("3 seconds")
      yield* Fiber.joinAll(waiting)
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
      const limiter = yield* RateLimiter.make(documented)
      yield* limiter.pause(Duration.seconds(10))
      yield* limiter.pause(Duration.seconds(3))
      const claims = [undefined, claim("messages", 1), claim("answers", 1)]
      const fibers = yield* Effect.forEach(claims, (claim) =>
        limiter
          .acquire(claim)
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
      yield* limiter.acquire(claim("messages", 2))
    })
  )
})

describe("chats that have become quiet", () => {
  it.effect("cost nothing", () =>
    Effect.gen(function* () {
      const limiter = yield* RateLimiter.make({ ...withoutMargin, host: { count: 1e6, window: 1 } })
      const visit = (from: number, count: number) =>
        Effect.forEach(
          many(count, (index) => from + index),
          (key) => limiter.acquire(claim("messages", key)),
          { discard: true }
        )
      const chats = Effect.map(limiter.status, ({ chats }) => chats)
      yield* visit(0, 1000)
      assert.strictEqual(yield* chats, 1000)
      yield* TestClock.adjust(999)
      yield* visit(999, 1)
      assert.strictEqual(yield* chats, 1000)
      yield* TestClock.adjust(1)
      yield* visit(2000, 1)
      assert.strictEqual(yield* chats, 2)
      const third = yield* Effect.forkChild(limiter.acquire(claim("messages", 999)), { startImmediately: true })
      assert.isDefined(third.pollUnsafe())
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
      yield* TestClock.adjust(60_225)
      assert.isDefined(second.pollUnsafe())
    }).pipe(Effect.provide(RateLimiter.layerMemory({ messages: { count: 1, window: "1 minute" } })))
  )

  it.effect("refuses a limit that lets nobody go", () =>
    Effect.gen(function* () {
      const exit = yield* Effect.exit(RateLimiter.make({ ...documented, answers: { count: 0, window: 1 } }))
      assert.isTrue(Exit.isFailure(exit) && String(exit.cause).includes("answers"))
    })
  )
})
