import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { Bot, Deliveries, Inbox, StoreError, type Update, Updates } from "../../../src/index.ts"
import { hooks } from "../../../src/inbox/internal/hooks.ts"
import * as InboxStore from "../../../src/inbox/InboxStore.ts"
import { CurrentLease, type Lease } from "../../../src/client/internal/currentLease.ts"
import { chatOf, inTime, source, started, storeOver, timeOf } from "../../support/deliveries.ts"

type Store = InboxStore.InboxStore["Service"]

const unavailable = (operation: string) =>
  Effect.fail(new StoreError.StoreError({ store: "inbox", operation, reason: "unavailable", isRetryable: true }))

describe("leases", () => {
  it.effect(
    "While the store is unavailable, operations are [retried](#outages), and no handler runs twice because of it.",
    () =>
      Effect.gen(function* () {
        const store = yield* InboxStore.InboxStore
        let outage = 3
        const failing = <A>(effect: Effect.Effect<A, StoreError.StoreError>) =>
          Effect.suspend(() =>
            outage-- > 0
              ? Effect.fail(
                  new StoreError.StoreError({
                    store: "inbox",
                    operation: "commit",
                    reason: "unavailable",
                    isRetryable: true
                  })
                )
              : effect
          )
        const flaky = InboxStore.InboxStore.of({ ...store, commit: (commits) => failing(store.commit(commits)) })
        const times: Array<number> = []
        yield* Bot.run((update) => Effect.sync(() => times.push(timeOf(update)))).pipe(
          inTime,
          Effect.provide(Layer.provideMerge(source([started(1, 1), started(1, 2)]), Inbox.layer())),
          Effect.provideService(InboxStore.InboxStore, flaky)
        )
        assert.deepStrictEqual(times, [1, 2])
        assert.isBelow(outage, 1)
      }).pipe(Effect.provide(InboxStore.layerMemory))
  )

  it.effect("renews the lease of a partition while its handler runs", () =>
    Effect.gen(function* () {
      const times: Array<number> = []
      const handle = (update: Parameters<typeof timeOf>[0]) =>
        Effect.andThen(
          Effect.sync(() => times.push(timeOf(update))),
          Effect.sleep("5 minutes")
        )
      const consumer = Bot.run(handle, { timeout: "1 hour", concurrency: 1, maxInMemory: 1 }).pipe(
        Effect.provide(Layer.provideMerge(source([started(1, 1)], { stays: true }), Inbox.layer()))
      )
      yield* Effect.forkScoped(Effect.all([consumer, consumer], { concurrency: 2 }))
      yield* TestClock.adjust("10 minutes")
      assert.deepStrictEqual(times, [1])
    }).pipe(Effect.provide(storeOver(() => ({ isShared: true }))))
  )

  it.effect("does not start a second handler in the same process when a lease expires", () =>
    Effect.gen(function* () {
      const store = yield* InboxStore.InboxStore
      const unavailable = new StoreError.StoreError({
        store: "inbox",
        operation: "renew",
        reason: "unavailable",
        isRetryable: true
      })
      const flaky = InboxStore.InboxStore.of({ ...store, isShared: true, renew: () => Effect.fail(unavailable) })
      const times: Array<number> = []
      const handle = (update: Update.Update) =>
        Effect.andThen(
          Effect.sync(() => times.push(timeOf(update))),
          Effect.sleep("5 minutes")
        )
      yield* Bot.run(handle, { timeout: "1 hour" }).pipe(
        Effect.provide(Layer.provideMerge(source([started(1, 1)], { stays: true }), Inbox.layer())),
        Effect.provideService(InboxStore.InboxStore, flaky),
        Effect.forkScoped
      )
      yield* TestClock.adjust("10 minutes")
      assert.deepStrictEqual(times, [1])
      assert.strictEqual((yield* store.stats).queued, 0)
    }).pipe(Effect.provide(InboxStore.layerMemory))
  )

  it.effect("retries a claim whose result was lost, and handles the updates after the lease expires", () =>
    Effect.gen(function* () {
      const store = yield* InboxStore.InboxStore
      let isLost = true
      const flaky = InboxStore.InboxStore.of({
        ...store,
        isShared: true,
        claim: (options) =>
          Effect.flatMap(store.claim(options), (claimed) => {
            if (!isLost || claimed.length === 0) return Effect.succeed(claimed)
            isLost = false
            return Effect.fail(
              new StoreError.StoreError({
                store: "inbox",
                operation: "claim",
                reason: "unavailable",
                isRetryable: true
              })
            )
          })
      })
      const times: Array<number> = []
      yield* Bot.run((update) => Effect.sync(() => times.push(timeOf(update)))).pipe(
        Effect.provide(Layer.provideMerge(source([started(1, 1), started(1, 2)], { stays: true }), Inbox.layer())),
        Effect.provideService(InboxStore.InboxStore, flaky),
        Effect.forkScoped
      )
      yield* TestClock.adjust("9 seconds")
      assert.deepStrictEqual(times, [])
      yield* TestClock.adjust("5 seconds")
      assert.deepStrictEqual(times, [1, 2])
    }).pipe(Effect.provide(InboxStore.layerMemory))
  )

  /** A shared store in memory that can be made unavailable, and that counts its operations. */
  const makeOutage = Effect.gen(function* () {
    const store = yield* InboxStore.makeMemory
    let isDown = false
    const counts = { claim: 0, renew: 0, commit: 0 }
    const during = <A>(operation: keyof typeof counts, effect: Effect.Effect<A, StoreError.StoreError>) =>
      Effect.suspend(() => {
        counts[operation]++
        return isDown ? unavailable(operation) : effect
      })
    const modified = InboxStore.InboxStore.of({
      ...store,
      isShared: true,
      claim: (options) => during("claim", store.claim(options)),
      commit: (commits) => during("commit", store.commit(commits)),
      renew: (owner, leaseDuration) => during("renew", store.renew(owner, leaseDuration))
    })
    return {
      store: modified,
      counts,
      setDown: (down: boolean) => {
        isDown = down
      }
    }
  })

  it.effect(
    "commits the updates that succeeded while the store was unavailable for longer than the lease, and repeats none",
    () =>
      Effect.gen(function* () {
        const { setDown, store } = yield* makeOutage
        const handled: Array<string> = []
        const handle = (update: Update.Update) =>
          Effect.sync(() => void handled.push(`${chatOf(update)}:${timeOf(update)}`)).pipe(Effect.delay("2 seconds"))
        const updates = [started(1, 1), started(2, 1), started(2, 2), started(2, 3), started(3, 1), started(3, 2)]
        yield* Bot.run(handle).pipe(
          Effect.provide(Layer.provideMerge(source(updates, { stays: true }), Inbox.layer())),
          Effect.provideService(InboxStore.InboxStore, store),
          Effect.forkScoped
        )
        yield* TestClock.adjust("1 second")
        setDown(true)
        yield* TestClock.adjust("1 minute")
        assert.strictEqual((yield* store.stats).queued, 6)
        setDown(false)
        yield* TestClock.adjust("1 minute")
        assert.deepStrictEqual([...handled].sort(), ["1:1", "2:1", "2:2", "2:3", "3:1", "3:2"])
        assert.deepStrictEqual(
          handled.filter((name) => name.startsWith("2")),
          ["2:1", "2:2", "2:3"]
        )
        assert.strictEqual((yield* store.stats).queued, 0)
      })
  )

  it.effect("applies a commit that was under way while the process claimed its expired lease again", () =>
    Effect.gen(function* () {
      const { setDown, store } = yield* makeOutage
      let isFirst = true
      let isRenewed = true
      const slow = InboxStore.InboxStore.of({
        ...store,
        renew: (owner, duration) =>
          Effect.suspend(() => (isRenewed ? store.renew(owner, duration) : unavailable("renew"))),
        commit: (commits) =>
          Effect.suspend(() => {
            const millis = isFirst ? 20_000 : 0
            isFirst = false
            // The claim comes before the commit, under another name.
            return Effect.andThen(Effect.sleep(millis), store.commit(commits))
          })
      })
      const handled: Array<number> = []
      yield* Bot.run((update) => Effect.sync(() => handled.push(timeOf(update)))).pipe(
        Effect.provide(Layer.provideMerge(source([started(1, 1), started(2, 1)], { stays: true }), Inbox.layer())),
        Effect.provideService(InboxStore.InboxStore, slow),
        Effect.forkScoped
      )
      yield* TestClock.adjust("1 second")
      setDown(true)
      isRenewed = false
      yield* TestClock.adjust("12 seconds")
      setDown(false)
      yield* TestClock.adjust("10 seconds")
      isRenewed = true
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(handled, [1, 1])
      assert.strictEqual((yield* store.stats).queued, 0)
    })
  )

  it.effect("claims a partition again if its release was executed and the result was lost", () =>
    Effect.gen(function* () {
      const { store } = yield* makeOutage
      let isLost = true
      const flaky = InboxStore.InboxStore.of({
        ...store,
        commit: (commits) =>
          Effect.flatMap(store.commit(commits), (results) => {
            if (!isLost) return Effect.succeed(results)
            isLost = false
            return unavailable("commit")
          })
      })
      const times: Array<number> = []
      yield* Effect.gen(function* () {
        const inbox = yield* Inbox.Inbox
        yield* Bot.run((update) =>
          Effect.sync(() => times.push(timeOf(update))).pipe(
            Effect.andThen(
              timeOf(update) === 1 ? Effect.orDie(inbox.receive([started(1, 2), started(1, 3)])) : Effect.void
            )
          )
        ).pipe(Effect.forkScoped)
        yield* TestClock.adjust("1 minute")
        assert.deepStrictEqual(times, [1, 2, 3])
        assert.strictEqual((yield* store.stats).queued, 0)
      }).pipe(
        Effect.provide(Layer.provideMerge(source([started(1, 1)], { stays: true }), Inbox.layer())),
        Effect.provideService(InboxStore.InboxStore, flaky)
      )
    })
  )

  it.effect("renews its leases three times before they expire, and soon again after a failure", () =>
    Effect.gen(function* () {
      const { counts, setDown, store } = yield* makeOutage
      const fiber = yield* Bot.run(() => Effect.sleep("1 hour"), { timeout: "2 hours" }).pipe(
        Effect.provide(Layer.provideMerge(source([started(1, 1)], { stays: true }), Inbox.layer())),
        Effect.provideService(InboxStore.InboxStore, store),
        Effect.forkScoped
      )
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(counts.renew, 3)
      setDown(true)
      yield* TestClock.adjust("4 seconds")
      setDown(false)
      yield* TestClock.adjust("1 second")
      setDown(true)
      yield* TestClock.adjust("9 seconds")
      setDown(false)
      assert.deepStrictEqual(
        yield* store.claim({ owner: "other", leaseDuration: 0, maxPartitions: 1, maxUpdates: 1, begin: 0 }),
        []
      )
      yield* inTime(Fiber.interrupt(fiber))
    })
  )

  it.effect("renews leases under several names at the same time", () =>
    Effect.gen(function* () {
      const { store } = yield* makeOutage
      const released = new Set<string>()
      const owners = new Set<string>()
      const slow = InboxStore.InboxStore.of({
        ...store,
        // After a release whose answer is lost, the next claim has another name.
        commit: (commits) =>
          Effect.flatMap(store.commit(commits), (results) => {
            const first = commits.filter(
              ({ partitionKey: key, release }) => release && Number(key) > 10 && !released.has(key)
            )
            for (const { partitionKey } of first) released.add(partitionKey)
            return first.length > 0 ? unavailable("commit") : Effect.succeed(results)
          }),
        renew: (owner, leaseDuration) => {
          owners.add(owner)
          return Effect.andThen(Effect.sleep("3 seconds"), store.renew(owner, leaseDuration))
        }
      })
      const began: Array<number> = []
      const handle = (update: Update.Update) =>
        Effect.suspend(() => {
          const chat = chatOf(update)
          if (chat <= 10) began.push(chat)
          return chat > 10 ? Effect.void : Effect.sleep("2 minutes")
        })
      yield* Effect.gen(function* () {
        const inbox = yield* Inbox.Inbox
        const fiber = yield* Bot.run(handle, { timeout: "5 minutes" }).pipe(Effect.forkScoped)
        for (let chat = 1; chat <= 4; chat++) {
          yield* inbox.receive([started(chat, chat)])
          yield* TestClock.adjust("1 second")
          yield* inbox.receive([started(10 + chat, 10 + chat)])
          yield* TestClock.adjust("1 second")
        }
        const claimed: Array<InboxStore.Partition> = []
        for (let second = 0; second < 60; second++) {
          yield* TestClock.adjust("1 second")
          const other = { owner: "other", leaseDuration: 0, maxPartitions: 1, maxUpdates: 1, begin: 0 }
          claimed.push(...(yield* store.claim(other)))
        }
        yield* inTime(Fiber.interrupt(fiber))
        assert.deepStrictEqual(claimed, [])
        assert.deepStrictEqual(began, [1, 2, 3, 4])
        assert.isAtLeast(owners.size, 4)
      }).pipe(
        Effect.provide(Layer.provideMerge(source([], { stays: true }), Inbox.layer())),
        Effect.provideService(InboxStore.InboxStore, slow)
      )
    })
  )

  it.effect("polls an idle store rarely", () =>
    Effect.gen(function* () {
      const { counts, store } = yield* makeOutage
      yield* Bot.run(() => Effect.void).pipe(
        Effect.provide(Layer.provideMerge(source([], { stays: true }), Inbox.layer())),
        Effect.provideService(InboxStore.InboxStore, store),
        Effect.forkScoped
      )
      yield* TestClock.adjust("30 seconds")
      assert.isAtMost(counts.claim, 13)
      assert.strictEqual(counts.renew, 0)
    })
  )

  it.effect(
    "asks a store that wakes it up from every 5 to every 30 seconds, and never renews while it holds nothing",
    () =>
      Effect.gen(function* () {
        const { counts, store } = yield* makeOutage
        let asked = 0
        const listening = InboxStore.InboxStore.of({
          ...store,
          listen: () => Effect.void,
          untilNext: Effect.sync(() => {
            asked++
            return undefined
          })
        })
        yield* Bot.run(() => Effect.void).pipe(
          Effect.provide(Layer.provideMerge(source([], { stays: true }), Inbox.layer())),
          Effect.provideService(InboxStore.InboxStore, listening),
          Effect.forkScoped
        )
        yield* TestClock.adjust("1 minute")
        const { claim } = counts
        assert.strictEqual(asked, 4)
        asked = 0
        yield* TestClock.adjust("10 minutes")
        assert.strictEqual(asked, 20)
        assert.deepStrictEqual([counts.claim, counts.renew], [claim, 0])
      })
  )

  it.effect("claims the partitions of a process that died when their leases end, also after it was idle for long", () =>
    Effect.gen(function* () {
      const store = yield* InboxStore.makeMemory
      let wake = (): void => undefined
      const listening = InboxStore.InboxStore.of({
        ...store,
        isShared: true,
        listen: (onWake) =>
          Effect.sync(() => {
            wake = onWake
          })
      })
      const times: Array<number> = []
      yield* Effect.gen(function* () {
        yield* Effect.forkScoped(Bot.run((update) => Effect.sync(() => times.push(timeOf(update)))))
        yield* TestClock.adjust("10 minutes")
        // Another process stores an update, and claims it before this one does.
        const other = yield* Inbox.make()
        yield* other.receive([started(1, 1)])
        const claim = { owner: "other", leaseDuration: 10_000, maxPartitions: 1, maxUpdates: 1, begin: 0 }
        assert.lengthOf(yield* store.claim(claim), 1)
        wake()
        yield* TestClock.adjust("9 seconds")
        assert.deepStrictEqual(times, [])
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(times, [1])
      }).pipe(
        Effect.provide(Layer.provideMerge(source([], { stays: true }), Inbox.layer())),
        Effect.provideService(InboxStore.InboxStore, listening)
      )
    })
  )

  it.effect("renews the leases of partitions that were claimed after an idle time", () =>
    Effect.gen(function* () {
      const { counts, store } = yield* makeOutage
      yield* Effect.gen(function* () {
        const fiber = yield* Effect.forkScoped(Bot.run(() => Effect.sleep("1 minute"), { timeout: "1 hour" }))
        yield* TestClock.adjust("1 minute")
        assert.strictEqual(counts.renew, 0)
        yield* Inbox.Inbox.use((inbox) => inbox.receive([started(1, 1)]))
        yield* TestClock.adjust("10 seconds")
        assert.strictEqual(counts.renew, 3)
        yield* inTime(Fiber.interrupt(fiber))
      }).pipe(
        Effect.provide(Layer.provideMerge(source([], { stays: true }), Inbox.layer({ leaseDuration: "10 seconds" }))),
        Effect.provideService(InboxStore.InboxStore, store)
      )
    })
  )

  it.effect("does not renew a lease that has just begun, if updates arrive one by one", () =>
    Effect.gen(function* () {
      const { counts, store } = yield* makeOutage
      const times: Array<number> = []
      yield* Effect.gen(function* () {
        yield* Effect.forkScoped(Bot.run((update) => Effect.sync(() => times.push(timeOf(update)))))
        for (let index = 1; index <= 20; index++) {
          yield* Inbox.Inbox.use((inbox) => inbox.receive([started(1, index)]))
          yield* TestClock.adjust("500 millis")
        }
        assert.lengthOf(times, 20)
        assert.strictEqual(counts.renew, 0)
      }).pipe(
        Effect.provide(Layer.provideMerge(source([], { stays: true }), Inbox.layer())),
        Effect.provideService(InboxStore.InboxStore, store)
      )
    })
  )

  it.effect("handles no further updates of a partition that another process has taken after the lease expired", () =>
    Effect.gen(function* () {
      const store = yield* InboxStore.makeMemory
      const shared = InboxStore.InboxStore.of({ ...store, isShared: true })
      const stalled = InboxStore.InboxStore.of({ ...shared, renew: () => unavailable("renew") })
      const handled: Array<string> = []
      const consumer = (name: string, of: typeof shared, duration: number) =>
        Bot.run(
          (update) =>
            Effect.delay(
              Effect.sync(() => handled.push(`${name} ${timeOf(update)}`)),
              duration
            ),
          // A process whose memory is full does not claim its own chat again.
          { concurrency: 1, maxInMemory: 1 }
        ).pipe(
          Effect.provide(
            Layer.provideMerge(source([started(1, 1), started(1, 2), started(1, 3)], { stays: true }), Inbox.layer())
          ),
          Effect.provideService(InboxStore.InboxStore, of)
        )
      yield* Effect.forkScoped(consumer("first", stalled, 30_000))
      yield* TestClock.adjust("1 second")
      yield* Effect.forkScoped(consumer("second", shared, 1))
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(handled, ["second 1", "second 2", "second 3", "first 1"])
      assert.strictEqual((yield* store.stats).queued, 0)
    })
  )

  it.effect("gives up a partition that another process has handled while the answer to a renewal was late", () =>
    Effect.gen(function* () {
      const store = yield* InboxStore.makeMemory
      let late = true
      const shared: Store = {
        ...store,
        isShared: true,
        renew: (owner, duration) =>
          Effect.gen(function* () {
            const keys = yield* store.renew(owner, duration)
            const wait = late ? 12_000 : 0
            late = false
            yield* Effect.sleep(wait)
            return keys
          })
      }
      const begun: Array<number> = []
      const ended: Array<number> = []
      const handle = (update: Update.Update) =>
        Effect.sync(() => begun.push(timeOf(update))).pipe(
          Effect.andThen(Effect.sleep("30 seconds")),
          Effect.andThen(Effect.sync(() => ended.push(timeOf(update))))
        )
      yield* Effect.gen(function* () {
        const inbox = yield* Inbox.Inbox
        yield* Effect.forkScoped(Bot.run(handle))
        yield* TestClock.adjust("14 seconds")
        const [taken] = yield* store.claim({
          owner: "other",
          leaseDuration: 10_000,
          maxPartitions: 1,
          maxUpdates: 1,
          begin: 1
        })
        yield* store.commit([
          {
            owner: "other",
            partitionKey: taken!.key,
            completed: [{ id: taken!.updates[0].id }],
            failed: [],
            begun: [],
            release: true
          }
        ])
        yield* inbox.receive([started(1, 2)])
        yield* TestClock.adjust("1 minute")
      }).pipe(
        Effect.provide(
          Layer.provideMerge(source([started(1, 1)], { stays: true }), Inbox.layer({ leaseDuration: "10 seconds" }))
        ),
        Effect.provideService(InboxStore.InboxStore, shared)
      )
      assert.deepStrictEqual({ begun, ended }, { begun: [1, 2], ended: [2] })
    })
  )

  /** A claim may be applied under the name of leases that have expired, while another process has the partition in between. */
  for (const { after, before, from, when } of [
    { when: "that was under way", from: 1000, before: 14_000, after: 0 },
    { when: "that is under way while the leases are renewed", from: 1000, before: 14_000, after: 3000 }
  ]) {
    it.effect(
      `gives up an expired partition that another process has handled, if the answer to a claim is lost ${when}`,
      () =>
        Effect.gen(function* () {
          const store = yield* InboxStore.makeMemory
          let isDown = false
          let isLost = false
          const shared: Store = {
            ...store,
            isShared: true,
            renew: (owner, duration) =>
              Effect.suspend(() => (isDown ? unavailable("renew") : store.renew(owner, duration))),
            claim: (options) =>
              Effect.gen(function* () {
                if (!isLost) return yield* store.claim(options)
                isLost = false
                yield* Effect.sleep(before)
                yield* store.claim(options)
                yield* Effect.sleep(after)
                return yield* unavailable("claim")
              })
          }
          const begun: Array<number> = []
          const ended: Array<number> = []
          const handle = (update: Update.Update) =>
            Effect.sync(() => begun.push(timeOf(update))).pipe(
              Effect.andThen(Effect.sleep("40 seconds")),
              Effect.andThen(Effect.sync(() => ended.push(timeOf(update))))
            )
          yield* Effect.gen(function* () {
            const inbox = yield* Inbox.Inbox
            const fiber = yield* Effect.forkScoped(Bot.run(handle))
            yield* TestClock.adjust("500 millis")
            isDown = isLost = true
            const claims = Effect.andThen(Effect.sleep(from), Effect.sync(inbox[hooks].wakeAll))
            yield* Effect.forkChild(claims, { startImmediately: true })
            yield* TestClock.adjust("13 seconds")
            const other = { owner: "other", leaseDuration: 10_000, maxPartitions: 1, maxUpdates: 1, begin: 1 }
            const [{ key, updates }] = yield* store.claim(other)
            const completed = [{ id: updates[0].id }]
            yield* store.commit([
              { owner: "other", partitionKey: key, completed, failed: [], begun: [], release: true }
            ])
            yield* TestClock.adjust("2500 millis")
            isDown = false
            yield* TestClock.adjust("1 minute")
            yield* inTime(Fiber.interrupt(fiber))
          }).pipe(
            Effect.provide(
              Layer.provideMerge(
                source([started(1, 1), started(1, 2)], { stays: true }),
                Inbox.layer({ leaseDuration: "10 seconds" })
              )
            ),
            Effect.provideService(InboxStore.InboxStore, shared)
          )
          assert.deepStrictEqual({ begun, ended }, { begun: [1, 2], ended: [2] })
        })
    )
  }

  it.effect("gives up a partition that another process has handled while a renewal was under way that fails", () =>
    Effect.gen(function* () {
      const store = yield* InboxStore.makeMemory
      let renewals = 0
      const shared: Store = {
        ...store,
        isShared: true,
        renew: (owner, duration) =>
          Effect.suspend(() =>
            ++renewals === 1 ? Effect.delay(unavailable("renew"), "12 seconds") : store.renew(owner, duration)
          )
      }
      const begun: Array<number> = []
      const ended: Array<number> = []
      const handle = (update: Update.Update) =>
        Effect.sync(() => begun.push(timeOf(update))).pipe(
          Effect.andThen(Effect.sleep("30 seconds")),
          Effect.andThen(Effect.sync(() => ended.push(timeOf(update))))
        )
      const fiber = yield* Bot.run(handle).pipe(
        Effect.provide(
          Layer.provideMerge(
            source([started(1, 1), started(1, 2), started(1, 3)], { stays: true }),
            Inbox.layer({ leaseDuration: "10 seconds" })
          )
        ),
        Effect.provideService(InboxStore.InboxStore, shared),
        Effect.forkScoped
      )
      yield* TestClock.adjust("14 seconds")
      const owner = "other"
      const [taken] = yield* store.claim({ owner, leaseDuration: 10_000, maxPartitions: 1, maxUpdates: 2, begin: 1 })
      const { key, updates } = taken!
      const completed = updates.map(({ id }) => ({ id }))
      yield* store.commit([{ owner, partitionKey: key, completed, failed: [], begun: [], release: true }])
      assert.lengthOf(completed, 2)
      yield* TestClock.adjust("1 minute")
      yield* inTime(Fiber.interrupt(fiber))
      assert.deepStrictEqual(begun, [1, 3])
      assert.deepStrictEqual(ended, [3])
      assert.strictEqual((yield* store.stats).queued, 0)
    })
  )
})

describe("Partitions that the store has under the name of a process, and that no consumer there handles", () => {
  /** When each chat was handled, in seconds. The first chat is handled for 50 seconds, and the second chat arrives 3 seconds later. */
  const handledWith = (modify: (store: Store) => Partial<Store>, arriving = [started(2, 2)]) =>
    Effect.gen(function* () {
      const store = yield* InboxStore.makeMemory
      const handled: Array<readonly [chat: number, seconds: number]> = []
      const updates = Effect.gen(function* () {
        const inbox = yield* Inbox.Inbox
        yield* inbox.receive([started(1, 1)])
        yield* Effect.sleep("3 seconds")
        yield* inbox.receive(arriving)
        return yield* Effect.never
      })
      const handle = (update: Update.Update) =>
        Effect.gen(function* () {
          if (chatOf(update) === 1) yield* Effect.sleep("50 seconds")
          handled.push([timeOf(update), Math.round((yield* Clock.currentTimeMillis) / 1000)])
        })
      yield* Bot.run(handle, { timeout: "1 hour" }).pipe(
        Effect.provide(
          Layer.effect(
            Updates.Updates,
            Inbox.Inbox.use((inbox) =>
              Effect.succeed(
                Updates.Updates.of({
                  inbox,
                  source: Effect.orDie(Effect.provideService(updates, Inbox.Inbox, inbox))
                })
              )
            )
          ).pipe(Layer.provide(Inbox.layer()))
        ),
        Effect.provideService(InboxStore.InboxStore, { ...store, isShared: true, ...modify(store) }),
        Effect.timeoutOption("1 minute"),
        inTime
      )
      return handled
    })

  const has = (partitions: ReadonlyArray<InboxStore.Partition>, key: string) =>
    partitions.some((partition) => partition.key === key)

  it.effect("are released if the answer to their claim was lost, although other leases are renewed", () =>
    Effect.gen(function* () {
      let isLost = false
      const handled = yield* handledWith((store) => ({
        claim: (options) =>
          Effect.flatMap(store.claim(options), (partitions) => {
            if (isLost || !has(partitions, "2")) return Effect.succeed(partitions)
            isLost = true
            return unavailable("claim")
          })
      }))
      assert.deepStrictEqual(
        handled.map(([time]) => time),
        [2, 1]
      )
      assert.isAtMost(handled[0]![1], 3 + 4)
    })
  )

  it.effect("are released if the store has lost their release, also while claims are always under way", () =>
    Effect.gen(function* () {
      let isReverted = false
      const handled = yield* handledWith(
        (store) => ({
          claim: (options) => Effect.tap(store.claim(options), Effect.sleep("4 seconds")),
          commit: (commits) =>
            Effect.suspend(() => {
              if (isReverted || !commits.some(({ partitionKey, release }) => partitionKey === "2" && release)) {
                return store.commit(commits)
              }
              isReverted = true
              return Effect.succeed(commits.map(() => "applied" as const))
            })
        }),
        [started(2, 2), ...Array.from({ length: 12 }, (_, index) => started(3 + index, 3 + index))]
      )
      const times = handled.flatMap(([time, seconds]) => (time === 2 ? [seconds] : []))
      assert.lengthOf(times, 2)
      assert.isAtMost(times[1]!, times[0]! + 12)
    })
  )

  it.effect("are not released while their claim is under way", () =>
    Effect.gen(function* () {
      const released: Array<string> = []
      let isSlow = false
      const handled = yield* handledWith((store) => ({
        claim: (options) =>
          Effect.tap(store.claim(options), (partitions) => {
            if (!has(partitions, "2")) return Effect.void
            isSlow = true
            return Effect.ensuring(
              Effect.sleep("6 seconds"),
              Effect.sync(() => (isSlow = false))
            )
          }),
        commit: (commits) =>
          Effect.suspend(() => {
            for (const { completed, partitionKey, release } of commits) {
              if (release && completed.length === 0) released.push(partitionKey)
            }
            return store.commit(commits)
          })
      }))
      assert.isFalse(isSlow)
      assert.deepStrictEqual(released, [])
      assert.deepStrictEqual(handled, [
        [2, 9],
        [1, 50]
      ])
    })
  )
})

describe("A stream that closes", () => {
  it.effect("applies the commits that wait for the store before it ends the leases", () =>
    Effect.gen(function* () {
      const store = yield* InboxStore.InboxStore
      const latch = Latch.makeUnsafe()
      const slow = InboxStore.InboxStore.of({
        ...store,
        commit: (commits) => Effect.andThen(latch.await, store.commit(commits))
      })
      yield* Effect.gen(function* () {
        const scope = yield* Scope.make()
        const pull = yield* Scope.provide(Stream.toPull(Updates.deliveries()), scope)
        const [delivery] = yield* pull
        const commit = yield* Effect.forkChild(delivery.ack, { startImmediately: true })
        for (let turn = 0; turn < 10; turn++) yield* Effect.yieldNow
        const finish = yield* Effect.forkChild(Scope.close(scope, Exit.void), { startImmediately: true })
        for (let turn = 0; turn < 10; turn++) yield* Effect.yieldNow
        latch.openUnsafe()
        yield* Fiber.join(finish)
        yield* Fiber.join(commit)
      }).pipe(
        Effect.provide(Layer.provideMerge(source([started(1, 1), started(1, 2)], { stays: true }), Inbox.layer())),
        Effect.provideService(InboxStore.InboxStore, slow)
      )
      assert.strictEqual((yield* store.stats).queued, 1)
      const [next] = yield* store.claim({ owner: "other", leaseDuration: 1, maxPartitions: 1, maxUpdates: 2, begin: 0 })
      assert.lengthOf(next!.updates, 1)
    }).pipe(Effect.provide(storeOver(() => ({ isShared: true }))))
  )

  it.effect(
    "gives back what is not settled of a chat of a store of one process whose commit is under way when the stream closes",
    () =>
      Effect.gen(function* () {
        const store = yield* InboxStore.makeMemory
        const slow = {
          ...store,
          commit: (commits: ReadonlyArray<InboxStore.Commit>) => Effect.delay(store.commit(commits), "1 second")
        }
        const handled: Array<number> = []
        yield* Effect.gen(function* () {
          const scope = yield* Scope.make()
          const pull = yield* Scope.provide(Stream.toPull(Updates.deliveries({ perChat: 2 })), scope)
          const [delivery] = yield* pull
          yield* Effect.forkChild(delivery.ack, { startImmediately: true })
          yield* inTime(Scope.close(scope, Exit.void))
          yield* Bot.run((update) => Effect.sync(() => handled.push(timeOf(update)))).pipe(
            Effect.timeoutOption("10 seconds"),
            inTime
          )
        }).pipe(
          Effect.provide(Layer.provideMerge(source([started(1, 1), started(1, 2)], { stays: true }), Inbox.layer())),
          Effect.provideService(InboxStore.InboxStore, slow)
        )
        assert.deepStrictEqual(handled, [2])
      })
  )
})

describe("The lease of a chat", () => {
  /** The clocks of a process, which diverge from each other and from those of its store. */
  const makeClocks = Effect.map(Clock.Clock, (clock) => {
    let wall = 0
    let mono = 0
    const millis = () => clock.currentTimeMillisUnsafe() + wall
    const nanos = () => clock.monotonicTimeNanosUnsafe() + BigInt(mono) * 1_000_000n
    const process: Clock.Clock = {
      currentTimeMillisUnsafe: millis,
      currentTimeMillis: Effect.sync(millis),
      currentTimeNanosUnsafe: () => BigInt(millis()) * 1_000_000n,
      currentTimeNanos: Effect.sync(() => BigInt(millis()) * 1_000_000n),
      monotonicTimeNanosUnsafe: nanos,
      monotonicTimeNanos: Effect.sync(nanos),
      sleep: (duration) => clock.sleep(duration)
    }
    return {
      clock: process,
      store: clock,
      /** Sets the wall clock forward or back, by milliseconds. */
      setWall: (by: number) => void (wall += by),
      /** Lets the monotonic clock go faster or slower than the wall clock, by milliseconds. */
      setMono: (by: number) => void (mono += by)
    }
  })

  const hour = 3_600_000

  /** A process that holds the partition of one update, and counts how often it asks the store for its leases. */
  const makeProcess = Effect.gen(function* () {
    const clocks = yield* makeClocks
    const store = yield* InboxStore.makeMemory
    let renewals = 0
    let isDown = false
    const shared: Store = {
      ...store,
      isShared: true,
      claim: (options) => Effect.provideService(store.claim(options), Clock.Clock, clocks.store),
      renew: (owner, leaseDuration) =>
        Effect.suspend(() => {
          if (isDown) return unavailable("renew")
          renewals++
          return Effect.provideService(store.renew(owner, leaseDuration), Clock.Clock, clocks.store)
        })
    }
    let lease: Lease | undefined
    const handle = () =>
      Effect.withFiber((fiber) => {
        lease = fiber.getRef(CurrentLease)
        return Effect.never
      })
    // A process whose memory is full claims nothing.
    yield* Bot.run(handle, { concurrency: 1, maxInMemory: 1, timeout: "1 hour" }).pipe(
      Effect.provide(
        Layer.provideMerge(source([started(1, 1)], { stays: true }), Inbox.layer({ leaseDuration: "10 seconds" }))
      ),
      Effect.provideService(InboxStore.InboxStore, shared),
      Effect.provideService(Clock.Clock, clocks.clock),
      Effect.provideService(Deliveries.ImmediateShutdown, true),
      Effect.forkScoped
    )
    while (lease === undefined) yield* Effect.yieldNow
    const { confirm, isHeld } = lease
    return {
      ...clocks,
      isValid: isHeld,
      confirm,
      /** How often the leases were renewed. */
      renewals: () => renewals,
      /** Makes renewals fail. */
      setDown: (down: boolean) => {
        isDown = down
      },
      /** Another process claims what is expired by the clock of the store. */
      claimByOther: Effect.map(
        store.claim({ owner: "other", leaseDuration: 10_000, maxPartitions: 1, maxUpdates: 1, begin: 1 }),
        ({ length }) => length
      )
    }
  })

  it.effect("asks the store once if the wall clock is set forward while the monotonic clock goes on", () =>
    Effect.gen(function* () {
      const process = yield* makeProcess
      assert.isTrue(process.isValid())
      process.setWall(hour)
      assert.isFalse(process.isValid())
      assert.isTrue(Exit.isSuccess(yield* inTime(Effect.exit(process.confirm))))
      assert.isTrue(process.isValid())
      assert.strictEqual(process.renewals(), 1)
      assert.strictEqual(yield* process.claimByOther, 0)
    })
  )

  it.effect("does not take a lease for valid longer because the wall clock is set back", () =>
    Effect.gen(function* () {
      const process = yield* makeProcess
      process.setDown(true)
      process.setWall(-hour)
      assert.isTrue(process.isValid())
      yield* TestClock.adjust("8999 millis")
      assert.isTrue(process.isValid())
      yield* TestClock.adjust("2 millis")
      assert.isFalse(process.isValid())
      assert.strictEqual(yield* process.claimByOther, 0)
    })
  )

  it.effect("does not trust a monotonic clock that stood still while the computer was suspended", () =>
    Effect.gen(function* () {
      const process = yield* makeProcess
      yield* TestClock.adjust("1 second")
      // The process does not run, but the clock of the store does.
      process.setDown(true)
      yield* TestClock.adjust("12 seconds")
      process.setMono(-12_000)
      assert.isFalse(process.isValid())
      assert.strictEqual(yield* process.claimByOther, 1)
    })
  )

  it.effect("interrupts if another process has claimed the partition meanwhile, whatever the clocks say", () =>
    Effect.gen(function* () {
      for (const { mono, wall } of [
        { wall: 0, mono: 0 },
        { wall: hour, mono: 0 },
        { wall: -hour, mono: 0 },
        { wall: 0, mono: -20_000 }
      ]) {
        const process = yield* makeProcess
        process.setDown(true)
        yield* TestClock.adjust("12 seconds")
        assert.strictEqual(yield* process.claimByOther, 1)
        process.setDown(false)
        process.setWall(wall)
        process.setMono(mono)
        const exit = yield* inTime(Effect.exit(process.confirm))
        assert.isTrue(Exit.hasInterrupts(exit), `${wall} ${mono}`)
        assert.isFalse(process.isValid())
      }
    })
  )
})
