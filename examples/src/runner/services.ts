/** The PostgreSQL and the Redis that an example needs. */
import { NodeRedis } from "@effect/platform-node"
import { PgClient } from "@effect/sql-pg"
import { Data, Effect, Redacted, Runtime } from "effect"
import { Redis } from "effect/persistence"
import { SqlClient } from "effect/sql"
import { randomBytes } from "node:crypto"

/** A service that the example needs is unavailable. The runner prints the message and exits with 3. */
export class ServicesUnavailable extends Data.TaggedError("ServicesUnavailable")<{
  readonly services: ReadonlyArray<string>
}> {
  override readonly [Runtime.errorExitCode] = 3

  override get message() {
    return `This example needs services that are unavailable: ${this.services.join(" and ")}`
  }
}

const urls = {
  DATABASE_URL: process.env["DATABASE_URL"] ?? "postgres://postgres@127.0.0.1:5432/postgres",
  REDIS_URL: process.env["REDIS_URL"] ?? "redis://127.0.0.1:6379"
}

const database = PgClient.layer({ url: Redacted.make(urls.DATABASE_URL), connectTimeout: "3 seconds" })

const pingDatabase = Effect.flatMap(SqlClient.SqlClient, (sql) => sql`SELECT 1`).pipe(Effect.provide(database))

const pingRedis = Effect.flatMap(Redis.Redis, (redis) => redis.send("PING")).pipe(
  Effect.provide(NodeRedis.layer({ url: urls.REDIS_URL }))
)

/** Returns the name of the service if it is unavailable. */
const unavailable = <A, E>(name: string, ping: Effect.Effect<A, E>): Effect.Effect<ReadonlyArray<string>> =>
  ping.pipe(Effect.timeout("5 seconds"), Effect.match({ onFailure: () => [name], onSuccess: () => [] }))

const dropTables = (name: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const tables = yield* sql<{ tablename: string }>`
      SELECT tablename FROM pg_tables WHERE schemaname = current_schema() AND starts_with(tablename, ${name})`
    yield* Effect.forEach(tables, ({ tablename }) => sql`DROP TABLE ${sql(tablename)}`)
  }).pipe(Effect.provide(database), Effect.orDie)

/**
 * The environment variables that connect an example to both services. Its tables are dropped at the end, and its keys in
 * Redis expire.
 */
export const settings = Effect.gen(function* () {
  const names = yield* Effect.all(
    [unavailable("PostgreSQL (DATABASE_URL)", pingDatabase), unavailable("Redis (REDIS_URL)", pingRedis)],
    { concurrency: 2 }
  )
  if (names.flat().length > 0) return yield* new ServicesUnavailable({ services: names.flat() })
  const name = `example_${randomBytes(6).toString("hex")}`
  yield* Effect.addFinalizer(() => dropTables(name))
  return { ...urls, BOT_NAME: name }
})
