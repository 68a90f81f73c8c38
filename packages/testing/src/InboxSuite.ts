/**
 * What every store of an inbox must do, as cases for any test runner.
 *
 * @since 0.1.0
 */
import type { InboxStore } from "@colloquy/core/InboxStore"
import type { StoreError } from "@colloquy/core/StoreError"
import type * as Effect from "effect/Effect"
import { arrivals } from "./internal/updates/arrivals.ts"
import { claims } from "./internal/updates/claims.ts"
import { deaths } from "./internal/updates/deaths.ts"

/**
 * A case: an effect that dies with an `AssertionError` where the store does something else. Each needs a store that is
 * empty.
 *
 * @category models
 * @since 0.1.0
 */
export interface Case {
  readonly name: string
  readonly effect: Effect.Effect<void, StoreError, InboxStore>
}

/**
 * All cases. A store that passes them keeps the contract of delivery within one process; what several processes do to
 * it at once is for tests of its own.
 *
 * **Example**
 *
 * ```ts
 * import { InboxStore } from "@colloquy/core"
 * import { InboxSuite } from "@colloquy/testing"
 * import { Effect } from "effect"
 *
 * // with vitest: it.effect(name, () => effect.pipe(Effect.provide(layer)))
 * const all = Effect.forEach(InboxSuite.cases, ({ effect }) => Effect.provide(effect, InboxStore.layerMemory()))
 * ```
 *
 * @category cases
 * @since 0.1.0
 */
export const cases: ReadonlyArray<Case> = [...arrivals, ...claims, ...deaths]
