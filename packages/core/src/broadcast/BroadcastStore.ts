/**
 * Stores which recipients of a broadcast have a result. `Broadcasts` uses this store.
 *
 * `layerMemory` is for tests; `SqlBroadcastStore` and `RedisBroadcastStore` of `@colloquy/node`, and
 * `DurableObjectBroadcastStore` of `@colloquy/worker`, survive a restart.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Option from "effect/Option"
import type { BegunRecipient, RecipientRecord, Status, Summary } from "./Broadcast.ts"
import * as memoryStore from "./internal/memoryStore.ts"
import type { ChatId } from "../model/Recipient.ts"
import type { StoreError } from "../base/StoreError.ts"

/**
 * The operations of a store. Each operation is atomic, and durable when the effect succeeds. `BroadcastSuite` of
 * `@colloquy/testing` tests a store of your own against this contract.
 *
 * @category services
 * @since 0.1.0
 */
export class BroadcastStore extends Context.Service<
  BroadcastStore,
  {
    /**
     * Gives `owner` the lease of a broadcast for `leaseDuration` milliseconds. The clock of the store measures the lease, and
     * sets `startedAt`. An owner releases its lease with a duration of 0. Returns none if another owner has the lease.
     *
     * If `create` is `false`, the owner renews its lease: returns none if the broadcast does not exist, or if another owner has had
     * the lease since, also if that lease has expired. The other owner may have sent what this owner was about to send.
     */
    readonly acquireLease: (request: {
      readonly name: string
      readonly owner: string
      readonly leaseDuration: number
      readonly create: boolean
    }) => Effect.Effect<Option.Option<Summary>, StoreError>
    /** Returns the state of a broadcast, or none if the broadcast does not exist. */
    readonly summary: (name: string) => Effect.Effect<Option.Option<Summary>, StoreError>
    /** Returns the state of up to `limit` broadcasts, the last started first. */
    readonly list: (limit: number) => Effect.Effect<ReadonlyArray<Summary>, StoreError>
    /**
     * Changes the status or the total of a broadcast. Returns `false`, and changes nothing, if the broadcast does not
     * exist, was cancelled or has finished.
     */
    readonly update: (
      name: string,
      changes: { readonly status?: Status | undefined; readonly total?: number | undefined }
    ) => Effect.Effect<boolean, StoreError>
    /** Returns the chats that have no record, in the same order. */
    readonly pending: (name: string, chats: ReadonlyArray<ChatId>) => Effect.Effect<ReadonlyArray<ChatId>, StoreError>
    /**
     * Replaces the recipients to which the message may be sent from now on, at most some hundreds. Does nothing if `owner` was not the
     * last owner of the lease.
     */
    readonly begin: (request: {
      readonly name: string
      readonly owner: string
      readonly recipients: ReadonlyArray<BegunRecipient>
    }) => Effect.Effect<void, StoreError>
    /** Returns the recipients of the last `begin`, including recipients that have a record. */
    readonly begun: (name: string) => Effect.Effect<ReadonlyArray<BegunRecipient>, StoreError>
    /** Adds and counts records. Ignores chats that already have a record, and broadcasts that do not exist. */
    readonly addRecords: (name: string, records: ReadonlyArray<RecipientRecord>) => Effect.Effect<void, StoreError>
    /** Returns up to `limit` records of chats above `after`, in ascending order of the chats. */
    readonly records: (
      name: string,
      page: { readonly after?: ChatId | undefined; readonly limit: number }
    ) => Effect.Effect<ReadonlyArray<RecipientRecord>, StoreError>
    /** Removes a broadcast with its records. Returns `true` if the broadcast existed. */
    readonly remove: (name: string) => Effect.Effect<boolean, StoreError>
  }
>()("@colloquy/core/BroadcastStore") {}

/**
 * Creates a store in memory. See {@link layerMemory}.
 *
 * @category constructors
 * @since 0.1.0
 */
export const makeMemory: Effect.Effect<BroadcastStore["Service"]> = Effect.clockWith((clock) =>
  Effect.sync(() => BroadcastStore.of(memoryStore.make(clock)))
)

/**
 * Provides a store in memory. A broadcast can be continued after an interruption, but not after a restart. Each program
 * has a store of its own, and `Layer.fresh` makes a further store in one program.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerMemory: Layer.Layer<BroadcastStore> = Layer.effect(BroadcastStore, makeMemory)
