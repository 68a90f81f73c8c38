/**
 * Compares a store of the inbox with the store in memory, by random operations: `npm run store-model -- --store pg`.
 *
 * - `--store`: `sqlite`, `pg` or `redis`. Servers are expected on their standard ports. Default: `sqlite`.
 * - `--operations`: number of operations. Default: 100,000. `--seed`: the first seed. Default: 1.
 *
 * Each seed runs 400 operations on an empty store, and compares all results. Exits with an error at the first difference.
 */
import { InboxStore } from "@colloquy/core/inbox/InboxStore"
import * as NodeSqlite from "@colloquy/node/base/NodeSqlite"
import * as RedisInboxStore from "@colloquy/node/inbox/RedisInboxStore"
import * as SqlInboxStore from "@colloquy/node/inbox/SqlInboxStore"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import { parseArgs } from "node:util"
import * as databases from "../packages/node/test/support/databases.ts"
import { compareWithMemory } from "../packages/node/test/support/inboxModel.ts"

const { values } = parseArgs({
  options: {
    store: { type: "string", default: "sqlite" },
    operations: { type: "string", default: "100000" },
    seed: { type: "string", default: "1" }
  }
})

const operationsOfSeed = 400

/** An empty store, which is deleted with the scope. */
const stores: Readonly<Record<string, () => Layer.Layer<InboxStore, unknown>>> = {
  // SQLite counts leases and timers by the clock of the process, so the time stands still, as that of the store in memory.
  sqlite: () =>
    Layer.provideMerge(
      Layer.provide(SqlInboxStore.layer(), NodeSqlite.layer({ filename: ":memory:" })),
      TestClock.layer()
    ),
  pg: () => {
    const prefix = databases.uniqueName("model")
    return SqlInboxStore.layer({ prefix }).pipe(
      Layer.provide(databases.pgTables(prefix)),
      Layer.provide(databases.hastyPostgres)
    )
  },
  redis: () => {
    const prefix = databases.uniqueName("model")
    return Layer.provide(RedisInboxStore.layer({ prefix }), databases.redisPrefix(`{${prefix}:`))
  }
}

const store = stores[values.store]
if (store === undefined) throw new Error(`There is no store "${values.store}". Use ${Object.keys(stores).join(", ")}.`)

const startedAt = performance.now()
const first = Number(values.seed)
const seeds = Math.ceil(Number(values.operations) / operationsOfSeed)
for (let seed = first; seed < first + seeds; seed++) {
  const compared = InboxStore.use((tested) => compareWithMemory(tested, seed, operationsOfSeed))
  await Effect.runPromise(
    Effect.tapCause(Effect.provide(compared, store()), () =>
      Effect.sync(() => console.error(`Seed ${seed} of ${values.store} differs.`))
    )
  )
}
const seconds = Math.round((performance.now() - startedAt) / 1000)
console.log(`${values.store}: ${seeds * operationsOfSeed} operations of ${seeds} seeds, no difference, ${seconds} s`)
