import * as Effect from "effect/Effect"
import * as Migrator from "effect/sql/Migrator"
import * as SqlClient from "effect/sql/SqlClient"
import type { Dialect } from "./sqlDialect.ts"

/**
 * `letters` has those that wait and those that died. `mailboxes` has a row for each key with a letter that waits or with
 * an owner: `head` is the first waiting letter, and a lease that is over is no lease.
 */
export const names = (prefix: string) => ({
  letters: `${prefix}letters`,
  mailboxes: `${prefix}mailboxes`,
  seen: `${prefix}seen`,
  markers: `${prefix}markers`,
  migrations: `${prefix}migrations`
})

/** An index is named without the schema of its table. */
const bare = (table: string) => table.slice(table.lastIndexOf(".") + 1)

const create = (prefix: string, { integer, text, identity }: Dialect) =>
  Effect.gen(function* () {
    const sql = (yield* SqlClient.SqlClient).withoutTransforms()
    const { letters, mailboxes, seen, markers } = names(prefix)
    const index = (table: string, what: string) => sql(`${bare(table)}_${what}`)

    yield* sql`CREATE TABLE ${sql(letters)} (
      id ${identity},
      key ${text} NOT NULL,
      fingerprint ${text} NOT NULL,
      received_at ${integer} NOT NULL,
      text ${text} NOT NULL,
      problem ${text},
      attempts ${integer},
      died_at ${integer}
    )`
    yield* sql`CREATE INDEX ${index(letters, "waiting")} ON ${sql(letters)} (key, id) WHERE died_at IS NULL`
    yield* sql`CREATE INDEX ${index(letters, "dead")} ON ${sql(letters)} (id) WHERE died_at IS NOT NULL`
    yield* sql`CREATE INDEX ${index(letters, "died")} ON ${sql(letters)} (died_at) WHERE died_at IS NOT NULL`
    yield* sql`CREATE TABLE ${sql(mailboxes)} (
      key ${text} PRIMARY KEY,
      head ${integer},
      owner ${text},
      lease_until ${integer} NOT NULL DEFAULT 0
    )`
    yield* sql`CREATE INDEX ${index(mailboxes, "head")} ON ${sql(mailboxes)} (head) WHERE head IS NOT NULL`
    yield* sql`CREATE TABLE ${sql(seen)} (fingerprint ${text} PRIMARY KEY, at ${integer} NOT NULL)`
    yield* sql`CREATE INDEX ${index(seen, "at")} ON ${sql(seen)} (at)`
    yield* sql`CREATE TABLE ${sql(markers)} (source ${text} PRIMARY KEY, value ${text} NOT NULL)`
  })

export const migrate = (prefix: string, dialect: Dialect) =>
  Migrator.make({})({
    loader: Migrator.fromRecord({ "0001_create": create(prefix, dialect) }),
    table: names(prefix).migrations
  })
