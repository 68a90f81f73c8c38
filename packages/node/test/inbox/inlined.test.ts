import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { inlined } from "../../src/inbox/internal/pg/inlined.ts"
import * as databases from "../support/databases.ts"
import { fuzz } from "../support/inlinedFuzz.ts"

describe("statements with literals", () => {
  it("have the parameters in the place of placeholders, but not within texts and names", () => {
    const cases: ReadonlyArray<readonly [sql: string, expected: string, ...params: ReadonlyArray<unknown>]> = [
      [`SELECT $1, $2, '($1) '' ', "c($1)"`, `SELECT '1'::int4, 'it''s', '($1) '' ', "c($1)"`, 1, "it's"],
      ["SELECT $2, $1", "SELECT '1.5'::float8, '1099511627776'::int8", 2 ** 40, 1.5],
      ["SELECT $1, $2, $3", "SELECT true, NULL, '5'::int8", true, null, 5n],
      ["SELECT $1", "SELECT '1970-01-01T00:00:00.000Z'::timestamptz", new Date(0)],
      ["SELECT 1 WHERE $1 = '' AND 2 > $2", "SELECT 1 WHERE '''' = '' AND 2 > '1'::int4", "'", 1]
    ]
    for (const [sql, expected, ...params] of cases) assert.strictEqual(inlined({ sql, params }), expected)
  })

  it("are not made of texts and values that a literal may change", () => {
    const texts = [
      "SELECT E'\\'$1'",
      "SELECT $1 -- $2",
      "SELECT /* $1 */ 1",
      "SELECT $a$ $1 $a$",
      "SELECT a$1",
      "SELECT 1",
      "SELECT $2",
      "SELECT $0",
      "SELECT 'a'\n$1",
      "SELECT $1 'a'",
      "SELECT U&$1",
      "SELECT DATE $1",
      "SELECT $1 = '1', $1 = 1"
    ]
    for (const sql of texts) assert.isUndefined(inlined({ sql, params: [1] }))
    const values = [[1], "\0", new Uint8Array(1), new Date(Number.NaN), new Date(2 ** 43), {}]
    for (const value of values) assert.isUndefined(inlined({ sql: "SELECT $1", params: [value] }))
  })

  it("do not let a value end a text that the author has forgotten to end", () => {
    const params = ["), (pg_sleep(10)) --"]
    assert.isUndefined(inlined({ sql: "INSERT INTO notes (text) VALUES ('$1)", params }))
    assert.isUndefined(inlined({ sql: 'INSERT INTO "notes (text) VALUES ($1)', params }))
  })
})

describe.skipIf(await databases.isMissing("PostgreSQL", 5432))("statements with literals in PostgreSQL", () => {
  it.live("return what the statements with parameters return, in random statements with random values", () =>
    Effect.gen(function* () {
      const { compared, differences } = yield* fuzz(1, 4000)
      assert.isAbove(compared, 900)
      assert.deepStrictEqual(differences, [])
    }).pipe(Effect.provide(databases.onlyConnection))
  )
})
