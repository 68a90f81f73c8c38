import type {
  Batch,
  Claim,
  Commit,
  CommitResult,
  JournalRecord,
  Partition,
  RecordResult,
  StateWrite,
  TimerChange
} from "@colloquy/core/inbox/InboxStore"
import type * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"

/** The operations of the inbox that SQLite and PostgreSQL execute differently. */
export interface Engine {
  /** Returns how many updates of each batch were added. */
  readonly enqueue: (batches: ReadonlyArray<Batch>) => Effect.Effect<
    {
      readonly added: ReadonlyArray<number>
      /** Whether a partition without an owner has a new update. */
      readonly isFree: boolean
    },
    SqlError
  >
  readonly claim: (claim: Claim, now: number) => Effect.Effect<ReadonlyArray<Partition>, SqlError>
  readonly commit: (
    commits: ReadonlyArray<Commit>,
    ownerOf: (owner: string) => string,
    now: number
  ) => Effect.Effect<
    {
      readonly results: ReadonlyArray<CommitResult>
      /** Whether a released partition has updates. */
      readonly isFree: boolean
    },
    SqlError
  >
  readonly record: (
    records: ReadonlyArray<JournalRecord>,
    ownerOf: (owner: string) => string
  ) => Effect.Effect<ReadonlyArray<RecordResult>, SqlError>
  readonly writeState: (writes: ReadonlyArray<StateWrite>) => Effect.Effect<boolean, SqlError>
  readonly changeTimers: (changes: ReadonlyArray<TimerChange>, now: number) => Effect.Effect<void, SqlError>
}
