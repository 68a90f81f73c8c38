import { Effect } from "effect"
import * as Runner from "../runner/scenario.ts"

export const scenario: Runner.Scenario = Effect.gen(function* () {
  const ann = yield* Runner.user("Ann")
  const program = yield* Runner.start("languages", yield* Runner.botSettings)
  yield* ann.opens
  yield* ann.says("hello")
  yield* ann.sees
  yield* ann.says("/language")
  const menu = yield* ann.sees
  if (menu._tag === "Message") yield* ann.does("(presses Русский)", ann.press(menu.message, "Русский"))
  yield* ann.sees
  yield* ann.says("hello")
  yield* ann.sees
  yield* program.stop
})
