import { QueuedUpdate } from "@colloquy/core"
import * as InboxStore from "@colloquy/core/inbox/InboxStore"
import { RedisInboxStore } from "@colloquy/node"
import * as NodeRedis from "@effect/platform-node/NodeRedis"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Context, Effect, Exit, Fiber, Layer, Logger, Schedule, Scope } from "effect"
import { Redis } from "effect/persistence"
import { spawn } from "node:child_process"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import * as databases from "../../support/databases.ts"
import { acknowledge } from "../../support/inboxRequests.ts"
import * as redisServer from "../../support/redisServer.ts"
import { signal } from "../../support/signals.ts"

const hour = 3_600_000

const updatesOf = (key: string, count: number) =>
  Array.from({ length: count }, (_, index) =>
    QueuedUpdate.fromStored({ fingerprint: `${key}:${index}`, partitionKey: key, receivedAt: 1, text: "{}" })
  )

const enqueue = (store: InboxStore.InboxStore["Service"], key: string, count = 1) =>
  store.enqueue({ updates: updatesOf(key, count), deadLetters: [], now: 1, duplicatesSince: 0 })

const claim = (store: InboxStore.InboxStore["Service"], owner: string, claim: Partial<InboxStore.Claim> = {}) =>
  store.claim({ owner, leaseDuration: hour, maxPartitions: 10, maxUpdates: 10, begin: 0, ...claim })

const commit = (
  store: InboxStore.InboxStore["Service"],
  owner: string,
  partition: InboxStore.Partition,
  parts: Partial<InboxStore.Commit> = {}
) => store.commit([acknowledge(owner, partition, parts)])

const until = <E>(condition: Effect.Effect<boolean, E>) =>
  Effect.repeat(condition, { until: (isMet) => isMet, schedule: Schedule.spaced("2 millis") })

/** A store with a connection of its own, as another process has it. */
const connect = (prefix: string, url = databases.redisUrl, options: RedisInboxStore.Options = {}) =>
  Effect.map(
    Layer.build(
      Layer.fresh(Layer.provideMerge(RedisInboxStore.layer({ ...options, prefix }), NodeRedis.layer({ url })))
    ),
    (context) => ({
      store: Context.get(context, InboxStore.InboxStore),
      redis: Context.get(context, Redis.Redis)
    })
  )

const connections = (redis: Redis.Redis["Service"], prefix: string) =>
  Effect.map(redis.send<ReadonlyArray<string | number>>("PUBSUB", "NUMSUB", `{${prefix}:inbox}:wake`), ([, count]) =>
    Number(count)
  )

/** Counts the calls of `wake` of a listener. */
const listen = Effect.fnUntraced(function* (store: InboxStore.InboxStore["Service"]) {
  const calls = { count: 0 }
  yield* store.listen!(() => calls.count++)
  return {
    calls,
    /** Runs an effect that has to call `wake`. */
    wokenBy: <A, E>(effect: Effect.Effect<A, E>) =>
      Effect.suspend(() => {
        const before = calls.count
        return Effect.tap(effect, () => until(Effect.sync(() => calls.count > before)))
      })
  }
})

/** A process that claims the updates of a prefix, and commits them when it gets a line. */
const startHolder = (prefix: string) =>
  Effect.gen(function* () {
    const program = fileURLToPath(new URL("../../support/leaseHolder.ts", import.meta.url))
    const child = yield* Effect.acquireRelease(
      Effect.sync(() =>
        spawn(process.execPath, ["--conditions=source", "--no-warnings", program, prefix], {
          stdio: ["pipe", "pipe", "inherit"]
        })
      ),
      (child) => Effect.sync(() => child.kill("SIGKILL"))
    )
    const lines = createInterface({ input: child.stdout })
    const printed: Array<string> = []
    lines.on("line", (line) => void (/^(claimed|committed)/.test(line) && printed.push(line)))
    const prints = (count: number) => until(Effect.sync(() => printed.length >= count))
    yield* prints(1)
    /** Ends the lease of the process, which would last an hour. */
    const endLease = (store: InboxStore.InboxStore["Service"]) => store.renew("holder", 1)
    return { child, endLease, printed, prints }
  })

describe.skipIf(await databases.isMissing("Redis", 6379))("redisInbox", () => {
  const test = <E>(name: string, body: (prefix: string) => Effect.Effect<void, E, Scope.Scope | Redis.Redis>) =>
    it.live(name, () =>
      Effect.suspend(() => {
        const prefix = databases.uniqueName()
        return Effect.provide(Effect.scoped(body(prefix)), databases.redisPrefix(`{${prefix}:`))
      })
    )

  test("wakes other processes when a partition becomes claimable, and not the process that made it so", (prefix) =>
    Effect.gen(function* () {
      const { store } = yield* connect(prefix)
      const { store: other } = yield* connect(prefix)
      const own = yield* listen(store)
      const others = yield* listen(other)
      yield* others.wokenBy(enqueue(store, "a", 2))
      const [partition] = yield* claim(store, "one", { maxUpdates: 1 })
      yield* others.wokenBy(commit(store, "one", partition!))
      yield* claim(store, "one")
      yield* others.wokenBy(store.renew("one", 0))
      const [rest] = yield* claim(store, "one")
      const failure = { error: "no", attempts: 1, failedAt: 1 }
      const [{ id }] = rest!.updates
      yield* commit(store, "one", rest!, { completed: [{ id, failure }] })
      yield* others.wokenBy(store.takeDeadLetters({ ids: [id], replay: true }))
      yield* claim(store, "one", { leaseDuration: 0 })
      yield* others.wokenBy(claim(store, "one", { maxPartitions: 0 }))
      assert.strictEqual(own.calls.count, 0)
      // A message of the other process shows that those of this process were skipped, not late.
      yield* claim(store, "one")
      yield* own.wokenBy(enqueue(other, "b"))
      assert.strictEqual(own.calls.count, 1)
    }))

  test("sends no message while partitions are waiting, and none for updates of a partition that is held", (prefix) =>
    Effect.gen(function* () {
      const { store } = yield* connect(prefix)
      const { store: other } = yield* connect(prefix)
      yield* enqueue(store, "waiting")
      const { calls, wokenBy } = yield* listen(other)
      yield* enqueue(store, "also waiting")
      yield* claim(store, "one")
      yield* store.enqueue({
        updates: [QueuedUpdate.fromStored({ fingerprint: "next", partitionKey: "waiting", receivedAt: 1, text: "{}" })],
        deadLetters: [],
        now: 1,
        duplicatesSince: 0
      })
      yield* wokenBy(enqueue(store, "new"))
      assert.strictEqual(calls.count, 1)
    }))

  test("has a connection for messages only while something listens", (prefix) =>
    Effect.gen(function* () {
      const { redis, store } = yield* connect(prefix)
      assert.strictEqual(yield* connections(redis, prefix), 0)
      const scope = yield* Scope.make()
      yield* Scope.provide(
        store.listen!(() => {}),
        scope
      )
      assert.strictEqual(yield* connections(redis, prefix), 1)
      yield* Scope.close(scope, Exit.void)
      yield* until(Effect.map(connections(redis, prefix), (count) => count === 0))
    }))

  test("counts leases by the clock of Redis, so that the clocks of the processes may be 10 minutes apart", (prefix) =>
    Effect.gen(function* () {
      const { store } = yield* connect(prefix)
      const real = Clock.Clock.defaultValue()
      const ahead = (milliseconds: number): Clock.Clock => ({
        ...real,
        currentTimeMillisUnsafe: () => real.currentTimeMillisUnsafe() + milliseconds,
        currentTimeMillis: Effect.sync(() => real.currentTimeMillisUnsafe() + milliseconds),
        sleep: (duration) => real.sleep(duration)
      })
      const tenMinutes = 600_000
      const late = Effect.provideService(Clock.Clock, ahead(tenMinutes))
      const early = Effect.provideService(Clock.Clock, ahead(-tenMinutes))
      yield* late(enqueue(store, "chat"))
      assert.lengthOf(yield* early(claim(store, "early", { leaseDuration: 60_000 })), 1)
      assert.lengthOf(yield* late(claim(store, "late")), 0)
      assert.deepStrictEqual(yield* early(store.renew("early", 1)), ["chat"])
      yield* until(
        Effect.map(late(claim(store, "late", { leaseDuration: 60_000 })), (partitions) => partitions.length === 1)
      )
      assert.lengthOf(yield* early(claim(store, "early")), 0)
    }))

  test("counts a crash for each update that was begun by a process that was killed, and for no other", (prefix) =>
    Effect.gen(function* () {
      const { store } = yield* connect(prefix)
      yield* enqueue(store, "chat", 4)
      const { child, endLease } = yield* startHolder(prefix)
      assert.lengthOf(yield* claim(store, "next"), 0)
      child.kill("SIGKILL")
      assert.deepStrictEqual(yield* endLease(store), ["chat"])
      let claimed: ReadonlyArray<InboxStore.Partition> = []
      yield* until(
        Effect.map(claim(store, "next"), (partitions) => {
          claimed = partitions
          return partitions.length > 0
        })
      )
      assert.deepStrictEqual(
        claimed.map(({ updates }) => updates.map(({ attempts, crashes }) => [attempts, crashes])),
        [
          [
            [1, 1],
            [1, 1],
            [0, 0],
            [0, 0]
          ]
        ]
      )
    }))

  test("applies nothing of a process that was frozen for longer than its lease", (prefix) =>
    Effect.gen(function* () {
      const { store } = yield* connect(prefix)
      yield* enqueue(store, "chat", 2)
      const { child, endLease, printed, prints } = yield* startHolder(prefix)
      signal(child, "SIGSTOP")
      assert.deepStrictEqual(yield* endLease(store), ["chat"])
      yield* until(Effect.map(claim(store, "next"), (partitions) => partitions.length > 0))
      child.stdin.write("\n")
      signal(child, "SIGCONT")
      yield* prints(2)
      assert.strictEqual(printed[1], "committed leaseLost, holds 0")
      assert.strictEqual((yield* store.stats).queued, 2)
      assert.deepStrictEqual(yield* store.renew("next", hour), ["chat"])
    }))

  test("renews an expired lease that no process has claimed", (prefix) =>
    Effect.gen(function* () {
      const { redis, store } = yield* connect(prefix)
      yield* enqueue(store, "chat", 2)
      const { child, endLease, printed, prints } = yield* startHolder(prefix)
      signal(child, "SIGSTOP")
      assert.deepStrictEqual(yield* endLease(store), ["chat"])
      const isExpired = Effect.gen(function* () {
        const end = yield* redis.send("ZSCORE", `{${prefix}:inbox}:owners`, "holder")
        const [seconds, microseconds] = yield* redis.send<Array<string>>("TIME")
        return Number(seconds) * 1000 + Number(microseconds) / 1000 > Number(end)
      })
      yield* until(isExpired)
      child.stdin.write("\n")
      signal(child, "SIGCONT")
      yield* prints(2)
      assert.strictEqual(printed[1], "committed applied, holds 1")
      assert.strictEqual((yield* store.stats).queued, 0)
    }))

  test("keeps all keys in one hash slot, and leaves none but its counters when all updates are completed", (prefix) =>
    Effect.gen(function* () {
      const { redis, store } = yield* connect(prefix)
      yield* enqueue(store, "a", 3)
      yield* enqueue(store, "b", 3)
      for (const partition of yield* claim(store, "one", { begin: 2 })) {
        const [first, second, third] = partition.updates.map(({ id }) => id)
        const record = (id: string, text: string | undefined) =>
          store.write([
            {
              rows: [{ key: "a", row: text === undefined ? undefined : { text }, revision: "r" }],
              journal: { owner: "one", partitionKey: partition.key, id }
            }
          ])
        for (const id of [first!, second!, third!]) yield* record(id, "done")
        yield* record(second!, undefined)
        const failure = { error: "no", attempts: 1, failedAt: 1 }
        yield* commit(store, "one", partition, {
          completed: [{ id: first! }, { id: second! }, { id: third!, failure }]
        })
      }
      const [dead] = yield* store.updates({ of: "deadLetters", limit: 1 })
      yield* store.takeDeadLetters({ ids: [dead!.id], replay: false })
      const row = { text: "", user: "user:1", expiresAt: 9, due: { time: { after: hour }, partitionKey: "a" } }
      yield* store.write([{ rows: [{ key: "row", row, revision: "r" }] }])
      yield* store.cleanup({ fingerprintsBefore: hour, deadLettersBefore: hour, rowsBefore: hour })
      yield* claim(store, "one")
      const keys = yield* redis.send<ReadonlyArray<string>>("KEYS", `*${prefix}*`)
      assert.deepStrictEqual(
        keys.toSorted(),
        ["run", "seq"].map((part) => `{${prefix}:inbox}:${part}`)
      )
    }))
})

describe.skipIf(!redisServer.isInstalled)("redisInbox on a server of its own", () => {
  it.live(
    "goes on after the server started without its data: nothing of the old owner is applied, and other processes are woken",
    () => {
      const logged: Array<string> = []
      return Effect.gen(function* () {
        const server = yield* redisServer.make
        const { store } = yield* connect("bot", server.url)
        const { store: other } = yield* connect("bot", server.url)
        const { wokenBy } = yield* listen(other)
        yield* wokenBy(enqueue(store, "chat"))
        const [before] = yield* claim(store, "one", { begin: 1 })
        yield* server.kill
        const pending = yield* Effect.forkChild(Effect.result(enqueue(store, "later")))
        yield* server.start
        yield* Fiber.join(pending)
        // The connections are restored one after the other. From then on, messages arrive.
        yield* Effect.retry(store.stats, Schedule.spaced("20 millis"))
        const publisher = yield* connect("bot", server.url)
        yield* until(Effect.map(connections(publisher.redis, "bot"), (count) => count === 1))
        yield* claim(other, "clear")
        yield* wokenBy(enqueue(store, "chat"))
        assert.deepStrictEqual(yield* commit(store, "one", before!), ["leaseLost"])
        assert.deepStrictEqual(yield* store.renew("one", hour), [])
        const [after] = yield* claim(store, "two")
        assert.strictEqual(after!.key, "chat")
        assert.notStrictEqual(after!.updates[0]!.id, before!.updates[0]!.id)
        assert.lengthOf(
          logged.filter((message) => message.includes("The inbox in Redis lost its data")),
          1
        )
      }).pipe(
        Effect.scoped,
        Effect.provide(Logger.layer([Logger.make(({ message }) => void logged.push(String(message)))]))
      )
    }
  )

  it.live(
    "stores updates for a user without the right to the channel, and logs once that updates are found by polling",
    () => {
      const logged: Array<string> = []
      return Effect.gen(function* () {
        const server = yield* redisServer.make
        const { redis } = yield* connect("bot", server.url)
        yield* redis.send("ACL", "SETUSER", "bot", "on", ">secret", "~{bot:inbox}*", "resetchannels", "+@all")
        const { store } = yield* connect("bot", server.url.replace("//", "//bot:secret@"))
        yield* store.listen!(() => {})
        yield* until(Effect.sync(() => logged.some((message) => message.includes('operation "listen"'))))
        yield* enqueue(store, "chat")
        assert.lengthOf(yield* claim(store, "one"), 1)
        // Waits for the second subscription: each has a connection of its own.
        const received = Effect.map(redis.send<string>("INFO", "stats"), (text) =>
          Number(/total_connections_received:(\d+)/.exec(String(text))?.[1])
        )
        const before = yield* received
        yield* until(Effect.map(received, (count) => count > before + 1))
        assert.lengthOf(
          logged.filter((message) => message.includes("found by polling")),
          1
        )
      }).pipe(
        Effect.scoped,
        Effect.provide(Logger.layer([Logger.make(({ message }) => void logged.push(String(message)))]))
      )
    }
  )

  it.live(
    "fails with a StoreError that can be retried when the server does not answer, and succeeds when it does again",
    () =>
      Effect.gen(function* () {
        const server = yield* redisServer.make
        const { store } = yield* connect("bot", server.url, { operationTimeout: "300 millis" })
        yield* enqueue(store, "chat")
        yield* server.signal("SIGSTOP")
        const error = yield* Effect.flip(claim(store, "one"))
        assert.deepStrictEqual([error._tag, error.operation, error.isRetryable], ["StoreError", "claim", true])
        yield* server.signal("SIGCONT")
        // The claim was executed when the server went on, for an owner that must not be used again.
        yield* Effect.retry(store.renew("one", 0), Schedule.spaced("10 millis"))
        assert.lengthOf(yield* claim(store, "two"), 1)
      }).pipe(Effect.scoped)
  )
})
