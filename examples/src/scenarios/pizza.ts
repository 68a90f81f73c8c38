import { Effect } from "effect"
import * as Runner from "../runner/scenario.ts"

export const scenario: Runner.Scenario = Effect.gen(function* () {
  const ann = yield* Runner.user("Ann")
  const presses = Effect.fnUntraced(function* (button: string) {
    const question = yield* ann.sees
    if (question._tag === "Message") yield* ann.does(`(presses ${button})`, ann.press(question.message, button))
  })
  const settings = yield* Runner.botSettings
  const program = yield* Runner.start("pizza", settings)
  yield* ann.opens
  yield* ann.sees
  yield* ann.says("/order")
  yield* presses("Large")
  yield* ann.sees
  yield* presses("Olives")
  const chosen = yield* ann.sees
  yield* program.kill
  if (chosen._tag === "Edited") yield* ann.does("(presses Done)", ann.press(chosen.message, "Done"))
  const restarted = yield* Runner.start("pizza", settings)
  yield* ann.sees
  yield* ann.sees
  yield* ann.says("home")
  yield* ann.sees
  yield* ann.says("Long Lane 7")
  yield* ann.sees
  yield* presses("Yes")
  yield* ann.sees
  yield* ann.sees
  yield* restarted.stop
})
