import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { StoreError } from "../../base/StoreError.ts"
import type { InboxStore } from "../InboxStore.ts"

/** The key of the row that exists while the inbox is paused. */
const key = "paused"

/** For this time, a process that claims does not read the row again. */
const validMillis = 1000

/** Whether the inbox is paused, for all processes that use the store. */
export class Pausing {
  readonly #store: InboxStore["Service"]
  readonly #clock: Clock.Clock
  readonly #nextRevision: () => string
  #isPaused = false
  #readAt = -Infinity

  constructor(store: InboxStore["Service"], clock: Clock.Clock, nextRevision: () => string) {
    this.#store = store
    this.#clock = clock
    this.#nextRevision = nextRevision
  }

  #known(isPaused: boolean): boolean {
    this.#isPaused = isPaused
    this.#readAt = this.#clock.currentTimeMillisUnsafe()
    return isPaused
  }

  readonly read: Effect.Effect<boolean, StoreError> = Effect.suspend(() =>
    Effect.map(this.#store.read([key]), ([row]) => this.#known(row !== undefined))
  )

  /** The last state that was read. A busy process reads once in a second. */
  readonly isPaused: Effect.Effect<boolean, StoreError> = Effect.suspend(() =>
    Math.abs(this.#clock.currentTimeMillisUnsafe() - this.#readAt) < validMillis
      ? Effect.succeed(this.#isPaused)
      : this.read
  )

  set(isPaused: boolean): Effect.Effect<void, StoreError> {
    const row = isPaused ? { text: "true" } : undefined
    return Effect.suspend(() =>
      Effect.map(
        this.#store.write([{ rows: [{ key, row, revision: this.#nextRevision() }] }]),
        () => void this.#known(isPaused)
      )
    )
  }
}
