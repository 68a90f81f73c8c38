import { Effect } from "effect"
import * as Runner from "../runner/scenario.ts"

export const scenario: Runner.Scenario = Effect.gen(function* () {
  const ann = yield* Runner.user("Ann")
  // The test of this example waits for eight hours of virtual time.
  const settings = { ...(yield* Runner.botSettings), REMIND_AFTER: "3 seconds" }
  const program = yield* Runner.start("reminder", settings)
  yield* ann.says("/remind")
  yield* ann.sees
  yield* ann.says("/remind feed the cat")
  yield* ann.sees
  yield* program.stop
  const restarted = yield* Runner.start("reminder", settings)
  yield* ann.sees
  yield* restarted.stop
})
