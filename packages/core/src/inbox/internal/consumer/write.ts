import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { constVoid } from "effect/Function"
import type { StoreError } from "../../../base/StoreError.ts"
import type { Written } from "./changes.ts"
import type { DeadLetters } from "./deadLetters.ts"
import type { ClaimedPartition, OpenChange, Queued } from "./partitions.ts"
import { acknowledged, type Restore } from "./settlement.ts"

const none: ReadonlyArray<never> = []

/** The changes that were not applied because of a conflict. */
export type Conflicts = ReadonlySet<unknown>

/** Changes that are written together. */
export interface Write {
  readonly changes: ReadonlyArray<OpenChange>
  /** Updates that are settled. */
  readonly settled: ReadonlyArray<Queued>
  /** Updates that are emitted afterwards. */
  readonly started: ReadonlyArray<Queued>
  /** Whether the consumer was stopping when the write was prepared. */
  readonly wasStopping: boolean
}

const makeChange = (partition: ClaimedPartition, written: Written | undefined): OpenChange => ({
  partition,
  lease: partition.lease,
  owner: partition.lease.owner,
  partitionKey: partition.lease.key,
  completed: none,
  failed: none,
  begun: none,
  timers: written?.timers,
  writes: written?.writes,
  release: false
})

export const openChange = (partition: ClaimedPartition): OpenChange =>
  (partition.change ??= makeChange(partition, undefined))

/** The changes of partitions whose settlements certainly apply. Only these partitions can end, or go on, with the same write. */
export const withoutConflicts = (changes: ReadonlyArray<OpenChange>): ReadonlyArray<OpenChange> => {
  if (changes.every(({ writes }) => writes === undefined)) return changes
  const uncertain = new Set(changes.flatMap(({ partition, writes }) => (writes === undefined ? [] : [partition])))
  return changes.filter(({ partition }) => !uncertain.has(partition))
}

/** Appends to a list of a change that is being prepared. Only an empty list is shared. */
const append = <A>(all: ReadonlyArray<A>, one: A): ReadonlyArray<A> => {
  if (all.length === 0) return [one]
  ;(all as Array<A>).push(one)
  return all
}

const changeOf = (changes: Array<OpenChange>, partition: ClaimedPartition): OpenChange => {
  if (partition.change === undefined) changes.push(openChange(partition))
  return partition.change!
}

/** Counts an attempt before the attempt has ended, so that a crash is not counted for its update. */
const record = (changes: Array<OpenChange>, queued: Queued): void => {
  const change = changeOf(changes, queued.partition)
  change.failed = append(change.failed, queued.entry.id)
  queued.isRecorded = true
}

/** Marks updates as begun in the changes of their partitions. `joined` was in an exclusive attempt until then. */
export const mark = (changes: Array<OpenChange>, started: ReadonlyArray<Queued>, joined: Queued | undefined): void => {
  if (joined !== undefined) record(changes, joined)
  for (const queued of started) {
    const { entry, isMarked, isRecorded, partition } = queued
    if (!isMarked) {
      if (isRecorded) record(changes, queued)
      else {
        const change = changeOf(changes, partition)
        change.begun = append(change.begun, entry.id)
      }
    }
    queued.change = partition.change
  }
}

/** Returns a function that adds the outcome of an update to the changes of its partition. */
export const makePrepare = (clock: Clock.Clock, dead: DeadLetters) => {
  const writtenBy = (queued: Queued): Written | undefined => {
    const { outcome } = queued
    if (outcome?._tag === "ack") return queued.written(clock)
    return outcome?._tag === "reject" ? queued.writtenOnReject(clock) : undefined
  }

  /**
   * If several updates of a partition are settled together, each update that writes state has its own commit. The store
   * can reject that commit alone.
   */
  return (changes: Array<OpenChange>, queued: Queued, isOnly: boolean): void => {
    const { entry, outcome, partition } = queued
    if (outcome === undefined) return
    const written = writtenBy(queued)
    let { change } = partition
    if (change === undefined || written !== undefined) {
      change = makeChange(partition, written)
      changes.push(change)
      if (written === undefined || isOnly) partition.change = change
    }
    queued.change = change
    if (outcome._tag === "retry") {
      if (!queued.isRecorded) change.failed = append(change.failed, entry.id)
    } else if (outcome._tag === "ack") change.completed = append(change.completed, { id: entry.id })
    else if (outcome._tag === "reject") {
      const failure = dead.failureOf(queued, outcome.cause)
      change.completed = append(change.completed, { id: entry.id, failure })
    }
  }
}

interface Acknowledgement {
  readonly queued: Queued
  exit: Exit.Exit<void, StoreError> | undefined
  resume: (exit: Exit.Exit<void, StoreError>) => void
}

/**
 * Acknowledges updates one by one, and writes the acknowledgements of one turn of the event loop together, because a
 * write for each acknowledgement takes longer than the rest of a pipeline (benchmark `stream-over-run`). An
 * acknowledgement that has begun continues if its caller is interrupted.
 */
export const makeAcknowledgements = (
  write: (settled: ReadonlyArray<Queued>) => Effect.Effect<void, StoreError>,
  fork: (effect: Effect.Effect<void>) => unknown
) => {
  let waiting: Array<Acknowledgement> = []

  const end = (acknowledgement: Acknowledgement, exit: Exit.Exit<void, StoreError>): void => {
    acknowledgement.exit = exit
    acknowledgement.resume(exit)
  }

  const resumeAll = (acknowledgements: ReadonlyArray<Acknowledgement>, exit: Exit.Exit<void, StoreError>): void => {
    for (const acknowledgement of acknowledgements) end(acknowledgement, exit)
  }

  /** The store refused several of them, but one may be the cause. */
  const writeEach = (acknowledgements: ReadonlyArray<Acknowledgement>) =>
    Effect.forEach(
      acknowledgements,
      (acknowledgement) =>
        Effect.map(Effect.exit(Effect.suspend(() => write(acknowledgement.queued.take(acknowledged)))), (exit) =>
          end(acknowledgement, exit)
        ),
      { discard: true }
    )

  const flush: Effect.Effect<void> = Effect.suspend(() => {
    const acknowledgements = waiting
    waiting = []
    if (acknowledgements.length === 0) return Effect.void
    const written = Effect.suspend(() => write(acknowledgements.map(({ queued }) => queued)))
    return Effect.flatMap(Effect.exit(written), (exit) => {
      if (Exit.isFailure(exit) && acknowledgements.length > 1) return writeEach(acknowledgements)
      return Effect.sync(() => resumeAll(acknowledgements, exit))
    })
  })

  const flushLater = Effect.andThen(Effect.yieldNow, flush)

  return {
    acknowledge: (queued: Queued, restore: Restore): Effect.Effect<void, StoreError> => {
      const acknowledgement: Acknowledgement = { queued, exit: undefined, resume: constVoid }
      waiting.push(acknowledgement)
      if (waiting.length === 1) fork(flushLater)
      return restore(
        Effect.callback((resume) => {
          acknowledgement.resume = resume
          if (acknowledgement.exit !== undefined) resume(acknowledgement.exit)
        })
      )
    },
    /** Writes the acknowledgements that wait. */
    flush: (): void => void fork(flush)
  }
}
