/**
 * Test cases for stores of the inbox, for any test runner.
 *
 * @since 0.1.0
 */
import type { InboxStore } from "@colloquy/core/inbox/InboxStore"
import type { StoreError } from "@colloquy/core/base/StoreError"
import type * as Effect from "effect/Effect"
import { handlingCases } from "./internal/inbox/handlingCases.ts"
import { dueCases } from "./internal/rows/dueCases.ts"
import { journalCases } from "./internal/rows/journalCases.ts"
import { rowCases } from "./internal/rows/rowCases.ts"
import { attemptCases } from "./internal/inbox/attemptCases.ts"
import { claimCases } from "./internal/inbox/claimCases.ts"
import { deadLetterCases } from "./internal/inbox/deadLetterCases.ts"
import { enqueueCases } from "./internal/inbox/enqueueCases.ts"
import { statementCases } from "./internal/inbox/statementCases.ts"
import type { TestCase } from "./TestCase.ts"

/**
 * The cases that every store has to pass. The cases run in one process. Test the access from several processes
 * separately.
 *
 * **Example** (Run the cases with a store)
 *
 * ```ts
 * import * as InboxStore from "@colloquy/core/inbox/InboxStore"
 * import * as InboxSuite from "@colloquy/testing/stores/InboxSuite"
 * import { Effect } from "effect"
 *
 * // With vitest: it.effect(name, () => Effect.provide(effect, InboxStore.layerMemory))
 * const all = Effect.forEach(InboxSuite.cases, ({ effect }) => Effect.provide(effect, InboxStore.layerMemory))
 * ```
 *
 * @category cases
 * @since 0.1.0
 */
export const cases: ReadonlyArray<TestCase<InboxStore, StoreError>> = [
  ...enqueueCases,
  ...claimCases,
  ...attemptCases,
  ...deadLetterCases,
  ...rowCases,
  ...journalCases,
  ...dueCases,
  ...statementCases
]

/**
 * Options of {@link handling}.
 *
 * @category models
 * @since 0.1.0
 */
export interface HandlingOptions {
  /** Runs an effect with an empty store. Called for each run. */
  readonly withStore: <A, E>(effect: Effect.Effect<A, E, InboxStore>) => Effect.Effect<A, unknown>
  /** Number of random runs of each case. Default: 30. */
  readonly runs?: number | undefined
  /** How many runs happen at the same time. Only 1 is possible with a test clock. Default: 1. */
  readonly concurrency?: number | undefined
  /**
   * Whether to stop a few handlers at each of their points, about a hundred runs for each of them. Otherwise all points are
   * random. Default: `true`.
   */
  readonly everyPoint?: boolean | undefined
}

/**
 * Returns cases that handle updates with a store and the emulator. Random handlers send messages, run steps, change
 * state, and set, move and cancel timers, one after the other and concurrently. Handlers fail, their requests are cut
 * off, and their processes are stopped before and after all operations of the store and requests. Then the cases
 * compare the chats, the state and the executed timers with the programs of the handlers, for each policy of `Journal`.
 *
 * A run takes no time with a test clock, and about four seconds with a real clock. Use a test clock if the store has no
 * separate clock.
 *
 * **Example** (Run the cases with a store)
 *
 * ```ts
 * import * as InboxStore from "@colloquy/core/inbox/InboxStore"
 * import * as InboxSuite from "@colloquy/testing/stores/InboxSuite"
 * import { Effect, Layer } from "effect"
 *
 * const cases = InboxSuite.handling({
 *   withStore: (effect) => Effect.provide(effect, Layer.fresh(InboxStore.layerMemory))
 * })
 *
 *  // With vitest: for (const { name, effect } of cases) it.effect(name, () => effect)
 * const all = Effect.forEach(cases, ({ effect }) => effect)
 * ```
 *
 * @category cases
 * @since 0.1.0
 */
export const handling = (options: HandlingOptions): ReadonlyArray<TestCase<never>> => handlingCases(options)
