import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import { Bot, type BotApi, Inbox, Journal, Messages, StoreError } from "../../../src/index.ts"
import * as InboxStore from "../../../src/inbox/InboxStore.ts"
import { HasUniqueName } from "../../../src/client/internal/journal/current.ts"
import { inTime, source, started } from "../../support/deliveries.ts"
import { chat_id, message, mid } from "../../support/fixtures.ts"
import { never, ok, scripted, unlimited } from "../../support/scripted.ts"

type Store = InboxStore.InboxStore["Service"]

const hello = Messages.send({ chat_id, text: "Hello" })

const unavailable = (operation: string) =>
  Effect.fail(new StoreError.StoreError({ store: "inbox", operation, reason: "down", isRetryable: true }))

const stateOf = ({ key }: { readonly key: string }) => key.slice(0, key.indexOf(":"))

/** A store, and the entries that were written to it: those of one write together. */
const makeStore = (modify: (store: Store) => Partial<Store> = () => ({})) =>
  Effect.map(InboxStore.makeMemory, (memory) => {
    const writes: Array<ReadonlyArray<string>> = []
    const write: Store["write"] = (all) =>
      Effect.tap(memory.write(all), () =>
        Effect.sync(() => void writes.push(all.flatMap(({ rows }) => rows.map(stateOf))))
      )
    const store: Store = { ...memory, isShared: true, write }
    return { store: { ...store, ...modify(store) }, writes }
  })

/** Handles the updates of a store, or one update if it is given. */
const run = <E>(
  store: Store,
  handler: Effect.Effect<unknown, E, BotApi.BotApi>,
  { isNew = true, ...options }: Bot.RunOptions & { readonly isNew?: boolean } = {}
) =>
  Bot.run(() => handler, options).pipe(
    Effect.provide(
      Layer.provideMerge(source(isNew ? [started(1, 1)] : []), Inbox.layer({ logSize: 0 })).pipe(
        Layer.provide(Layer.succeed(InboxStore.InboxStore, store))
      )
    )
  )

const once = () => scripted(ok({ message: message() }))

/** The states of the entries that the next process finds. */
const found = (store: Store) =>
  Effect.map(
    store.claim({ owner: "next", leaseDuration: 1000, maxPartitions: 1, maxUpdates: 1, begin: 0 }),
    ([partition]) => partition.updates[0].journal?.map(stateOf)
  )

describe("The answer of a call", () => {
  it.effect("is not written if the update is acknowledged at once", () =>
    Effect.gen(function* () {
      const { store, writes } = yield* makeStore()
      yield* inTime(Effect.provide(run(store, hello), once().layer({ limits: unlimited })))
      assert.deepStrictEqual(writes, [["started"]])
      assert.strictEqual((yield* store.stats).queued, 0)
    })
  )

  it.effect("is written while the handler goes on, which does not wait for it", () =>
    Effect.gen(function* () {
      let isDown = false
      const { store, writes } = yield* makeStore(({ write }) => ({
        write: (all) => Effect.suspend(() => (isDown ? unavailable("write") : write(all)))
      }))
      const platform = scripted(() => {
        isDown = true
        return ok({ message: message() })
      })
      const sent = yield* Deferred.make<void>()
      const handler = hello.pipe(
        Effect.andThen(Deferred.succeed(sent, undefined)),
        Effect.andThen(Effect.sleep("10 seconds"))
      )
      const fiber = yield* Effect.forkChild(Effect.provide(run(store, handler), platform.layer({ limits: unlimited })))
      yield* TestClock.adjust("100 millis")
      assert.isTrue(yield* Deferred.isDone(sent))
      assert.deepStrictEqual(writes, [["started"]])
      isDown = false
      yield* TestClock.adjust("5 seconds")
      assert.deepStrictEqual(writes, [["started"], ["done"]])
      yield* inTime(Fiber.join(fiber))
    })
  )

  it.effect("is written with the start of the next call", () =>
    Effect.gen(function* () {
      const { store, writes } = yield* makeStore()
      const platform = scripted(ok({ message: message() }), ok({ message: message() }))
      yield* inTime(Effect.provide(run(store, Effect.andThen(hello, hello)), platform.layer({ limits: unlimited })))
      assert.deepStrictEqual(writes, [["started"], ["done", "started"]])
    })
  )

  it.effect("is written before a request that changes something leaves", () =>
    Effect.gen(function* () {
      const { store, writes } = yield* makeStore()
      const seen: Array<unknown> = []
      const platform = scripted(ok({ message: message() }), ok({ messages: [] }), () => {
        seen.push(...writes)
        return ok({ success: true })
      })
      const handler = Effect.all([hello, Messages.list({ chat_id }), Messages.remove({ message_id: mid })])
      yield* inTime(Effect.provide(run(store, handler), platform.layer({ limits: unlimited })))
      assert.deepStrictEqual(seen, [["started"], ["done"]])
    })
  )

  it.effect("is kept by a dead letter, and returned when it is replayed", () =>
    Effect.gen(function* () {
      const { store } = yield* makeStore()
      const platform = once()
      yield* Effect.gen(function* () {
        let isBroken = true
        const handler = Effect.andThen(
          hello,
          Effect.suspend(() => (isBroken ? Effect.fail("broken") : Effect.void))
        )
        yield* inTime(run(store, handler, { retry: Schedule.recurs(0) }))
        const letters = yield* store.updates({ of: "deadLetters", limit: 10 })
        assert.strictEqual(yield* store.takeDeadLetters({ ids: letters.map(({ id }) => id), replay: true }), 1)
        isBroken = false
        yield* inTime(run(store, handler, { isNew: false }))
      }).pipe(Effect.provide(platform.layer({ limits: unlimited })))
      assert.lengthOf(platform.journal, 1)
      assert.deepStrictEqual(yield* Effect.map(store.stats, ({ queued, deadLetters }) => [queued, deadLetters]), [0, 0])
    })
  )

  it.effect("is found by the next process if the bot is stopped", () =>
    Effect.gen(function* () {
      const { store } = yield* makeStore()
      const fiber = yield* Effect.forkChild(
        Effect.provide(
          run(store, Effect.andThen(hello, Effect.interrupt), { retry: Schedule.spaced("1 hour") }),
          once().layer({ limits: unlimited })
        )
      )
      yield* TestClock.adjust("1 second")
      yield* inTime(Fiber.interrupt(fiber))
      assert.deepStrictEqual(yield* found(store), ["started", "done"])
    })
  )

  it.effect("is not written any more when the bot has stopped while the store is unavailable", () =>
    Effect.gen(function* () {
      let isDown = false
      let attempts = 0
      const { store } = yield* makeStore(({ write }) => ({
        write: (all) =>
          Effect.suspend(() => {
            if (!isDown) return write(all)
            attempts++
            return unavailable("write")
          })
      }))
      const platform = scripted(() => {
        isDown = true
        return ok({ message: message() })
      })
      const handler = Effect.andThen(hello, Effect.never)
      const running = run(store, handler, { shutdownTimeout: "1 second" })
      const fiber = yield* Effect.forkChild(Effect.provide(running, platform.layer({ limits: unlimited })))
      yield* TestClock.adjust("1 second")
      yield* inTime(Fiber.interrupt(fiber))
      assert.isAbove(attempts, 1)
      attempts = 0
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(attempts, 0)
    })
  )

  it.effect("is written if the update is handled again instead of being acknowledged", () =>
    Effect.gen(function* () {
      let conflicts = 0
      const { store, writes } = yield* makeStore(({ commit }) => ({
        commit: (commits) => {
          if (conflicts > 0 || commits.every(({ completed }) => completed.length === 0)) return commit(commits)
          conflicts++
          return Effect.as(
            Effect.sleep("3 seconds"),
            commits.map(() => "conflict" as const)
          )
        }
      }))
      const platform = once()
      const handler = Effect.andThen(
        hello,
        Effect.suspend(() => (conflicts > 0 ? Effect.never : Effect.void))
      )
      const fiber = yield* Effect.forkChild(Effect.provide(run(store, handler), platform.layer({ limits: unlimited })))
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(writes, [["started"]])
      yield* TestClock.adjust("3 seconds")
      assert.strictEqual(conflicts, 1)
      assert.lengthOf(platform.journal, 1)
      assert.deepStrictEqual(writes, [["started"], ["done"]])
      yield* inTime(Fiber.interrupt(fiber))
    })
  )
})

describe("The start of a call", () => {
  it.effect("is not replaced by the late start of an interrupted call of the same name", () =>
    Effect.gen(function* () {
      let isFirst = true
      const { store } = yield* makeStore(({ write }) => ({
        write: (all) => {
          const millis = isFirst ? 3000 : 0
          isFirst = false
          // The database carries out a statement whose client does not wait any more.
          return Effect.flatMap(Effect.forkDetach(Effect.delay(write(all), millis)), Fiber.join)
        }
      }))
      const send = (text: string) =>
        Effect.provideService(Journal.named(Messages.send({ chat_id, text }), "answer"), HasUniqueName, true)
      const handler = Effect.andThen(Effect.timeoutOption(send("one"), "1 second"), send("two"))
      const bot = Effect.provide(run(store, handler), scripted(never).layer({ limits: unlimited }))
      const fiber = yield* Effect.forkChild(bot)
      yield* TestClock.adjust("5 seconds")
      yield* inTime(Fiber.interrupt(fiber))
      const [partition] = yield* store.claim({
        owner: "next",
        leaseDuration: 1000,
        maxPartitions: 1,
        maxUpdates: 1,
        begin: 0
      })
      const [start] = partition.updates[0].journal ?? []
      assert.include(start.text, "two")
    })
  )
})

describe("The result of a step", () => {
  it.effect("is written before the handler has it", () =>
    Effect.gen(function* () {
      const { store, writes } = yield* makeStore()
      const seen: Array<number> = []
      const step = Journal.step("a", Schema.Int, Effect.succeed(1))
      const handler = Effect.map(step, () => void seen.push(writes.length))
      yield* inTime(Effect.provide(run(store, handler), once().layer()))
      assert.deepStrictEqual(writes, [["started"], ["done"]])
      assert.deepStrictEqual(seen, [2])
    })
  )
})
