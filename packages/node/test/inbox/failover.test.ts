import * as InboxStore from "@colloquy/core/inbox/InboxStore"
import { RedisInboxStore, SqlInboxStore } from "@colloquy/node"
import * as NodeRedis from "@effect/platform-node/NodeRedis"
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redis from "effect/persistence/Redis"
import * as Schedule from "effect/Schedule"
import * as SqlClient from "effect/sql/SqlClient"
import * as databases from "../support/databases.ts"
import { change, claim, enqueue, update } from "../support/inboxRequests.ts"
import * as redisServer from "../support/redisServer.ts"

type Store = InboxStore.InboxStore["Service"]

/**
 * A process claims a chat, which gets another update. A replica without this update takes the place of the store. The
 * process has the lease in the replica too, and still handles the update that is lost.
 */
const failOver = Effect.fnUntraced(function* <E>(
  primary: Store,
  promote: (loseUpdate: Effect.Effect<void, unknown>) => Effect.Effect<Store, E>
) {
  yield* enqueue(primary, update("chat", 0))
  yield* primary.claim(claim("one"))
  let lost = ""
  const loseUpdate = Effect.gen(function* () {
    yield* enqueue(primary, update("chat", 1))
    const queued = yield* primary.updates({ of: "queue", limit: 10 })
    lost = queued[1].id
  })
  const replica = yield* promote(loseUpdate)
  yield* enqueue(replica, update("chat", 2))
  const journal = { owner: "one", partitionKey: "chat", id: lost }
  const recorded = yield* replica.write([{ journal, rows: [{ key: "a", row: { text: "" }, revision: "1" }] }])
  assert.deepStrictEqual(recorded, ["leaseLost"])
  yield* replica.commit([change("one", "chat", { completed: [{ id: lost }] })])
  assert.deepStrictEqual(
    (yield* replica.updates({ of: "queue", limit: 10 })).map(({ update }) => update.fingerprint),
    ["chat:0", "chat:2"]
  )
})

const title = "gives no update the id of an update that a replica which lags behind has lost"

describe.skipIf(await databases.isMissing("PostgreSQL", 5432))("an inbox in PostgreSQL", () => {
  it.live(title, () => {
    const prefix = databases.uniqueName()
    return Effect.gen(function* () {
      const store = yield* InboxStore.InboxStore
      const sql = yield* SqlClient.SqlClient
      const updates = `${prefix}_inbox_updates`
      yield* failOver(store, (loseUpdate) =>
        Effect.gen(function* () {
          yield* loseUpdate
          yield* sql`DELETE FROM ${sql(updates)} WHERE fingerprint = 'chat:1'`
          yield* sql`SELECT setval(pg_get_serial_sequence(${updates}, 'id'), max(id)) FROM ${sql(updates)}`
          // The replica has the server of the primary, which has another time of its start.
          yield* sql`SELECT setval(${`${prefix}_inbox_server`}::regclass, 1)`
          return store
        })
      )
    }).pipe(
      Effect.provide(
        SqlInboxStore.layer({ prefix }).pipe(
          Layer.provide(databases.pgTables(prefix)),
          Layer.provideMerge(databases.Postgres)
        )
      )
    )
  })
})

const connect = (url: string) =>
  Effect.map(
    Layer.build(Layer.fresh(Layer.provideMerge(RedisInboxStore.layer(), NodeRedis.layer({ url })))),
    (context) => ({
      store: Context.get(context, InboxStore.InboxStore),
      redis: Context.get(context, Redis.Redis)
    })
  )

describe.skipIf(!redisServer.isInstalled)("an inbox in Redis", () => {
  it.live(title, () =>
    Effect.gen(function* () {
      const [primary, replica] = [yield* redisServer.make, yield* redisServer.make]
      const { store } = yield* connect(primary.url)
      const { redis, store: promoted } = yield* connect(replica.url)
      yield* redis.send("REPLICAOF", "127.0.0.1", new URL(primary.url).port)
      yield* failOver(store, (loseUpdate) =>
        Effect.gen(function* () {
          const isReplicated = Effect.map(
            redis.send<number>("EXISTS", "{colloquy:inbox}:lease:chat"),
            (count) => count === 1
          )
          yield* Effect.repeat(isReplicated, { until: (is) => is, schedule: Schedule.spaced("5 millis") })
          yield* redis.send("REPLICAOF", "NO", "ONE")
          yield* loseUpdate
          return promoted
        })
      )
    }).pipe(Effect.scoped)
  )
})
