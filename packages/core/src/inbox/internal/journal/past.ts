import type * as Clock from "effect/Clock"
import * as Result from "effect/Result"
import type { Call, Past } from "../../../client/internal/journal/current.ts"
import { chatOf, chatTypeOf, type Update, userIdOf } from "../../../model/Update.ts"
import type { QueuedUpdate } from "../../QueuedUpdate.ts"
import { monoNow } from "../consumer/lease.ts"

/** The record of the start of a call. */
export interface Started extends Omit<Past, "dialog"> {
  /** The start in Unix milliseconds of the process that began the call. */
  readonly at: number
  /** Messages that earlier calls had created, and whose time may be after the start. */
  readonly created: ReadonlyArray<string>
  /** How many times the call was repeated, so that each record of a start is different. Default: 0. */
  readonly repetitions?: number
  /** When the call was interrupted, in Unix milliseconds, if its answer was not received. */
  readonly interruptedAt?: number
}

/** The clocks of the platform's servers may differ by this, in milliseconds. */
const tolerance = 1000

/** The platform may carry out a request for this time after its client has stopped waiting, in milliseconds. */
const lateness = 2000

/** For how long the platform may still carry out an interrupted call, in milliseconds. The clocks of processes may differ. */
export const stillCarriedOutFor = ({ interruptedAt = -Infinity }: Started, now: number): number =>
  Math.min(Math.max(interruptedAt + lateness - now, 0), lateness)

/** `undefined` for an update that cannot be decoded, while the update becomes a dead letter. */
const updateOf = ({ decoded }: QueuedUpdate): Update | undefined => Result.getOrUndefined(decoded)

/** Returns the time of an update by the clock of the platform. A timer has the time of the store. */
const happenedAtOf = (queued: QueuedUpdate): number => {
  const update = updateOf(queued)
  return update === undefined || update.update_type === "colloquy_timer" || !("timestamp" in update)
    ? -Infinity
    : update.timestamp
}

/** Returns the dialog in which an update happened. */
export const dialogOf = (queued: QueuedUpdate): Past["dialog"] => {
  const update = updateOf(queued)
  if (update === undefined) return undefined
  const chat_id = chatOf(update)
  const user_id = userIdOf(update)
  return chatTypeOf(update) === "dialog" && chat_id !== undefined && user_id !== undefined
    ? { chat_id, user_id }
    : undefined
}

/** Returns the record of a call of an update that begins now. */
export const startedNow = <A, E>(
  queued: QueuedUpdate,
  { chat_id, platform }: Call<A, E>,
  clock: Clock.Clock
): Started => {
  const at = clock.currentTimeMillisUnsafe()
  if (platform === undefined) return { after: at, at, requests: [], created: [] }
  const { created, time } = platform
  const mono = monoNow(clock)
  const happenedAt = happenedAtOf(queued)
  time.observe(happenedAt, mono)
  const after = Math.floor(Math.max(happenedAt, time.atLeast(mono, at))) - tolerance
  return { after, at, requests: [], created: created.since(after, chat_id) }
}

/** Returns the record of a call that is repeated: it keeps the time of the first call, because either may have been carried out. */
export const repeated = (before: Started): Started => ({ ...before, repetitions: (before.repetitions ?? 0) + 1 })
