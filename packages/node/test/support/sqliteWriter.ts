/** A process that adds `count` rows with its name to a file: `node sqliteWriter.ts FILE NAME COUNT`. */
import { NodeSqlite } from "@colloquy/node"
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"

const [filename = "", name = "", count = "0"] = process.argv.slice(2)

const program = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (let number = 0; number < Number(count); number++) {
    yield* sql.withTransaction(
      Effect.gen(function* () {
        const [total] = yield* sql<{ value: number }>`SELECT value FROM total`
        yield* sql`INSERT INTO rows_of ${sql.insert({ name, number })}`
        yield* sql`UPDATE total SET value = ${total!.value + 1}`
      })
    )
  }
})

await Effect.runPromise(Effect.provide(program, NodeSqlite.layer({ filename, busyTimeout: "30 seconds" })))
