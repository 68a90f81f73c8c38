import type * as InboxStore from "@colloquy/core/inbox/InboxStore"
import { NodeSqlite } from "@colloquy/node"
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as SqlClient from "effect/sql/SqlClient"
import * as SqlError from "effect/sql/SqlError"
import type { Statement } from "effect/sql/Statement"
import { Postgres } from "../support/databases.ts"
import { change, claim, enqueue, update } from "../support/inboxRequests.ts"
import { databases } from "../support/sharedStores.ts"

const chats = ["a", "b", "c"]

/** Opens a store whose chats have three updates each, all of them claimed, and a table of the author. */
const prepare = Effect.fnUntraced(function* (kind: string, opened: (typeof databases)[number]["opened"]) {
  const { another, at, store } = yield* opened
  const client = kind === "SQLite" ? NodeSqlite.layer({ filename: at }) : Postgres
  const sql = Context.get(yield* Layer.build(Layer.fresh(client)), SqlClient.SqlClient)
  const orders = sql(kind === "SQLite" ? "orders" : `${at}_orders`)
  yield* sql`CREATE TABLE ${orders} (id INTEGER PRIMARY KEY, count INTEGER NOT NULL)`
  yield* enqueue(store, ...[0, 1, 2].flatMap((index) => chats.map((chat) => update(chat, index))))
  const claimed = yield* store.claim(claim("one", { begin: 1 }))
  const toStatement = (statement: Statement<unknown>, expectedRows?: number): InboxStore.Statement => {
    const [text, params] = statement.compile()
    return { sql: text, params, expectedRows }
  }
  return {
    sql,
    store,
    another,
    insert: (id: number) => toStatement(sql`INSERT INTO ${orders} (id, count) VALUES (${id}, 0)`),
    increment: (id: number, expectedRows?: number) =>
      toStatement(sql`UPDATE ${orders} SET count = count + 1 WHERE id = ${id}`, expectedRows),
    /** Acknowledges the update of a chat with this index. */
    acknowledge: (chat: string, index: number, parts: Partial<InboxStore.Commit> = {}) => {
      const { updates } = claimed.find(({ key }) => key === chat)!
      return change("one", chat, { completed: [{ id: updates[index].id }], ...parts })
    },
    stored: Effect.map(sql<{ id: number; count: number }>`SELECT id, count FROM ${orders} ORDER BY id`, (rows) =>
      rows.map(({ count, id }) => [id, count])
    ),
    queued: Effect.map(store.stats, ({ queued }) => queued)
  }
})

describe("statements in commits of a store", () => {
  for (const { isMissing, kind, opened } of databases.filter(({ kind }) => kind !== "Redis")) {
    describe.skipIf(isMissing)(`in ${kind}`, () => {
      it.live("are executed once, in order, also if their commit is repeated", () =>
        Effect.gen(function* () {
          const { acknowledge, increment, insert, queued, store, stored } = yield* prepare(kind, opened)
          const commit = acknowledge("a", 0, { statements: [insert(1), increment(1, 1), increment(1, 1)] })
          for (const _ of [1, 2]) assert.deepStrictEqual(yield* store.commit([commit]), ["applied"])
          assert.deepStrictEqual(yield* stored, [[1, 2]])
          assert.strictEqual(yield* queued, 8)
        }).pipe(Effect.scoped)
      )

      it.live("that fail refuse their own commit only, with the error and without a trace of the others", () =>
        Effect.gen(function* () {
          const { acknowledge, increment, insert, queued, store, stored } = yield* prepare(kind, opened)
          const [first, failed, conflict, last] = yield* store.commit([
            acknowledge("a", 0, { statements: [insert(1)] }),
            acknowledge("b", 0, { statements: [insert(2), insert(1)] }),
            acknowledge("c", 0, { statements: [insert(3), increment(9, 1)] }),
            acknowledge("a", 1, { statements: [insert(4)] })
          ])
          assert.deepStrictEqual([first, conflict, last], ["applied", "conflict", "applied"])
          assert.isTrue(typeof failed === "object" && SqlError.isSqlError(failed.error))
          assert.deepInclude(failed, { _tag: "StatementFailed", index: 1 })
          assert.deepStrictEqual(yield* stored, [
            [1, 0],
            [4, 0]
          ])
          assert.strictEqual(yield* queued, 7)
        }).pipe(Effect.scoped)
      )

      it.live("are not executed if a row of their commit conflicts, or another process holds the chat", () =>
        Effect.gen(function* () {
          const { acknowledge, insert, queued, store, stored } = yield* prepare(kind, opened)
          const rows = [{ key: "a", row: { text: "1" }, revision: "1", expected: "0" }]
          const results = yield* store.commit([
            acknowledge("a", 0, { statements: [insert(1)], rows }),
            { ...acknowledge("b", 0, { statements: [insert(2)] }), owner: "two" }
          ])
          assert.deepStrictEqual(results, ["conflict", "leaseLost"])
          assert.deepStrictEqual(yield* stored, [])
          assert.strictEqual(yield* queued, 9)
        }).pipe(Effect.scoped)
      )

      it.live("of commits that apply together apply with all of them, or not at all", () =>
        Effect.gen(function* () {
          const { acknowledge, increment, insert, queued, store, stored } = yield* prepare(kind, opened)
          const of = (index: number, ...statements: ReadonlyArray<InboxStore.Statement>) =>
            acknowledge("a", index, { together: [acknowledge("b", index), acknowledge("c", index, { statements })] })
          const { together, ...first } = of(0, insert(1))
          const lost = { ...first, together: [{ ...acknowledge("b", 0), owner: "two" }, ...together!.slice(1)] }
          assert.deepStrictEqual(yield* store.commit([lost]), ["leaseLost"])
          assert.deepStrictEqual(yield* store.commit([of(0, insert(1), increment(2, 1))]), ["conflict"])
          assert.deepStrictEqual(yield* stored, [])
          assert.strictEqual(yield* queued, 9)
          for (const _ of [1, 2]) assert.deepStrictEqual(yield* store.commit([of(0, insert(1))]), ["applied"])
          assert.strictEqual(yield* queued, 6)
          const half = { ...of(1, insert(2)), together: [acknowledge("b", 0), acknowledge("c", 1)] }
          assert.deepStrictEqual(yield* store.commit([half]), ["applied"])
          assert.deepStrictEqual(yield* stored, [[1, 0]])
          assert.strictEqual(yield* queued, 6)
        }).pipe(Effect.scoped)
      )

      it.live("that lock the same rows in different orders are all applied", () =>
        Effect.gen(function* () {
          const { another, increment, insert, store, stored } = yield* prepare(kind, opened)
          yield* store.commit([change("one", "a", { statements: [insert(1), insert(2)] })])
          const orders = [
            [1, 2],
            [2, 1]
          ]
          yield* store.renew("one", 0)
          const results = yield* Effect.forEach(
            orders,
            (ids, place) =>
              Effect.gen(function* () {
                const own = yield* another
                const [{ key, updates }] = yield* own.claim(claim(`store ${place}`, { maxPartitions: 1 }))
                const statements = ids.map((id) => increment(id, 1))
                return yield* Effect.forEach(updates, (one) =>
                  own.commit([change(`store ${place}`, key, { completed: [one], statements })])
                )
              }),
            { concurrency: 2 }
          )
          assert.deepStrictEqual(results.flat(2), Array<"applied">(6).fill("applied"))
          assert.deepStrictEqual(yield* stored, [
            [1, 6],
            [2, 6]
          ])
        }).pipe(Effect.scoped)
      )
    })
  }
})
