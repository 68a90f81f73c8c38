import { Emulator } from "@colloquy/testing"
import { PgClient } from "@effect/sql-pg"
import { Console, Data, Effect, Redacted, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import * as Runner from "../runner/scenario.ts"
import * as Services from "../runner/services.ts"
import { line } from "../start/transcript.ts"

/** The rows are not the messages that people sent. */
class WrongRows extends Data.TaggedError("WrongRows")<{ readonly missing: number; readonly rows: number }> {
  override get message() {
    return `The table has ${this.rows} rows, and ${this.missing} messages are missing`
  }
}

export const scenario: Runner.Scenario = Effect.gen(function* () {
  const services = yield* Services.settings
  const settings = { ...(yield* Runner.botSettings), ...services }
  const table = `${services.BOT_NAME}_messages`
  const database = PgClient.layer({ url: Redacted.make(services.DATABASE_URL) })

  const stored = Effect.flatMap(SqlClient.SqlClient, (sql) => sql<{ mid: string }>`SELECT mid FROM ${sql(table)}`).pipe(
    Effect.map((rows) => rows.map(({ mid }) => mid)),
    // The table does not exist before the program has started.
    Effect.orElseSucceed(() => [] as ReadonlyArray<string>),
    Effect.provide(database)
  )
  const untilStored = (count: number) =>
    stored.pipe(
      Effect.repeat({ until: ({ length }) => length >= count, schedule: Schedule.spaced("20 millis") }),
      Runner.withTimeout(`${count} rows`)
    )

  const people = yield* Effect.forEach(["Ann", "Ben", "Cleo", "Dora", "Emil"], (name) => Emulator.user(name))
  const expected = new Set<string>()
  const send = Effect.fnUntraced(function* (count: number) {
    yield* Console.log(line("people", `(send ${count} messages)`))
    for (let index = 0; index < count; index++) {
      const { body } = yield* people[index % people.length].send(`message ${index}`)
      expected.add(body?.mid ?? "")
    }
  })

  yield* send(400)
  const program = yield* Runner.start("analytics", settings)
  const before = yield* untilStored(1)
  yield* program.kill
  if (before.length === expected.size) return yield* new WrongRows({ rows: before.length, missing: 0 })
  yield* send(100)
  const restarted = yield* Runner.start("analytics", settings)
  yield* untilStored(expected.size)
  yield* restarted.stop

  const rows = yield* stored
  const missing = [...expected].filter((mid) => !rows.includes(mid)).length
  if (missing > 0 || rows.length !== expected.size) return yield* new WrongRows({ rows: rows.length, missing })
  return yield* Console.log(line("database", `${rows.length} messages, each stored once`))
})
