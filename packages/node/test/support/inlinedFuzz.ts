import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import { inlined } from "../../src/inbox/internal/pg/inlined.ts"

type Random = (count: number) => number

/** Returns integers from 0 to below `count`, the same ones for the same seed. */
const makeRandom = (seed: number): Random => {
  let state = seed
  return (count) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0
    return Math.floor(((state >>> 0) / 2 ** 32) * count)
  }
}

/** Parts of texts that a quoted text can confuse. */
const parts = [
  ..."'\"\\$;-/*&UEBXx0aä🙂\n\r\t\b\0%?:(),{}[]",
  "\ud83d",
  "\udc00",
  "''",
  "\\'",
  "$1",
  "$2",
  "$$",
  "--",
  "/*",
  "*/",
  "E'",
  "U&'",
  "); DROP TABLE fuzzed; --",
  "\\x27",
  "\\047",
  "\u2019",
  "\u02bc",
  "\uff07",
  "\u00a0",
  "null"
]

const numbers = [
  0,
  -0,
  1,
  -1,
  2 ** 31,
  2 ** 31 - 1,
  -(2 ** 31),
  2 ** 53,
  2 ** 53 - 1,
  -(2 ** 53),
  0.1,
  -1e300,
  1e21,
  5e-324
]

const dates = [0, 1.7e12, -1, 253_402_300_799_999, 253_402_300_800_000, -62_135_596_800_000, -62_135_596_800_001, -1e14]

const textOf = (random: Random): string => Array.from({ length: random(8) }, () => parts[random(parts.length)]).join("")

const makers: ReadonlyArray<(random: Random) => unknown> = [
  textOf,
  textOf,
  textOf,
  (random) => numbers[random(numbers.length)],
  (random) => [Number.NaN, Infinity, -Infinity][random(3)],
  (random) => (random(2 ** 31) - 2 ** 30) / (1 + random(1000)),
  (random) => [0n, -5n, 2n ** 63n - 1n, -(2n ** 63n), 2n ** 63n, 10n ** 30n][random(6)],
  (random) => new Date(dates[random(dates.length)]),
  () => new Date(Number.NaN),
  (random) => random(2) === 0,
  (random) => [null, undefined][random(2)],
  (random) => [textOf(random), textOf(random)],
  (random) => [random(10), random(10)],
  (random) => ({ text: textOf(random), number: random(10) }),
  (random) => JSON.stringify({ text: textOf(random) }),
  (random) => Uint8Array.from({ length: random(5) }, () => random(256))
]

/** Texts of statements. Some of them are not valid with any parameters. */
const statements = [
  "SELECT $1 AS a",
  "SELECT $1 AS a, $2 AS b",
  'SELECT $1::text AS a, \'$1\' AS b, "c$1" FROM (SELECT 1 AS "c$1") AS t',
  "SELECT $2::text || $1::text AS a",
  "SELECT length($1) AS a, $1 = $2 AS b",
  "SELECT -$1::float8 AS a",
  "INSERT INTO fuzzed (t) VALUES ($1) RETURNING t",
  "INSERT INTO fuzzed (v) VALUES ($1) RETURNING v",
  "INSERT INTO fuzzed (i) VALUES ($1) RETURNING i",
  "INSERT INTO fuzzed (l) VALUES ($1) RETURNING l",
  "INSERT INTO fuzzed (f) VALUES ($1) RETURNING f",
  "INSERT INTO fuzzed (n) VALUES ($1) RETURNING n::text",
  "INSERT INTO fuzzed (d) VALUES ($1) RETURNING d",
  "INSERT INTO fuzzed (j) VALUES ($1) RETURNING j::text",
  "INSERT INTO fuzzed (b) VALUES ($1) RETURNING b",
  "INSERT INTO fuzzed (t, v) VALUES ($1, 'it''s $2'), ($2, '') RETURNING t, v",
  "UPDATE fuzzed SET t = $2 WHERE t = $1 RETURNING t",
  "SELECT '$1 AS a",
  "SELECT 'a' \"$1 AS a",
  "SELECT ''$1 AS a",
  "SELECT 'a'\n$1 AS a",
  "SELECT $1'a' AS a",
  "SELECT $1$2 AS a",
  "SELECT $3 AS a",
  "SELECT $0 AS a",
  "SELECT E$1 AS a",
  "SELECT U&$1 AS a",
  "SELECT DATE $1 AS a",
  "SELECT $1a AS a",
  'SELECT "a" $1',
  "SELECT $1 -- '\n AS a",
  "SELECT $$ $1 $$ AS a, $1"
]

const table = `CREATE TEMPORARY TABLE fuzzed (t text, v varchar(20), i int4, l int8, f float8, n numeric, d timestamptz,
  j jsonb, b bytea)`

/** Rows as a text that shows the types of values. */
const show = (rows: unknown): string =>
  JSON.stringify(rows, (_, value: unknown) => {
    if (typeof value === "bigint") return `bigint ${value}`
    return typeof value === "number" ? `number ${Object.is(value, -0) ? "-0" : value}` : value
  })

/** Executes a statement, and takes its effects back. Returns its rows, or that the statement has failed. */
const resultOf = (sql: SqlClient.SqlClient, text: string, params: ReadonlyArray<unknown>) =>
  sql.unsafe(text, params).pipe(
    Effect.match({ onFailure: () => "failed", onSuccess: show }),
    Effect.tap(() => sql`ROLLBACK TO SAVEPOINT fuzzed`)
  )

/**
 * Executes random statements with literals and with parameters. Returns the number of statements that have literals, and those
 * with different results.
 */
export const fuzz = (seed: number, cases: number) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const random = makeRandom(seed)
    yield* sql.unsafe(table)
    const differences: Array<unknown> = []
    let compared = 0
    for (let index = 0; index < cases; index++) {
      const conforming = random(2) === 0 ? "on" : "off"
      const text = statements[random(statements.length)]
      const values = [0, 1].map(() => makers[random(makers.length)](random))
      const params = text.includes("$2") ? values : values.slice(0, 1)
      const literal = inlined({ sql: text, params })
      if (literal === undefined) continue
      compared++
      yield* sql`BEGIN`
      yield* sql.unsafe(`SET LOCAL standard_conforming_strings = ${conforming}`)
      yield* sql`SET LOCAL escape_string_warning = off`
      yield* sql`SAVEPOINT fuzzed`
      const expected = yield* resultOf(sql, text, params)
      const actual = yield* resultOf(sql, literal, [])
      yield* sql`ROLLBACK`
      if (actual !== expected) differences.push({ text, params, conforming, literal, expected, actual })
    }
    return { compared, differences }
  })
