/**
 * Test cases for stores of the inbox, for any test runner.
 *
 * @since 0.1.0
 */
import type { InboxStore } from "@colloquy/core/InboxStore"
import type { StoreError } from "@colloquy/core/StoreError"
import type * as Effect from "effect/Effect"
import { journalCases } from "./internal/journal/cases.ts"
import { stateCases } from "./internal/state/cases.ts"
import { timerCases } from "./internal/timers/cases.ts"
import { attemptCases } from "./internal/updates/attemptCases.ts"
import { claimCases } from "./internal/updates/claimCases.ts"
import { deadLetterCases } from "./internal/updates/deadLetterCases.ts"
import { enqueueCases } from "./internal/updates/enqueueCases.ts"

/**
 * A test case.
 *
 * @category models
 * @since 0.1.0
 */
export interface Case {
  /** What the store does in this case, as the title of a test. */
  readonly name: string
  /** Runs the case with an empty store. Dies with an `AssertionError` if the store does something else. */
  readonly effect: Effect.Effect<void, StoreError, InboxStore>
}

/**
 * The cases that every store has to pass. They run in one process. Test the access from several processes separately.
 *
 * **Example** (Run the cases with a store)
 *
 * ```ts
 * import * as InboxStore from "@colloquy/core/InboxStore"
 * import * as InboxSuite from "@colloquy/testing/InboxSuite"
 * import { Effect } from "effect"
 *
 * // With vitest: it.effect(name, () => Effect.provide(effect, InboxStore.layerMemory()))
 * const all = Effect.forEach(InboxSuite.cases, ({ effect }) => Effect.provide(effect, InboxStore.layerMemory()))
 * ```
 *
 * @category cases
 * @since 0.1.0
 */
export const cases: ReadonlyArray<Case> = [
  ...enqueueCases,
  ...claimCases,
  ...attemptCases,
  ...deadLetterCases,
  ...journalCases,
  ...stateCases,
  ...timerCases
]
