/** PostgreSQL and Redis, where they answer, and names in them that are gone at the end. */
import { NodeRedis } from "@effect/platform-node"
import { PgClient } from "@effect/sql-pg"
import { Data, Effect, Redacted, Runtime } from "effect"
import { Redis } from "effect/persistence"
import { SqlClient } from "effect/sql"
import { randomBytes } from "node:crypto"

/** What a scene needs beside the emulator does not answer. Whoever started it is told in one line, and it exits with 3. */
export class Missing extends Data.TaggedError("Missing")<{ readonly services: ReadonlyArray<string> }> {
  override readonly [Runtime.errorExitCode] = 3

  override get message() {
    return `This example needs what does not answer: ${this.services.join(" and ")}`
  }
}

const urls = {
  DATABASE_URL: process.env["DATABASE_URL"] ?? "postgres://postgres@127.0.0.1:5432/postgres",
  REDIS_URL: process.env["REDIS_URL"] ?? "redis://127.0.0.1:6379"
}

const database = PgClient.layer({ url: Redacted.make(urls.DATABASE_URL), connectTimeout: "3 seconds" })

const asksDatabase = Effect.flatMap(SqlClient.SqlClient, (sql) => sql`SELECT 1`).pipe(Effect.provide(database))

const asksRedis = Effect.flatMap(Redis.Redis, (redis) => redis.send("PING")).pipe(
  Effect.provide(NodeRedis.layer({ url: urls.REDIS_URL }))
)

/** Empty where it answers, or else its name. */
const missing = <A, E>(name: string, asking: Effect.Effect<A, E>): Effect.Effect<ReadonlyArray<string>> =>
  asking.pipe(Effect.timeout("5 seconds"), Effect.match({ onFailure: () => [name], onSuccess: () => [] }))

const dropTables = (name: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const tables = yield* sql<{ tablename: string }>`
      SELECT tablename FROM pg_tables WHERE schemaname = current_schema() AND starts_with(tablename, ${name})`
    yield* Effect.forEach(tables, ({ tablename }) => sql`DROP TABLE ${sql(tablename)}`)
  }).pipe(Effect.provide(database), Effect.orDie)

/** The settings by which an example finds both. What it keeps in Redis expires by itself. */
export const find = Effect.gen(function* () {
  const found = yield* Effect.all(
    [missing("PostgreSQL (DATABASE_URL)", asksDatabase), missing("Redis (REDIS_URL)", asksRedis)],
    { concurrency: 2 }
  )
  if (found.flat().length > 0) return yield* new Missing({ services: found.flat() })
  const name = `example_${randomBytes(6).toString("hex")}`
  yield* Effect.addFinalizer(() => dropTables(name))
  return { ...urls, BOT_NAME: name }
})
