/**
 * Stores the chats of a bot in the storage of a Durable Object.
 *
 * @since 0.1.0
 */
import * as ChatStore from "@colloquy/core/bot/ChatStore"
import type { StoreError } from "@colloquy/core/base/StoreError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { DurableObjectStorage } from "../base/DurableObjectStorage.ts"
import { makeStore } from "./internal/chats.ts"

/**
 * Creates the store. See {@link layer}.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (
  storage: DurableObjectStorage,
  options?: ChatStore.Options
): Effect.Effect<ChatStore.ChatStore["Service"], StoreError> =>
  Effect.flatMap(makeStore(storage), (store) => ChatStore.withCleanup(store, options))

/**
 * Provides a `ChatStore` in the storage of a Durable Object, in the table `colloquy_chats`, which is created when the
 * layer is built.
 *
 * Fails with a `StoreError` if the table cannot be created.
 *
 * **Example** (A handler that stores the chats of its updates)
 *
 * ```ts
 * import { ChatStore, Handler, Messages } from "@colloquy/core"
 * import { DurableObjectChatStore, type DurableObjectStorage } from "@colloquy/worker"
 *
 * export const handler = ChatStore.track(Handler.on("bot_started", (update) => Messages.reply(update, "Hello")))
 *
 * export const chats = (storage: DurableObjectStorage.DurableObjectStorage) => DurableObjectChatStore.layer(storage)
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (
  storage: DurableObjectStorage,
  options?: ChatStore.Options
): Layer.Layer<ChatStore.ChatStore, StoreError> => Layer.effect(ChatStore.ChatStore, make(storage, options))
