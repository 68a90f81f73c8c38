import { PostgresConnection } from "@colloquy/node"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as SqlClient from "effect/sql/SqlClient"
import * as databases from "../support/databases.ts"
import { closedPort } from "../support/servers.ts"

const at = (hosts: ReadonlyArray<string>, parameters = "") =>
  PostgresConnection.layer({ url: Redacted.make(`postgres://postgres@${hosts.join(",")}/test${parameters}`) })

const server = "127.0.0.1:5432"

const database = SqlClient.SqlClient.use((sql) => sql<{ readonly name: string }>`SELECT current_database() AS name`)

describe.skipIf(await databases.isMissing("PostgreSQL", 5432))("a connection to PostgreSQL", () => {
  it.live("goes to the host that accepts writes", () =>
    Effect.gen(function* () {
      const closed = `127.0.0.1:${yield* closedPort}`
      const lists = [[server], [closed, server], [server, closed], ["[::1]:1", server]]
      for (const hosts of lists) {
        assert.deepStrictEqual(yield* Effect.provide(database, at(hosts)), [{ name: "test" }])
      }
    })
  )

  it.live("fails each statement while no host accepts writes", () =>
    Effect.gen(function* () {
      const readOnly = at([server, server], "?options=-c%20default_transaction_read_only%3Don")
      const error = yield* Effect.flip(Effect.provide(database, readOnly))
      assert.strictEqual(error._tag, "SqlError")
      assert.include(String(error.reason.cause), "None of the hosts accepts writes. 127.0.0.1:5432 is read-only.")
    })
  )

  it.live("asks for the password of the options", () =>
    Effect.gen(function* () {
      let asked = 0
      const password = Effect.sync(() => {
        asked++
        return Redacted.make("secret")
      })
      const url = Redacted.make(`postgres://postgres@${server},${server}/test`)
      yield* Effect.provide(database, PostgresConnection.layer({ url, password }))
      assert.isAbove(asked, 0)
    })
  )
})
