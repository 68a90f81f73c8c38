import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { Bot, Commit, Deliveries, Handler, Inbox, State, type Update, Updates } from "../../src/index.ts"
import * as InboxStore from "../../src/inbox/InboxStore.ts"
import { chatOf, inTime, source, started, timeOf } from "../support/deliveries.ts"
import { layerOf, makeStatementStore, refused, sql } from "../support/statements.ts"

const insert = (...params: ReadonlyArray<number | string>) =>
  sql`INSERT INTO rows VALUES ${sql.csv(params.map((value) => sql`${value}`))}`

const add = (...params: ReadonlyArray<number | string>) => Commit.add(insert(...params))

/** Runs a program with an inbox of updates in a store that executes statements. */
const withUpdates = <A, E>(
  updates: ReadonlyArray<Inbox.Received>,
  program: (
    store: Effect.Success<ReturnType<typeof makeStatementStore>>
  ) => Effect.Effect<A, E, Updates.Updates | Inbox.Inbox | InboxStore.SqlTransactions>,
  options?: Parameters<typeof makeStatementStore>[0]
) =>
  Effect.flatMap(makeStatementStore(options), (made) =>
    Effect.provide(
      inTime(program(made)),
      source(updates).pipe(Layer.provideMerge(Inbox.layer()), Layer.provideMerge(layerOf(made.store)))
    )
  )

const run = <E, R>(handle: (update: Update.Update) => Effect.Effect<void, E, R>, retry = Schedule.recurs(2)) =>
  Bot.run(handle, { retry })

const nameOf = (update: Update.Update) => `${chatOf(update)}:${timeOf(update)}`

const deadLetters = Stream.runCollect(Inbox.deadLetters)

const Count = State.make("count", Schema.Int, { of: "chat", initial: () => 0 })

describe("Commit.add", () => {
  it.effect("executes the statements of an update in order, in the commit of the update", () =>
    withUpdates([started(1, 1), started(2, 2)], ({ commits, rows }) =>
      Effect.gen(function* () {
        yield* run((update) =>
          Effect.gen(function* () {
            yield* add(nameOf(update), "first")
            yield* Effect.sleep("1 second")
            yield* add(nameOf(update), "second")
          })
        )
        assert.deepStrictEqual(rows, [
          ["1:1", "first"],
          ["1:1", "second"],
          ["2:2", "first"],
          ["2:2", "second"]
        ])
        for (const { completed, statements } of commits)
          assert.lengthOf(completed, (statements?.length ?? 0) > 0 ? 1 : 0)
      })
    )
  )

  it.effect("executes no statement of an attempt that fails", () =>
    withUpdates([started(1, 1)], ({ rows }) =>
      Effect.gen(function* () {
        let attempts = 0
        yield* run(() =>
          Effect.andThen(
            add(++attempts),
            Effect.suspend(() => (attempts < 3 ? Effect.fail("no") : Effect.void))
          )
        )
        assert.deepStrictEqual(rows, [[3]])
      })
    )
  )

  it.effect("handles an update again whose statement fails, by the schedule of the handler", () =>
    withUpdates([started(1, 1), started(1, 2)], ({ rows }) =>
      Effect.gen(function* () {
        const seen: Array<string> = []
        yield* run((update) =>
          Effect.gen(function* () {
            seen.push(nameOf(update))
            yield* Count.update((count) => count + 1)
            yield* add(nameOf(update), seen.length < 3 ? "bad" : "good", yield* Count.get)
          })
        )
        assert.deepStrictEqual(rows, [
          ["1:1", "good", 1],
          ["1:2", "good", 2]
        ])
        assert.deepStrictEqual(seen, ["1:1", "1:1", "1:1", "1:2"])
      })
    )
  )

  it.effect("makes an update a dead letter whose statement fails each time, with the error of the statement", () =>
    withUpdates([started(1, 1), started(1, 2)], ({ rows }) =>
      Effect.gen(function* () {
        yield* run((update) => add(nameOf(update), timeOf(update) === 1 ? "bad" : "good"))
        assert.deepStrictEqual(rows, [["1:2", "good"]])
        const [letter] = yield* deadLetters
        assert.deepInclude(letter, { attempts: 3 })
        assert.include(letter?.error, refused.message)
      })
    )
  )

  it.effect("handles an update again, in the same attempt, if the number of rows is another one than expected", () => {
    const changed = [0, 1, 1]
    return withUpdates(
      [started(1, 1), started(1, 2)],
      ({ rows }) =>
        Effect.gen(function* () {
          const attempts: Array<number> = []
          yield* Updates.deliveries().pipe(
            Deliveries.runForEach((update) =>
              Effect.gen(function* () {
                attempts.push(yield* Handler.CurrentAttempt)
                yield* Commit.add(insert(nameOf(update)), { expectedRows: 1 })
              })
            )
          )
          assert.deepStrictEqual(rows, [["1:1"], ["1:2"]])
          assert.deepStrictEqual(attempts, [1, 1, 1])
        }),
      { changed: () => changed.shift()! }
    )
  })

  it.effect("fails the attempt if the number of rows is another one 21 times in succession", () =>
    withUpdates(
      [started(1, 1)],
      ({ rows }) =>
        Effect.gen(function* () {
          let runs = 0
          yield* run(
            () =>
              Effect.andThen(
                Effect.sync(() => runs++),
                Commit.add(insert(1), { expectedRows: 1 })
              ),
            Schedule.recurs(1)
          )
          assert.deepStrictEqual(rows, [])
          assert.strictEqual(runs, 42)
          assert.include((yield* deadLetters)[0]?.error, "expectedRows")
        }),
      { changed: () => 0 }
    )
  )

  it.effect("fails where no update is handled, and after the update was acknowledged", () =>
    withUpdates([started(1, 1)], ({ rows }) =>
      Effect.gen(function* () {
        const outside = yield* Effect.flip(add(1))
        assert.strictEqual(outside._tag, "NoCommit")
        assert.strictEqual(outside.problem, "noUpdate")
        let late: Fiber.Fiber<Commit.NoCommit, void> | undefined
        yield* run(() =>
          Effect.map(Effect.forkDetach(Effect.flip(Effect.delay(add(1), "1 minute"))), (fiber) => void (late = fiber))
        )
        assert.strictEqual((yield* Fiber.join(late!)).problem, "acknowledged")
        assert.deepStrictEqual(rows, [])
      })
    )
  )

  it.effect("fails if the inbox of the update executes no statements", () =>
    Effect.gen(function* () {
      let problem: string | undefined
      yield* inTime(run(() => Effect.map(Effect.flip(add(1)), (error) => void (problem = error.problem))))
      assert.strictEqual(problem, "store")
    }).pipe(
      Effect.provide(
        source([started(1, 1)]).pipe(
          Layer.provideMerge(Inbox.layerMemory()),
          Layer.provideMerge(Layer.succeed(InboxStore.SqlTransactions, "sqlite"))
        )
      )
    )
  )

  it.effect("lets the caller of `ack` decide after a statement has failed", () =>
    withUpdates([started(1, 1)], ({ rows }) =>
      Effect.gen(function* () {
        yield* Updates.deliveries().pipe(
          Stream.runForEach((delivery) =>
            Effect.gen(function* () {
              yield* Deliveries.provide(add(delivery.attempt < 3 ? "bad" : "good"), delivery)
              if (delivery.attempt === 3) return yield* delivery.ack
              const error = yield* Effect.flip(delivery.ack)
              assert.strictEqual(error.cause, refused)
              return yield* delivery.retry()
            })
          )
        )
        assert.deepStrictEqual(rows, [["good"]])
      })
    )
  )

  it.effect("retries the deliveries of a pipeline without a handler", () =>
    withUpdates([started(1, 1), started(2, 2)], ({ rows }) =>
      Effect.gen(function* () {
        yield* Updates.deliveries().pipe(
          Deliveries.mapEffect((update) => add(nameOf(update), timeOf(update) === 1 ? "bad" : "good")),
          Deliveries.runDrain
        )
        assert.deepStrictEqual(rows, [["2:2", "good"]])
        assert.deepInclude((yield* deadLetters)[0], { attempts: 6 })
      })
    )
  )
})

describe("Commit.add in a group of updates", () => {
  const eight = Array.from({ length: 8 }, (_, index) => started(1 + (index % 2), index))

  const batches = <E, R>(
    handle: (names: ReadonlyArray<string>) => Effect.Effect<void, E, R>,
    retry = Schedule.recurs(2)
  ) =>
    Updates.deliveries({ perChat: "unbounded" }).pipe(
      Deliveries.map(nameOf),
      Deliveries.groupedWithin(4, "1 second"),
      Deliveries.runForEach(handle, { concurrency: 1, retry })
    )

  it.effect("executes the statements of the group in the one commit of its updates", () =>
    withUpdates(eight, ({ commits, rows }) =>
      Effect.gen(function* () {
        yield* batches((names) => add(...names))
        assert.deepStrictEqual(
          rows.map((row) => row.length),
          [4, 4]
        )
        assert.deepStrictEqual(
          rows.flat().toSorted(),
          eight.map((_, index) => `${1 + (index % 2)}:${index}`).toSorted()
        )
        const completed = commits
          .filter(({ completed }) => completed.length > 0)
          .map(({ completed, together = [] }) => [completed, ...together.map((one) => one.completed)].flat().length)
        assert.deepStrictEqual(completed, [4, 4])
      })
    )
  )

  it.effect("emits the other updates again if a chat of the group is lost, and stores nothing of the group", () =>
    withUpdates(eight, ({ lost, rows }) =>
      Effect.gen(function* () {
        const groups: Array<ReadonlyArray<string>> = []
        const fiber = yield* Effect.forkChild(
          batches((names) =>
            Effect.suspend(() => {
              if (groups.push(names) === 1) lost.add("1")
              return add(...names)
            })
          )
        )
        yield* TestClock.adjust("10 seconds")
        yield* Fiber.interrupt(fiber)
        assert.strictEqual(groups[0]?.length, 4)
        assert.deepStrictEqual(rows.flat().toSorted(), ["2:1", "2:3", "2:5", "2:7"])
      })
    )
  )

  it.effect("handles no update again of a group that was committed without an answer", () => {
    let unanswered = 1
    const isAnswered = (commits: ReadonlyArray<InboxStore.Commit>) =>
      commits.every(({ together = [] }) => together.length === 0) || unanswered-- <= 0
    return withUpdates(
      [started(1, 1), started(2, 1), started(2, 2), started(2, 3), started(2, 4), started(2, 5)],
      ({ rows }) =>
        Effect.gen(function* () {
          const fiber = yield* Effect.forkChild(batches((names) => add(...names)))
          yield* TestClock.adjust("1 minute")
          yield* Fiber.interrupt(fiber)
          assert.isBelow(unanswered, 1)
          assert.deepStrictEqual(rows.flat().toSorted(), ["1:1", "2:1", "2:2", "2:3", "2:4", "2:5"])
        }),
      { isAnswered }
    )
  })

  it.effect(
    "handles no update again of a group that was committed without an answer before one of its chats was lost",
    () => {
      let lose = (): unknown => undefined
      let unanswered = 10
      const isAnswered = (commits: ReadonlyArray<InboxStore.Commit>) => {
        if (commits.every(({ together = [] }) => together.length === 0)) return true
        lose()
        return unanswered-- <= 0
      }
      return withUpdates(
        eight,
        ({ lost, rows }) =>
          Effect.gen(function* () {
            lose = () => lost.add("1")
            const fiber = yield* Effect.forkChild(
              Updates.deliveries({ perChat: 2 }).pipe(
                Deliveries.map(nameOf),
                Deliveries.groupedWithin(4, "1 second"),
                Deliveries.runForEach((names) => add(...names), { concurrency: 1 })
              )
            )
            yield* TestClock.adjust("5 minutes")
            yield* Fiber.interrupt(fiber)
            assert.isBelow(unanswered, 10)
            const ofOther = rows.flat().filter((name) => String(name).startsWith("2:"))
            assert.deepStrictEqual(ofOther.toSorted(), ["2:1", "2:3", "2:5", "2:7"])
          }),
        { isAnswered }
      )
    }
  )

  it.effect("fails all updates of the group if a statement fails", () =>
    withUpdates(eight.slice(0, 4), ({ rows }) =>
      Effect.gen(function* () {
        yield* batches((names) => add("bad", ...names))
        assert.deepStrictEqual(rows, [])
        assert.deepStrictEqual(
          (yield* deadLetters).map(({ attempts }) => attempts),
          [3, 3, 3, 3]
        )
      })
    )
  )

  it.effect("commits each update by itself if two updates of the group change the same value", () =>
    withUpdates(eight.slice(0, 4), ({ rows }) =>
      Effect.gen(function* () {
        yield* Updates.deliveries({ perChat: "unbounded" }).pipe(
          Deliveries.mapEffect((update) =>
            Effect.as(
              Count.update((count) => count + 1),
              nameOf(update)
            )
          ),
          Deliveries.groupedWithin(4, "1 second"),
          Deliveries.runForEach((names) => add(...names))
        )
        assert.deepStrictEqual(rows.flat().toSorted(), ["1:0", "1:2", "2:1", "2:3"])
        for (const chat_id of [1, 2]) {
          const { at } = Count
          assert.strictEqual(yield* at({ chat_id: chat_id as never }).get, 2)
        }
      })
    )
  )

  it.effect("executes the statements of its updates, and then those of the group", () =>
    withUpdates([started(1, 1), started(2, 2)], ({ rows }) =>
      Effect.gen(function* () {
        yield* Updates.deliveries().pipe(
          Deliveries.mapEffect((update) => Effect.as(add(nameOf(update)), nameOf(update))),
          Deliveries.groupedWithin(2, "1 second"),
          Deliveries.runForEach((names) => add(...names))
        )
        assert.deepStrictEqual(rows, [["1:1"], ["2:2"], ["1:1", "2:2"]])
      })
    )
  )

  it.effect("fails in a branch of a stream", () =>
    withUpdates([started(1, 1), started(2, 2)], ({ rows }) =>
      Effect.gen(function* () {
        const problems: Array<string> = []
        yield* Updates.deliveries().pipe(
          Deliveries.tee((branch) =>
            branch.pipe(
              Deliveries.groupedWithin(2, "1 second"),
              Deliveries.runForEach(() => Effect.map(Effect.flip(add(1)), ({ problem }) => void problems.push(problem)))
            )
          ),
          Deliveries.runForEach((update) => add(nameOf(update)))
        )
        assert.deepStrictEqual(problems, ["branches"])
        assert.deepStrictEqual(rows, [["1:1"], ["2:2"]])
      })
    )
  )
})
