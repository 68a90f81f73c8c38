/** What a process of the bot runs. */
import { SqlTransactions } from "@colloquy/core/inbox/InboxStore"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import type { Database } from "../../packages/testing/src/simulation/internal/machine/database.ts"
import type { Platform } from "../../packages/testing/src/simulation/internal/machine/platform.ts"
import { servicesOf } from "../../packages/testing/src/simulation/internal/machine/services.ts"
import type { Process } from "../../packages/testing/src/simulation/internal/world/process.ts"
import { botOf } from "./programs/programs.ts"
import type { Simulation } from "./simulation.ts"
import type { SqliteStore } from "./sqlite.ts"

/** Only the program whose store is SQLite adds statements. */
const transactions = Layer.succeed(SqlTransactions, "sqlite")

export const programOf =
  (simulation: Simulation, platform: Platform, database: Database, sqlite: SqliteStore | undefined) =>
  (process: Process, version: number, context: Context.Context<never>): Effect.Effect<unknown, unknown> => {
    const { plan } = simulation
    const host = {
      ...simulation,
      process,
      version,
      author: sqlite && {
        sql: sqlite.sql,
        rows: database.callOf(process, "author")("read", undefined, Effect.orDie(sqlite.authorRows))
      },
      runOptions: {
        concurrency: plan.concurrency,
        maxInMemory: Math.max(plan.maxInMemory, plan.concurrency),
        maxCrashes: plan.maxCrashes,
        retry: Schedule.spaced(plan.retryEvery)
      }
    }
    const services = servicesOf({ database, plan, platform }, process, context)
    return Effect.provide(botOf(plan.program, host), Layer.merge(services, transactions))
  }
