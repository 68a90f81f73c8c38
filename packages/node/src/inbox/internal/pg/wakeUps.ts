import type { PgClient } from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type * as SqlClient from "effect/sql/SqlClient"
import { createHash, randomUUID } from "node:crypto"
import { sqlToStoreError } from "../../../base/internal/stores/sql.ts"
import * as Listener from "../listener.ts"
import * as Notifier from "../notifier.ts"

/** Whether a client has the operation `listen`, which the client of `@effect/sql-pg` has. */
const isListening = (sql: SqlClient.SqlClient): sql is PgClient =>
  Predicate.hasProperty(sql, "listen") && typeof sql.listen === "function"

/**
 * Wakes other processes with `NOTIFY`, in a separate transaction after the commit: commits with notifications run one
 * after the other, and each of them would wait for the disk.
 */
export const make = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, table: string) {
  // The name of a channel has at most 63 bytes.
  const channel = `colloquy_${createHash("sha256").update(table).digest("hex").slice(0, 32)}`
  const sender = randomUUID()
  const fork = Effect.runForkWith(yield* Effect.context<never>())
  const send = sql`SELECT pg_notify(${channel}, ${sender})`.pipe(
    Effect.ignore,
    Effect.catchDefect((defect) => Effect.logError("Other processes were not woken up.", defect)),
    Effect.withTracerEnabled(false)
  )
  /** Tells the other processes that a partition can be claimed. */
  const notify = yield* Notifier.make(() => void fork(send))
  if (!isListening(sql)) return { notify }
  const listen = yield* Listener.make({
    subscribe: sql.listen(channel),
    toStoreError: sqlToStoreError("inbox")("listen"),
    isForeign: ({ payload }) => payload !== sender
  })
  return { notify, listen }
})
