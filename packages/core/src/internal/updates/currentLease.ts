import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"

/** The right of this process to handle an update, or to send a broadcast. */
export interface Lease {
  /** Succeeds when the lease is certain, and renews it if necessary. Interrupts the caller if the chat is lost. */
  readonly confirm: Effect.Effect<void>
  /** Whether the lease is certain now. */
  readonly isHeld: () => boolean
  /** Whether a call that cannot be interrupted can be interrupted while it waits for its permit. Default: no. */
  readonly interruptsWait?: boolean
}

/**
 * The lease of the update that is being handled or of the broadcast that is being sent. The client confirms it before each request, and checks it right before the
 * request is sent. Default: none, outside of handlers and if no other process uses the inbox.
 */
export const CurrentLease = Context.Reference<Lease | undefined>("@colloquy/core/internal/updates/CurrentLease", {
  defaultValue: () => undefined
})
