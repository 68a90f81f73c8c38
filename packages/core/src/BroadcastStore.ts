/**
 * Where broadcasts remember who has been served. A port: `Broadcast` has the policy.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Option from "effect/Option"
import { makeMemory } from "./internal/broadcast/memoryStore.ts"
import type { ChatId, MessageId } from "./Recipient.ts"
import type { StoreError } from "./StoreError.ts"

/**
 * What became of a recipient: the message was sent; the bot may not write there; there is no such chat; or it failed in
 * another way, after which the message may have been sent all the same or not.
 *
 * @category models
 * @since 0.1.0
 */
export type RecipientStatus = "Sent" | "Forbidden" | "NotFound" | "Failed"

/**
 * What is remembered of a recipient: `problem` says why it failed, `at` when (Unix time in milliseconds).
 *
 * @category models
 * @since 0.1.0
 */
export interface RecipientRecord {
  readonly chat_id: ChatId
  readonly status: RecipientStatus
  readonly message_id?: MessageId | undefined
  readonly problem?: string | undefined
  readonly at: number
}

/**
 * A broadcast goes on, waits until it is resumed, was cancelled for good, or has reached everybody.
 *
 * @category models
 * @since 0.1.0
 */
export type Status = "running" | "paused" | "cancelled" | "finished"

/**
 * How far a broadcast is. `total` is the number of recipients, where it is known; times are Unix milliseconds.
 *
 * @category models
 * @since 0.1.0
 */
export interface Summary {
  readonly name: string
  readonly status: Status
  readonly startedAt: number
  readonly total: number | undefined
  readonly counts: { readonly [K in RecipientStatus]: number }
}

/**
 * What a store must do. Each operation is atomic and durable when it returns. `BroadcastSuite` of `@colloquy/testing`
 * holds a store to this.
 *
 * @category services
 * @since 0.1.0
 */
export class BroadcastStore extends Context.Service<
  BroadcastStore,
  {
    /**
     * Gives a broadcast to `owner` until `leaseUntil`. None where another owner has it at `now`, or where there is none
     * of that name and `create` does not make one. Whoever has it already prolongs the lease; one in the past gives it
     * back.
     */
    readonly acquireLease: (claim: {
      readonly name: string
      readonly owner: string
      readonly now: number
      readonly leaseUntil: number
      readonly create: boolean
    }) => Effect.Effect<Option.Option<Summary>, StoreError>
    readonly summary: (name: string) => Effect.Effect<Option.Option<Summary>, StoreError>
    /**
     * Changes what is told of a broadcast. Gives whether there is one of that name that is not over: once it is cancelled
     * or finished, nothing about it changes.
     */
    readonly update: (
      name: string,
      changes: { readonly status?: Status | undefined; readonly total?: number | undefined }
    ) => Effect.Effect<boolean, StoreError>
    /** Those of the chats that have no record yet, in their order. */
    readonly pending: (name: string, chats: ReadonlyArray<ChatId>) => Effect.Effect<ReadonlyArray<ChatId>, StoreError>
    /**
     * Remembers what became of recipients, and counts them. One that has a record already is passed over, as are all
     * where there is no broadcast of that name.
     */
    readonly addRecords: (name: string, records: ReadonlyArray<RecipientRecord>) => Effect.Effect<void, StoreError>
    /** The records in ascending order of their chats, those after the chat `after`. */
    readonly records: (
      name: string,
      page: { readonly after?: ChatId | undefined; readonly limit: number }
    ) => Effect.Effect<ReadonlyArray<RecipientRecord>, StoreError>
    /** Forgets a broadcast with its records. Gives whether there was one of that name. */
    readonly remove: (name: string) => Effect.Effect<boolean, StoreError>
  }
>()("@colloquy/core/BroadcastStore") {}

/**
 * A store in memory: a broadcast survives an interruption, but not the end of the process.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerMemory: Layer.Layer<BroadcastStore> = Layer.effect(
  BroadcastStore,
  Effect.sync(() => BroadcastStore.of(makeMemory()))
)
