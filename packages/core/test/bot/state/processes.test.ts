import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { Bot, Deliveries, Inbox, State, StoreError, type Update, Updates } from "../../../src/index.ts"
import * as InboxStore from "../../../src/inbox/InboxStore.ts"
import { Life, makeRandom } from "../../support/mortal.ts"
import { pressOf } from "../../support/presses.ts"

type Store = InboxStore.InboxStore["Service"]

type Random = ReturnType<typeof makeRandom>

const Log = State.make("log", Schema.Array(Schema.Int), { of: "chat", initial: () => [] })
const Presses = State.make("presses", Schema.Int, { of: "user", initial: () => 0 })
const InChat = State.make("inChat", Schema.Int, { of: "userInChat", initial: () => 0 })
const Total = State.make("total", Schema.Int, { of: "bot", initial: () => 0 })

/** The presses of two users each, in the order of their numbers. */
const Pairs = State.make("pairs", Schema.Int, {
  of: Schema.Struct({ pair: Schema.Int }),
  initial: () => 0,
  sortBy: (presses) => presses / 2
})

const total = 30
const chats = 4
const users = 2

const cut = new StoreError.StoreError({ store: "inbox", operation: "commit", reason: "cut off", isRetryable: true })

/** The store of a process that can be killed before and after each operation, and whose commits lose their results. */
const storeOf = (store: Store, { point }: Life, random: Random): Store => {
  const mortal =
    <A extends ReadonlyArray<unknown>, B>(operation: (...args: A) => Effect.Effect<B, StoreError.StoreError>) =>
    (...args: A): Effect.Effect<B, StoreError.StoreError> =>
      point.pipe(Effect.andThen(Effect.suspend(() => operation(...args))), Effect.tap(point))
  const lossy = (commits: ReadonlyArray<InboxStore.Commit>) =>
    Effect.flatMap(mortal(store.commit)(commits), (results) =>
      random.next(8) === 0 ? Effect.fail(cut) : Effect.succeed(results)
    )
  return {
    ...store,
    isShared: true,
    claim: mortal(store.claim),
    commit: lossy,
    renew: mortal(store.renew),
    write: mortal(store.write),
    read: mortal(store.read)
  }
}

const increment = (count: number) => count + 1

/** Orders entries with the same value by their keys. */
const byValue = (a: readonly [string, number], b: readonly [string, number]): number =>
  b[1] - a[1] || (a[0] < b[0] ? -1 : 1)

const indexOf = (update: Update.Update): number => ("timestamp" in update ? update.timestamp : -1)

/** Changes all states, and fails, sleeps or takes too long at random. */
const handle = (random: Random) => (update: Update.Update) =>
  Effect.gen(function* () {
    const before = yield* Presses.get
    yield* Log.update((log) => [...log, indexOf(update)])
    yield* Effect.sleep(random.next(40))
    if (random.next(6) === 0) return yield* Effect.fail("failed as planned")
    if (random.next(12) === 0) yield* Effect.sleep("1 minute")
    yield* Presses.set(before + 1)
    yield* InChat.update(increment)
    yield* Pairs.at({ pair: indexOf(update) % 3 }).update(increment)
    if (indexOf(update) % 5 === 0) yield* Total.update(increment)
  })

const options = { retry: Schedule.spaced("20 millis"), maxCrashes: 1000, timeout: "2 seconds" } as const

/** Three ways to handle the updates of a bot. */
const bots = [
  (random: Random) => Bot.run(handle(random), options),
  (random: Random) =>
    Updates.deliveries({ perChat: 1, maxCrashes: 1000 }).pipe(
      Deliveries.mapEffect((update) => Effect.as(handle(random)(update), update), { ...options, concurrency: 8 }),
      Deliveries.groupedWithin(3, "10 millis"),
      Deliveries.runForEach(() => Effect.void)
    ),
  (random: Random) => Bot.run(handle(random), { ...options, concurrency: 1 })
]

const inboxOf = (store: Store) => Layer.provide(Inbox.layer(), Layer.succeed(InboxStore.InboxStore, store))

/** Handles random presses by two processes, of which some are killed, and returns what the state says. */
const run = Effect.fnUntraced(function* (seed: number) {
  const random = makeRandom(seed)
  const store = yield* InboxStore.makeMemory
  const presses = Array.from({ length: total }, (_, index) => ({
    chat: 1 + random.next(chats),
    user: 1 + random.next(users),
    index
  }))
  yield* Effect.provide(
    Inbox.Inbox.use((inbox) => inbox.receive(presses.map(({ chat, index, user }) => pressOf(chat, user, index)))),
    inboxOf(store)
  )
  const bot = bots[seed % bots.length]!
  const start = Effect.fnUntraced(function* (life: Life) {
    const program = Inbox.Inbox.use((inbox) =>
      Effect.provideService(bot(random), Updates.Updates, Updates.Updates.of({ inbox, source: Effect.never }))
    )
    const fiber = yield* Effect.forkDetach(Effect.provide(program, inboxOf(storeOf(store, life, random))))
    return { fiber, life }
  })
  let kills = 4
  const newLife = () => new Life(kills-- > 0 ? random.next(60) : Infinity)
  const running = [yield* start(newLife()), yield* start(newLife())]
  for (let seconds = 0; (yield* store.stats).queued > 0; seconds++) {
    assert.isBelow(seconds, 600, `seed ${seed} makes no progress`)
    yield* TestClock.adjust("1 second")
    for (const [index, { fiber, life }] of running.entries()) {
      if (!life.isDead) continue
      yield* Effect.forkDetach(Fiber.interrupt(fiber))
      running[index] = yield* start(newLife())
    }
  }
  yield* TestClock.adjust("10 seconds")
  for (const { fiber, life } of running) {
    life.kill()
    yield* Effect.forkDetach(Fiber.interrupt(fiber))
  }
  yield* TestClock.adjust("10 seconds")
  const valuesOf = <A, O extends State.Of | State.KeySchema>(entries: ReturnType<typeof State.stream<A, O>>) =>
    Stream.runFold(
      entries,
      () => ({}) as Record<string, A>,
      (all, { key, value }) => ({ ...all, [Object.values(key as object).join("/")]: Result.getOrThrow(value) })
    )
  const values = Effect.all({
    log: valuesOf(State.stream(Log)),
    presses: valuesOf(State.stream(Presses)),
    inChat: valuesOf(State.stream(InChat)),
    total: valuesOf(State.stream(Total)),
    pairs: valuesOf(State.stream(Pairs)),
    top: Effect.map(State.top(Pairs, { limit: 5 }), (all) =>
      all.map(({ key, value }) => [String(key.pair), Result.getOrThrow(value)] as const)
    )
  })
  const found = yield* Effect.provide(values, inboxOf(store))
  const countBy = (key: (press: (typeof presses)[number]) => string) =>
    Object.fromEntries([...Map.groupBy(presses, key)].map(([name, all]) => [name, all.length]))
  const pairs = countBy(({ index }) => String(index % 3))
  const expected = {
    log: Object.fromEntries(
      [...Map.groupBy(presses, ({ chat }) => String(chat))].map(([name, all]) => [name, all.map(({ index }) => index)])
    ),
    presses: countBy(({ user }) => String(user)),
    inChat: countBy(({ chat, user }) => `${chat}/${user}`),
    total: { "": presses.filter(({ index }) => index % 5 === 0).length },
    pairs,
    top: Object.entries(pairs).toSorted(byValue)
  }
  assert.deepStrictEqual(found, expected, `seed ${seed}`)
  return kills
})

describe("the state of bots that are killed", () => {
  it.effect("agrees exactly with the updates that were acknowledged, whatever fails, conflicts or is killed", () =>
    Effect.gen(function* () {
      let left = 0
      for (let seed = 0; seed < 60; seed++) left += Math.max(0, yield* run(seed))
      // Most processes that are to be killed live long enough.
      assert.isBelow(left, 120)
    }).pipe(Effect.provide(Logger.layer([])))
  )
})
