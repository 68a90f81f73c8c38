import { assert, describe, it } from "@effect/vitest"
import * as Prompt from "effect/ai/Prompt"
import * as Effect from "effect/Effect"
import { estimate, withinBudget } from "../../../src/live/internal/assistant/budget.ts"

const call = { type: "tool-call", id: "1", name: "Add", params: { a: 1 }, providerExecuted: false } as const
const result = {
  type: "tool-result",
  id: "1",
  name: "Add",
  isFailure: false,
  result: 2,
  providerExecuted: false
} as const

const { content: messages } = Prompt.make([
  { role: "user", content: "first" },
  { role: "assistant", content: "one" },
  { role: "user", content: "second" },
  { role: "assistant", content: [call] },
  { role: "tool", content: [result] },
  { role: "assistant", content: "two" }
])

const rolesWithin = (budget: number) =>
  Effect.map(
    withinBudget(messages, budget, (exchange) => Effect.succeed(exchange.length)),
    (kept) => kept.map(({ role }) => role)
  )

describe("The budget of a history", () => {
  it.effect("keeps the withinBudget exchanges, and the results of functions with their calls", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* rolesWithin(3), [])
      assert.deepStrictEqual(yield* rolesWithin(5), ["user", "assistant", "tool", "assistant"])
      assert.lengthOf(yield* rolesWithin(6), 6)
    })
  )

  it("estimates a quarter of the UTF-8 bytes of all contents", () => {
    const tokens = (text: string) => estimate(Prompt.make(text).content) - estimate(Prompt.make("").content)
    assert.strictEqual(tokens("a".repeat(400)), 100)
    assert.strictEqual(tokens("ж".repeat(400)), 200)
    assert.isAbove(estimate(messages), 20)
  })
})
