import * as InboxStore from "@colloquy/core/inbox/InboxStore"
import { RedisConnection, RedisInboxStore } from "@colloquy/node"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redis from "effect/persistence/Redis"
import { change, claim, enqueue, update } from "../support/inboxRequests.ts"
import * as redisServer from "../support/redisServer.ts"
import { closedPort } from "../support/servers.ts"

/** A cluster of one node that has all slots. */
const clusterOfOne = Effect.gen(function* () {
  // The port that Redis chooses for the cluster may be the port of a connection of another test.
  const clusterPort = String(yield* closedPort)
  const { url } = yield* redisServer.makeWith(["--cluster-enabled", "yes", "--cluster-port", clusterPort])
  const redis = RedisConnection.layerCluster({ rootNodes: [{ url }] })
  yield* redisServer.command(url, "CLUSTER", "ADDSLOTSRANGE", "0", "16383")
  yield* redisServer.until(url, ["CLUSTER", "INFO"], "cluster_state:ok")
  return redis
})

describe.skipIf(!redisServer.isInstalled)("a connection to a Redis Cluster", () => {
  it.live("executes the operations of a store, and wakes the processes that listen", () =>
    Effect.gen(function* () {
      const redis = yield* clusterOfOne
      const store = RedisInboxStore.layer({ prefix: "one" }).pipe(Layer.provide(redis), Layer.fresh)
      const use = <A, E>(effect: Effect.Effect<A, E, InboxStore.InboxStore>) => Effect.provideContext(effect, receiver)
      const receiver = yield* Layer.build(store)
      const handler = yield* Layer.build(store)
      yield* Effect.gen(function* () {
        const inbox = yield* InboxStore.InboxStore
        const woken = yield* Deferred.make<void>()
        yield* inbox.listen!(() => Deferred.doneUnsafe(woken, Effect.void))
        yield* use(Effect.flatMap(InboxStore.InboxStore, (store) => enqueue(store, update("chat", 1))))
        yield* Deferred.await(woken)
        const [partition] = yield* inbox.claim(claim("process"))
        assert.deepStrictEqual(
          partition?.updates.map(({ update }) => update.fingerprint),
          ["chat:1"]
        )
        const completed = partition!.updates.map(({ id }) => ({ id }))
        assert.deepStrictEqual(yield* inbox.commit([change("process", "chat", { completed })]), ["applied"])
        assert.strictEqual((yield* inbox.stats).queued, 0)
      }).pipe(Effect.provideContext(handler))
    }).pipe(Effect.scoped)
  )

  it.live("reserves a connection of its own", () =>
    Effect.gen(function* () {
      const redis = yield* clusterOfOne
      yield* Effect.gen(function* () {
        const { reserve, send } = yield* Redis.Redis
        const reserved = yield* reserve
        yield* reserved.send("SET", "key", "value")
        assert.strictEqual(yield* send("GET", "key"), "value")
      }).pipe(Effect.scoped, Effect.provide(redis))
    }).pipe(Effect.scoped)
  )
})

describe("a connection to Redis that cannot be made", () => {
  it.live("fails if no node of the cluster answers", () =>
    Effect.gen(function* () {
      const url = `redis://127.0.0.1:${yield* closedPort}`
      const error = yield* Effect.flip(Layer.build(RedisConnection.layerCluster({ rootNodes: [{ url }] })))
      assert.instanceOf(error, Redis.RedisError)
    }).pipe(Effect.scoped)
  )

  it.live("fails if no sentinel answers", () =>
    Effect.gen(function* () {
      const sentinelRootNodes = [{ host: "127.0.0.1", port: yield* closedPort }]
      const options = { name: "bots", sentinelRootNodes, maxCommandRediscovers: 0 }
      const error = yield* Effect.flip(Layer.build(RedisConnection.layerSentinel(options)))
      assert.instanceOf(error, Redis.RedisError)
    }).pipe(Effect.scoped)
  )
})
