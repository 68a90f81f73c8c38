import type { StoreName } from "@colloquy/core/StoreError"

/** The first part of all keys of a store. Its hash tag keeps them on one node of a cluster. */
export const keyPrefix = (store: StoreName, prefix = "colloquy"): string => `{${prefix}:${store}}`
