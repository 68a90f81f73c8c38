import * as InboxSuite from "@colloquy/testing/stores/InboxSuite"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { DatabaseSync, type StatementSync } from "node:sqlite"
import * as SqliteInboxStore from "../../src/inbox/SqliteInboxStore.ts"

/** The driver of Node, as a bot would pass any synchronous driver. */
const open = () => {
  const driver = new DatabaseSync(":memory:")
  const statements = new Map<string, StatementSync>()
  let depth = 0

  const prepare = (sql: string): StatementSync => {
    const statement = statements.get(sql) ?? driver.prepare(sql)
    statement.setReturnArrays(true)
    statements.set(sql, statement)
    return statement
  }

  const database: SqliteInboxStore.Database = {
    all: (sql, ...params) => prepare(sql).all(...params) as unknown as ReadonlyArray<never>,
    transaction: (run) => {
      const name = `s${depth++}`
      driver.exec(`SAVEPOINT ${name}`)
      try {
        return run()
      } catch (error) {
        driver.exec(`ROLLBACK TO ${name}`)
        throw error
      } finally {
        driver.exec(`RELEASE ${name}`)
        depth--
      }
    }
  }
  return { database, driver }
}

describe("SqliteInboxStore", () => {
  const store = Layer.unwrap(Effect.sync(() => SqliteInboxStore.layer(open().database)))
  for (const { effect, name } of InboxSuite.cases) {
    it.effect(name, () => Effect.provide(effect, Layer.fresh(store)))
  }

  it.effect("keeps updates in tables with a prefix, also for the next store on the same database", () =>
    Effect.gen(function* () {
      const { database, driver } = open()
      const stats = Effect.flatMap(SqliteInboxStore.make(database, { prefix: "bot_" }), (store) => store.stats)
      assert.deepInclude(yield* stats, { queued: 0 })
      driver.exec("INSERT INTO bot_updates VALUES (1, 'chat', 'one', 5, '{}', 0, 0)")
      assert.deepStrictEqual(yield* stats, { queued: 1, oldestReceivedAt: 5, deadLetters: 0 })
    })
  )

  it.effect("fails with a StoreError that names the operation and the error of the driver", () =>
    Effect.gen(function* () {
      const { database, driver } = open()
      const store = yield* SqliteInboxStore.make(database)
      driver.exec("DROP TABLE colloquy_counts")
      const error = yield* Effect.flip(store.stats)
      assert.deepInclude(error, { _tag: "StoreError", operation: "stats", isRetryable: false })
      assert.include(error.message, "no such table: colloquy_counts")
      driver.close()
      assert.strictEqual((yield* Effect.flip(SqliteInboxStore.make(database))).operation, "prepare")
    })
  )
})
