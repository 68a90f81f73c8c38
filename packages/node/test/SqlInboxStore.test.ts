import { NodeSqlite, SqlInboxStore } from "@colloquy/node"
import { InboxSuite } from "@colloquy/testing"
import { describe, it, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { contend } from "./support/contention.ts"
import * as databases from "./support/databases.ts"
import * as Files from "./support/files.ts"

describe("the inbox in SQLite", () => {
  const store = SqlInboxStore.layer().pipe(Layer.provide(NodeSqlite.layer({ filename: ":memory:" })))
  for (const { name, effect } of InboxSuite.cases) {
    it.effect(name, () => Effect.provide(effect, store))
  }

  it.live(
    "several who share a file handle each letter once, in order",
    () =>
      Effect.scoped(
        Effect.flatMap(Files.file, (filename) =>
          contend(SqlInboxStore.layer().pipe(Layer.provide(NodeSqlite.layer({ filename, synchronous: "OFF" }))))
        )
      ),
    60_000
  )
})

describe.skipIf(!(await databases.pgAnswers()))("the inbox in PostgreSQL", () => {
  const tablePrefix = databases.uniqueName()
  const store = SqlInboxStore.layer({ tablePrefix }).pipe(
    Layer.provide(databases.pgTables(tablePrefix)),
    Layer.provideMerge(databases.pg)
  )
  const empty = SqlClient.SqlClient.use((sql) =>
    Effect.forEach(["letters", "mailboxes", "seen", "markers"], (name) => sql`DELETE FROM ${sql(tablePrefix + name)}`)
  )

  layer(store, { excludeTestServices: true })((it) => {
    for (const { name, effect } of InboxSuite.cases) {
      it.effect(name, () => Effect.andThen(empty, effect))
    }
  })

  it.live(
    "several who share a database handle each letter once, in order",
    () => {
      const tablePrefix = databases.uniqueName()
      return contend(Layer.provide(SqlInboxStore.layer({ tablePrefix }), databases.pg)).pipe(
        Effect.provide(Layer.provide(databases.pgTables(tablePrefix), databases.pg))
      )
    },
    60_000
  )
})
