import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import { inlined } from "../../src/inbox/internal/pg/inlined.ts"
import * as databases from "../support/databases.ts"

describe("statements with literals", () => {
  it("have the parameters in the place of placeholders, but not within texts and names", () => {
    const params = [1, "it's", 2 ** 40, 1.5, true, null, 5n, new Date(0)]
    const cases = [
      [`SELECT $1, $2, '$1 '' $2', "$1"`, `SELECT '1'::int4, 'it''s', '$1 '' $2', "$1"`],
      ["SELECT $3, $4, $5, $6, $7", "SELECT '1099511627776'::int8, '1.5'::float8, true, NULL, '5'::int8"],
      ["SELECT $8", "SELECT '1970-01-01T00:00:00.000Z'::timestamptz"]
    ]
    for (const [sql, expected] of cases) assert.strictEqual(inlined({ sql, params }), expected)
  })

  it("are not made of texts and values that a literal may change", () => {
    const texts = ["SELECT E'\\'$1'", "SELECT $1 -- $2", "SELECT /* $1 */ 1", "SELECT $a$ $1 $a$", "SELECT a$1"]
    for (const sql of texts) assert.isUndefined(inlined({ sql, params: [1] }))
    const values = [[1], "\0", new Uint8Array(1), new Date(Number.NaN), {}]
    for (const value of values) assert.isUndefined(inlined({ sql: "SELECT $1", params: [value] }))
  })
})

describe.skipIf(await databases.isMissing("PostgreSQL", 5432))("statements with literals in PostgreSQL", () => {
  it.live("return what the statements with parameters return", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const values = [
        "",
        "'",
        "\\",
        "\\'",
        "a\\''b",
        "$1",
        "--",
        "🙂\n",
        0,
        -1,
        2 ** 31,
        -(2 ** 53),
        0.1,
        -1e300,
        false
      ]
      const all = [...values, null, 5n, new Date(1.7e12)]
      for (const conforming of ["on", "off"]) {
        yield* sql.unsafe(`SET standard_conforming_strings = ${conforming}`)
        for (const value of all) {
          const statement = { sql: "SELECT $1 AS value", params: [value] }
          const expected = yield* sql.unsafe(statement.sql, statement.params)
          assert.deepStrictEqual(yield* sql.unsafe(inlined(statement) ?? ""), expected)
        }
      }
    }).pipe(Effect.provide(databases.onlyConnection))
  )
})
