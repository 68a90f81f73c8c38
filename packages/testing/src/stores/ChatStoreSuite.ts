/**
 * Test cases for every implementation of `ChatStore`, for any test runner.
 *
 * @since 0.1.0
 */
import type * as ChatStore from "@colloquy/core/bot/ChatStore"
import { readCases } from "./internal/chats/reading.ts"
import { removeCases } from "./internal/chats/removing.ts"
import { upsertCases } from "./internal/chats/upserting.ts"
import { programCases } from "./internal/chats/using.ts"
import type { TestCase } from "./TestCase.ts"

/**
 * The cases that every store has to pass. Each of them needs an empty `ChatStore`, and runs with any clock.
 *
 * **Example** (Run the cases with vitest)
 *
 * ```ts
 * import { ChatStore } from "@colloquy/core"
 * import * as ChatStoreSuite from "@colloquy/testing/stores/ChatStoreSuite"
 * import * as Effect from "effect/Effect"
 *
 * export const run = (it: (name: string, test: () => Promise<void>) => void) => {
 *   for (const { name, effect } of ChatStoreSuite.cases) {
 *     it(name, () => Effect.runPromise(Effect.provide(effect, ChatStore.layerMemory)))
 *   }
 * }
 * ```
 *
 * @category cases
 * @since 0.1.0
 */
export const cases: ReadonlyArray<TestCase<ChatStore.ChatStore, unknown>> = [
  ...upsertCases,
  ...removeCases,
  ...readCases,
  ...programCases
]
