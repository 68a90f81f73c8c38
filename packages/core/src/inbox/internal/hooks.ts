import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Latch from "effect/Latch"
import type * as Scope from "effect/Scope"
import type { Outage } from "../../client/Outage.ts"
import type { Update } from "../../model/Update.ts"
import type { InboxStore } from "../InboxStore.ts"
import type { Log } from "./log/log.ts"
import type { Pausing } from "./pausing.ts"

/** The member of an inbox that only the library reads. The program that a command imports has its own copy of the library. */
export const hooks: unique symbol = Symbol.for("@colloquy/core/Inbox/hooks")

/** The hooks by which an inbox, its consumers, its sources, and the timers work together. */
export interface Hooks {
  /** Ends `close`. */
  readonly open: Effect.Effect<void>
  /**
   * Tells that this process handles no more updates. If other processes may use the store, the inbox goes on accepting updates, so
   * that none comes late; otherwise, `receive` fails with `InboxStopping`.
   */
  readonly close: Effect.Effect<void>
  /** Returns `false` after `close`. */
  readonly isOpen: () => boolean
  /**
   * Calls a function when there may be partitions to claim, until the scope closes. `hasTimers`: because this process has
   * written or deleted rows with a due time.
   */
  readonly wakeUp: (wake: (hasTimers: boolean) => void) => Effect.Effect<void, never, Scope.Scope>
  /** Wakes all consumers. */
  readonly wakeAll: () => void
  /** Returns a latch that is opened when this process stores updates of a partition, until the scope closes. */
  readonly watch: (partitionKey: string) => Effect.Effect<Latch.Latch, never, Scope.Scope>
  /** Returns the partition key of an update: its chat, or the result of the option `partitionKey` of the inbox. */
  readonly partitionKeyOf: (update: Update) => string
  /** Tells the consumers that this process has written or deleted rows with a due time. */
  readonly onTimers: () => void
  /** Returns a revision of a row, which no other write has. */
  readonly nextRevision: () => string
  /** The log of handled updates. */
  readonly log: Log
  /** Whether the inbox is paused. */
  readonly pausing: Pausing
  /** Claims partitions from the store, or none while the inbox is paused. Updates that this process has stored recently are not decoded again. */
  readonly claim: InboxStore["Service"]["claim"]
  /** Dies with the defect of a fiber that the inbox runs in the background. */
  readonly died: Effect.Effect<never>
  /** Repeats the operations of the inbox while its store is away. */
  readonly outage: Outage
  /** For how long dead letters are kept, in milliseconds. */
  readonly deadLetterRetention: number
  /** The duration of leases on partitions. */
  readonly leaseDuration: Duration.Duration
}
