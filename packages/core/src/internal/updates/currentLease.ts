import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"

/**
 * Succeeds while the process holds the chat whose update is being handled, which is confirmed if the lease is about to
 * expire, and interrupts the caller otherwise. The client runs it before each request. Default: none, outside of handlers
 * and if no other process uses the inbox.
 */
export const CurrentLease = Context.Reference<Effect.Effect<void> | undefined>(
  "@colloquy/core/internal/updates/CurrentLease",
  { defaultValue: () => undefined }
)
