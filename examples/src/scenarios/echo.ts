import { Effect } from "effect"
import * as Runner from "../runner/scenario.ts"

export const scenario: Runner.Scenario = Effect.gen(function* () {
  const ann = yield* Runner.user("Ann")
  const program = yield* Runner.start("echo", yield* Runner.botSettings)
  yield* ann.opens
  yield* ann.sees
  yield* ann.says("good morning")
  const answer = yield* ann.sees
  if (answer._tag === "Message") yield* ann.does("(presses Louder)", ann.press(answer.message, "Louder"))
  yield* ann.sees
  yield* ann.sees
  yield* program.stop
})
