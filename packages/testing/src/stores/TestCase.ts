/**
 * The cases of the suites for stores, for any test runner.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"

/**
 * A test case.
 *
 * @category models
 * @since 0.1.0
 */
export interface TestCase<out R, out E = never> {
  /** The behaviour that is tested, as the title of a test. */
  readonly name: string
  /** Runs the case with a store that is empty. Fails or dies if the store does something else. */
  readonly effect: Effect.Effect<void, E, R>
}
