import type { Stats } from "@colloquy/core/inbox/InboxStore"
import type { DurableObjectStorage } from "../../base/DurableObjectStorage.ts"
import { migrate, type Query, queryOf } from "../../base/internal/database.ts"
import { type Alarm, makeAlarm } from "./timers/alarm.ts"
import { makeTimers } from "./timers/timers.ts"
import { makeDeadLetters } from "./deadLetters.ts"
import { makeQueue } from "./queue.ts"
import { migrations } from "./tables.ts"

type Counts = { queued: number; deadLetters: number }

/** The state that all stores of a Durable Object share. */
export interface OpenObject {
  readonly query: Query
  readonly queue: ReturnType<typeof makeQueue>
  readonly deadLetters: ReturnType<typeof makeDeadLetters>
  readonly timers: ReturnType<typeof makeTimers>
  readonly alarm: Alarm
  /** When there is something to handle, in Unix milliseconds. */
  readonly dueAt: () => number | undefined
  readonly stats: () => Stats
  /** Adds to the numbers of queued updates and dead letters. */
  readonly count: (queued: number, deadLetters: number) => void
  /** The numbers are counted again, because a transaction was rolled back. */
  readonly forgetCounts: () => void
}

const opened = new WeakMap<DurableObjectStorage, OpenObject>()

const earliest = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? (a ?? b) : Math.min(a, b)

/**
 * Opens the storage of an object that has started. Ends the leases of its predecessor, because an object exists only
 * once, and sets the alarm to the next time of work.
 */
const start = (storage: DurableObjectStorage): OpenObject => {
  const query = queryOf(storage)
  migrate(query, "inbox", migrations)
  const queue = makeQueue(query)
  const deadLetters = makeDeadLetters(query)
  const timers = makeTimers(query)
  const alarm = makeAlarm(storage)
  const dueAt = () => earliest(queue.claimableAt(), timers.next())
  queue.endLeases()
  alarm.set(dueAt())
  let counts: Counts | undefined
  return {
    query,
    queue,
    deadLetters,
    timers,
    alarm,
    dueAt,
    stats: () => {
      counts ??= { queued: queue.count(), deadLetters: deadLetters.count() }
      return { ...counts, oldestReceivedAt: queue.oldestReceivedAt() }
    },
    count: (queued, deadLetters) => {
      if (counts === undefined) return
      counts.queued += queued
      counts.deadLetters += deadLetters
    },
    forgetCounts: () => {
      counts = undefined
    }
  }
}

/** Returns the object of an open storage. */
export const find = (storage: DurableObjectStorage): OpenObject | undefined => opened.get(storage)

/** Returns the object of a storage. */
export const open = (storage: DurableObjectStorage): OpenObject => {
  const object = find(storage) ?? storage.transactionSync(() => start(storage))
  opened.set(storage, object)
  return object
}
