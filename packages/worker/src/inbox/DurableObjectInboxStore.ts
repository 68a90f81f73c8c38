/**
 * Stores an inbox in the storage of a Durable Object: its queued updates, and the journals, state and timers of their handling.
 *
 * @since 0.1.0
 */
import { InboxStore, SqlTransactions } from "@colloquy/core/inbox/InboxStore"
import type { StoreError } from "@colloquy/core/base/StoreError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { DurableObjectStorage } from "../base/DurableObjectStorage.ts"
import * as object from "./internal/object.ts"
import { transactionsOf } from "../base/internal/database.ts"

/**
 * Creates the store. See {@link layer}.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (storage: DurableObjectStorage): Effect.Effect<InboxStore["Service"], StoreError> =>
  Effect.map(
    transactionsOf(storage, "inbox")("migrate", () => object.open(storage)),
    ({ store }) => store
  )

/**
 * Provides an `InboxStore` in the storage of a Durable Object. The tables are created or migrated when the layer is built.
 *
 * - The alarm of the object is set to the next time of work: at once for a stored update, or the due time of the next
 *   timer. The alarm and the rows are stored atomically. The class needs a method `alarm`, like {@link
 *   DurableObjectBot}, and must not set the alarm for other purposes.
 * - An object exists only once. After a restart, its updates can be claimed at once, and interrupted updates have one
 *   more attempt and one more crash.
 * - See {@link DurableObjectStorage} for the durability of writes.
 * - The names of the tables begin with `colloquy_`.
 *
 * Fails with a `StoreError` if the tables cannot be created.
 *
 * **Example** (An inbox in a Durable Object)
 *
 * ```ts
 * import { Inbox } from "@colloquy/core"
 * import { DurableObjectInboxStore, type DurableObjectStorage } from "@colloquy/worker"
 * import { Layer } from "effect"
 *
 * const inbox = (storage: DurableObjectStorage.DurableObjectStorage) =>
 *   Inbox.layer().pipe(Layer.provide(DurableObjectInboxStore.layer(storage)))
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (storage: DurableObjectStorage): Layer.Layer<InboxStore | SqlTransactions, StoreError> =>
  Layer.merge(Layer.effect(InboxStore, make(storage)), Layer.succeed(SqlTransactions, "sqlite"))
