/**
 * Colloquy in Durable Objects.
 *
 * @since 0.1.0
 */
export * as DurableObjectBot from "./DurableObjectBot.ts"
export * as DurableObjectBroadcastStore from "./DurableObjectBroadcastStore.ts"
export * as DurableObjectChatStore from "./DurableObjectChatStore.ts"
export * as DurableObjectInboxStore from "./DurableObjectInboxStore.ts"
export type * as DurableObjectStorage from "./DurableObjectStorage.ts"
export * as DurableObjectUploadCache from "./DurableObjectUploadCache.ts"
