import { Effect } from "effect"
import * as Runner from "../runner/scenario.ts"

export const scenario: Runner.Scenario = Effect.gen(function* () {
  const ann = yield* Runner.user("Ann")
  const program = yield* Runner.start("assistant", yield* Runner.botSettings)
  yield* ann.says("How do you make tea?")
  yield* ann.seesEnd("hold the cup.")
  yield* ann.says("Where is my order 42?")
  yield* ann.seesEnd("The order is on its way.")
  yield* ann.says("What did I ask you before?")
  yield* ann.seesEnd("How do you make tea? Where is my order 42?")
  yield* program.stop
})
