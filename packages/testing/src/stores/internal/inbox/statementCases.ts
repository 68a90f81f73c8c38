import { type Commit, InboxStore, type Statement } from "@colloquy/core/inbox/InboxStore"
import type { StoreError } from "@colloquy/core/base/StoreError"
import * as Effect from "effect/Effect"
import { deepStrictEqual, strictEqual } from "node:assert"
import { claim, commit, enqueue, release, stats } from "./operations.ts"
import { change, fingerprints, updatesOf } from "./updates.ts"
import { put, texts } from "../rows/operations.ts"

const statement = (sql: string, expectedRows?: number): Statement => ({ sql, params: [], expectedRows })

interface Table {
  readonly insert: (...numbers: ReadonlyArray<number>) => ReadonlyArray<Statement>
  /** Deletes a number, which must be there. */
  readonly remove: (number: number) => Statement
  /** Whether the table has exactly these numbers. */
  readonly has: (...numbers: ReadonlyArray<number>) => Effect.Effect<boolean, StoreError, InboxStore>
  /** Commits of the partitions `a` and `b`, with an update of each. */
  readonly acknowledge: (key: "a" | "b", parts?: Partial<Commit>) => Commit
}

/** A case with a table of its own, and with the claimed partitions `a` and `b`. A store without statements refuses them. */
const test = (
  name: string,
  body: (table: Table) => Generator<Effect.Effect<unknown, StoreError, InboxStore>, void>
) => ({
  name,
  effect: Effect.gen(function* () {
    yield* enqueue([...updatesOf("a", 1), ...updatesOf("b", 1)])
    const [[a], [b]] = (yield* claim("one")).map(({ updates }) => updates.map(({ id }) => ({ id })))
    const acknowledge: Table["acknowledge"] = (key, parts) =>
      change("one", key, { completed: [key === "a" ? a! : b!], release: true, ...parts })
    const table = `suite_${crypto.randomUUID().replaceAll("-", "_")}`
    // A partition of its own, which the cases do not release.
    yield* enqueue(updatesOf("tables", 1))
    yield* claim("tables")
    const execute = (...statements: ReadonlyArray<Statement>) => commit(change("tables", "tables", { statements }))
    if (!(yield* InboxStore).executesStatements) {
      const refused = commit(acknowledge("a", { statements: [statement("SELECT 1")] }))
      strictEqual(yield* Effect.match(refused, { onFailure: ({ _tag }) => _tag, onSuccess: String }), "StoreError")
      strictEqual((yield* stats).queued, 3)
      return
    }
    deepStrictEqual(yield* execute(statement(`CREATE TABLE ${table} (number INTEGER PRIMARY KEY)`)), ["applied"])
    yield* Effect.gen(() =>
      body({
        insert: (...numbers) => numbers.map((number) => statement(`INSERT INTO ${table} VALUES (${number})`)),
        remove: (number) => statement(`DELETE FROM ${table} WHERE number = ${number}`, 1),
        has: (...numbers) =>
          Effect.map(
            execute(
              statement(`SELECT number FROM ${table}`, numbers.length),
              statement(`SELECT number FROM ${table} WHERE number IN (${[-1, ...numbers].join()})`, numbers.length)
            ),
            ([result]) => result === "applied"
          ),
        acknowledge
      })
    )
    yield* execute(statement(`DROP TABLE ${table}`))
  })
})

export const statementCases = [
  test("executes the statements of commits in order, in the transactions of the commits", function* (table) {
    const { acknowledge, insert, remove } = table
    const statements = [...insert(1, 2), remove(1), ...insert(1), remove(2)]
    deepStrictEqual(yield* commit(acknowledge("a", { statements }), acknowledge("b", { statements: insert(3) })), [
      "applied",
      "applied"
    ])
    strictEqual(yield* table.has(1, 3), true)
    strictEqual((yield* stats).queued, 1)
  }),

  test("applies no part of a commit whose statement fails, and all of the others", function* (table) {
    const { acknowledge, insert } = table
    const failing = acknowledge("a", { statements: insert(1, 2, 1, 3), rows: [put("row", "1")] })
    const [first, second] = yield* commit(failing, acknowledge("b", { statements: insert(1) }))
    strictEqual(typeof first === "object" && `${first._tag} ${first.index}`, "StatementFailed 2")
    strictEqual(second, "applied")
    strictEqual(yield* table.has(1), true)
    deepStrictEqual(yield* texts("row"), [undefined])
    strictEqual((yield* stats).queued, 2)
    yield* release("one")
    deepStrictEqual(fingerprints(yield* claim("two")), [["a:0"]])
  }),

  test("applies no part of a commit whose statement changes another number of rows than expected", function* (table) {
    const { acknowledge, insert, remove } = table
    const conflicting = acknowledge("a", { statements: [...insert(1), remove(2)], rows: [put("row", "1")] })
    deepStrictEqual(yield* commit(conflicting, acknowledge("b", { statements: insert(3) })), ["conflict", "applied"])
    strictEqual(yield* table.has(3), true)
    deepStrictEqual(yield* texts("row"), [undefined])
    strictEqual((yield* stats).queued, 2)
  }),

  test("executes no statement of a commit that conflicts, has lost its lease or is repeated", function* (table) {
    const { acknowledge, insert } = table
    yield* commit(change("one", "a", { rows: [put("row", "1")] }))
    const conflicting = acknowledge("a", { statements: insert(1), rows: [put("row", "2", { expected: null })] })
    const lost = { ...acknowledge("a", { statements: insert(2) }), owner: "two" }
    const applied = acknowledge("a", { statements: insert(3), release: false })
    deepStrictEqual(yield* commit(conflicting, lost, applied), ["conflict", "leaseLost", "applied"])
    deepStrictEqual(yield* commit(applied), ["applied"])
    strictEqual(yield* table.has(3), true)
  }),

  test("applies commits without statements beside a commit whose statement fails", function* (table) {
    const { acknowledge, insert } = table
    const failing = acknowledge("a", { statements: insert(1, 1) })
    const lost = { ...acknowledge("b"), owner: "two" }
    const [first, ...others] = yield* commit(failing, lost)
    strictEqual(typeof first === "object" && `${first._tag} ${first.index}`, "StatementFailed 1")
    deepStrictEqual(others, ["leaseLost"])
    deepStrictEqual(yield* commit(acknowledge("b"), acknowledge("a", { statements: insert(2) })), [
      "applied",
      "applied"
    ])
    strictEqual(yield* table.has(2), true)
    strictEqual((yield* stats).queued, 1)
  }),

  test("applies commits of several partitions together with their statements, or none of them", function* (table) {
    const { acknowledge, insert, remove } = table
    const together = [acknowledge("b")]
    const lost = acknowledge("a", { statements: insert(1), together: [{ ...acknowledge("b"), owner: "two" }] })
    const conflicting = acknowledge("a", { statements: [...insert(2), remove(1)], together })
    const applied = acknowledge("a", { statements: insert(3), together })
    deepStrictEqual(yield* commit(lost, conflicting), ["leaseLost", "conflict"])
    strictEqual((yield* stats).queued, 3)
    deepStrictEqual(yield* commit(applied), ["applied"])
    strictEqual(yield* table.has(3), true)
    strictEqual((yield* stats).queued, 1)
    deepStrictEqual(yield* commit(applied), ["leaseLost"])
    strictEqual(yield* table.has(3), true)
  })
]
