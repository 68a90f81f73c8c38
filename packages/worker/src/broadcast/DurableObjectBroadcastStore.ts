/**
 * Stores the progress of broadcasts in the storage of a Durable Object.
 *
 * @since 0.1.0
 */
import { BroadcastStore } from "@colloquy/core/broadcast/BroadcastStore"
import type { StoreError } from "@colloquy/core/base/StoreError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { DurableObjectStorage } from "../base/DurableObjectStorage.ts"
import { makeStore } from "./internal/broadcasts.ts"

/**
 * Creates the store. See {@link layer}.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (storage: DurableObjectStorage): Effect.Effect<BroadcastStore["Service"], StoreError> =>
  Effect.clockWith((clock) => makeStore(storage, clock))

/**
 * Provides a `BroadcastStore` in the storage of a Durable Object, in the tables `colloquy_broadcasts` and
 * `colloquy_broadcast_records`, which are created when the layer is built.
 *
 * An object exists only once. After a restart, the object can continue an interrupted broadcast at once.
 *
 * A broadcast takes longer than a handler may run, which is a minute by default. The example runs it in parts, each in the
 * handler of a timer.
 *
 * Fails with a `StoreError` if the tables cannot be created.
 *
 * **Example** (A broadcast in parts of 40 seconds)
 *
 * ```ts
 * import { Broadcasts, ChatStore, Timer } from "@colloquy/core"
 * import { DurableObjectBroadcastStore, DurableObjectChatStore, type DurableObjectStorage } from "@colloquy/worker"
 * import { Effect, Layer, Option, Schema, Stream } from "effect"
 *
 * const News = Timer.make("news", Schema.String)
 *
 * export const handler = News.on((text) =>
 *   Effect.gen(function* () {
 *     const recipients = Stream.map(ChatStore.stream({ type: "dialog" }), ({ chat_id }) => chat_id)
 *     const part = yield* Broadcasts.run({ name: text, recipients, message: { text } }).pipe(
 *       Stream.runDrain,
 *       Effect.timeoutOption("40 seconds")
 *     )
 *     if (Option.isNone(part)) yield* News.in("1 second", text)
 *   })
 * )
 *
 * export const stores = (storage: DurableObjectStorage.DurableObjectStorage) =>
 *   Layer.merge(DurableObjectBroadcastStore.layer(storage), DurableObjectChatStore.layer(storage))
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (storage: DurableObjectStorage): Layer.Layer<BroadcastStore, StoreError> =>
  Layer.effect(BroadcastStore, make(storage))
