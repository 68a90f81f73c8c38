/**
 * @since 0.1.0
 */
export * as NodeTrust from "./NodeTrust.ts"
