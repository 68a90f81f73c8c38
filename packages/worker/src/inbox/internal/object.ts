import * as SqliteInboxStore from "@colloquy/core/inbox/SqliteInboxStore"
import * as Effect from "effect/Effect"
import { classifySqliteError, SqlError } from "effect/sql/SqlError"
import type { DurableObjectStorage } from "../../base/DurableObjectStorage.ts"
import { transactionsOf } from "../../base/internal/database.ts"
import { makeAlarm } from "./alarm.ts"

/**
 * Opens the storage of an object that has started. Ends the leases of its predecessor, because an object exists only
 * once, and sets the alarm to the next time of work.
 */
const start = (storage: DurableObjectStorage) => {
  const alarm = makeAlarm(storage)
  const transaction = transactionsOf(storage, "inbox")
  const inbox = SqliteInboxStore.makeUnsafe(
    {
      all: (sql, ...params) => Array.from(storage.sql.exec(sql, ...params).raw<never>()),
      transaction: (run) => storage.transactionSync(run)
    },
    {
      run: (operation, _, body) =>
        Effect.clockWith((clock) => transaction(operation, () => body(clock.currentTimeMillisUnsafe()))),
      onWork: alarm.setBy,
      toSqlError: (cause) =>
        new SqlError({ reason: classifySqliteError(cause, { message: String(cause), operation: "execute" }) })
    }
  )
  inbox.prepare()
  inbox.endLeases("")
  alarm.set(inbox.nextWork())
  return {
    store: inbox.store,
    alarm,
    /** When there is something to handle, in Unix milliseconds. */
    dueAt: inbox.nextWork
  }
}

/** The inbox of an object, which all stores of the object share. */
type OpenObject = ReturnType<typeof start>

const opened = new WeakMap<DurableObjectStorage, OpenObject>()

/** Returns the object of an open storage. */
export const find = (storage: DurableObjectStorage): OpenObject | undefined => opened.get(storage)

/** Returns the object of a storage. */
export const open = (storage: DurableObjectStorage): OpenObject => {
  const object = find(storage) ?? storage.transactionSync(() => start(storage))
  opened.set(storage, object)
  return object
}
