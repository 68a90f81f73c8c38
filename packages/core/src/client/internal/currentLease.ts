import type * as Effect from "effect/Effect"
import { optionalReference } from "../../base/internal/optionalReference.ts"

/** The right of this process to handle an update, or to send a broadcast. */
export interface Lease {
  /**
   * Succeeds when the lease is certain, and renews the lease if necessary. Interrupts the caller if the chat is lost.
   */
  readonly confirm: Effect.Effect<void>
  /** Whether the lease is certain now. */
  readonly isHeld: () => boolean
  /** Whether an uninterruptible call can be interrupted during the wait for its permit. Default: `false`. */
  readonly interruptsWait?: boolean
}

/**
 * The lease of the update that is being handled or of the broadcast that is being sent. The client confirms the lease
 * before each request, and checks the lease right before the request is sent. Default: none, as outside of handlers and
 * with an inbox of one process.
 */
export const CurrentLease = optionalReference<Lease>("@colloquy/core/internal/updates/CurrentLease")
