import { StoreError } from "@colloquy/core"
import { NodeSqlite } from "@colloquy/node"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { SqliteConnection } from "../../../src/base/internal/sqlite/connection.ts"
import * as SqliteDatabase from "../../../src/inbox/internal/sqlite/database.ts"

const open = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const database = SqliteDatabase.make()
  const connection = (yield* sql.reserve) as SqliteConnection
  database.use(connection)
  database.all("CREATE TABLE notes (id INTEGER PRIMARY KEY)")
  return { ...database, connection, ids: () => database.all<[number]>("SELECT id FROM notes").map(([id]) => id) }
})

const test = (name: string, run: (database: Effect.Success<typeof open>) => void) =>
  it.effect(name, () =>
    Effect.scoped(Effect.map(open, run)).pipe(Effect.provide(NodeSqlite.layer({ filename: ":memory:" })))
  )

const insert = "INSERT INTO notes (id) VALUES (?)"

describe("a transaction", () => {
  test("does not wait for the disk at its end if a power failure may undo the transaction", ({ all, transaction }) => {
    const synchronous = () => all<[number]>("PRAGMA synchronous")[0][0]
    assert.strictEqual(transaction(synchronous), 2)
    assert.strictEqual(transaction(synchronous, "lease"), 1)
    assert.throws(() =>
      transaction(() => {
        throw new Error("undone")
      }, "lease")
    )
    assert.strictEqual(synchronous(), 2)
  })

  test("undoes a transaction inside that throws, and keeps the rest", ({ all, ids, transaction }) => {
    transaction(() => {
      all(insert, 1)
      assert.throws(() =>
        transaction(() => {
          all(insert, 2)
          all(insert, 1)
        })
      )
      all(insert, 3)
    })
    assert.deepStrictEqual(ids(), [1, 3])
  })

  test("fails as a whole if SQLite has ended it inside of a transaction", ({ all, ids, transaction }) => {
    assert.throws(
      () =>
        transaction(() => {
          all(insert, 1)
          // As a full disk does.
          transaction(() => all("INSERT OR ROLLBACK INTO notes (id) VALUES (1)"))
        }),
      StoreError.StoreError
    )
    assert.deepStrictEqual(ids(), [])
  })
})
