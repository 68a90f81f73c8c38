/**
 * @since 0.1.0
 */
export * as NodeBot from "./NodeBot.ts"
export * as NodeSqlite from "./NodeSqlite.ts"
export * as NodeTrust from "./NodeTrust.ts"
export * as RedisChatStore from "./RedisChatStore.ts"
export * as SqlChatStore from "./SqlChatStore.ts"
