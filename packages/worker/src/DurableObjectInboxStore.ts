/**
 * Stores an inbox in the storage of a Durable Object: its queued updates, and the journals, state and timers of their handling.
 *
 * @since 0.1.0
 */
import { InboxStore } from "@colloquy/core/InboxStore"
import type { StoreError } from "@colloquy/core/StoreError"
import type * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { DurableObjectStorage } from "./DurableObjectStorage.ts"
import { makeStore } from "./internal/updates/inbox.ts"
import * as object from "./internal/updates/object.ts"
import { transactionsOf } from "./internal/stores/database.ts"

/**
 * Creates the store. See {@link layer}.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (storage: DurableObjectStorage): Effect.Effect<InboxStore["Service"], StoreError> =>
  transactionsOf(storage, "inbox")("migrate", () => makeStore(storage, object.open(storage)))

/**
 * Provides an `InboxStore` in the storage of a Durable Object. The tables are created or migrated when the layer is built.
 *
 * - The alarm of the object is set to the time at which there is something to handle: at once if an update is stored, or when
 *   the next timer is due. The alarm and the rows are stored together, or none of them. The class needs a method `alarm`, as
 *   {@link DurableObjectBot} has it, and must not set the alarm for other purposes.
 * - An object exists only once. When it starts again after it was ended, its updates can be claimed at once, and those that
 *   were being handled have one attempt and one crash more.
 * - No response and no request leaves the object before what it has stored is durable.
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
export const layer = (storage: DurableObjectStorage): Layer.Layer<InboxStore, StoreError> =>
  Layer.effect(InboxStore, make(storage))
