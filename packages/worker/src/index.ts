/**
 * Colloquy in Durable Objects.
 *
 * @since 0.1.0
 */
export * as DurableObjectBot from "./bot/DurableObjectBot.ts"
export * as DurableObjectBroadcastStore from "./broadcast/DurableObjectBroadcastStore.ts"
export * as DurableObjectChatStore from "./bot/DurableObjectChatStore.ts"
export * as DurableObjectInboxStore from "./inbox/DurableObjectInboxStore.ts"
export type * as DurableObjectStorage from "./base/DurableObjectStorage.ts"
export * as DurableObjectUploadCache from "./endpoints/DurableObjectUploadCache.ts"
