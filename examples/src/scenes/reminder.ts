import { Effect } from "effect"
import * as Stage from "../stage/stage.ts"

export const scene: Stage.Scene = Effect.gen(function* () {
  const ann = yield* Stage.person("Ann")
  // Eight hours are for the test, whose time is virtual.
  const settings = { ...(yield* Stage.bot), REMIND_AFTER: "3 seconds" }
  const program = yield* Stage.start("reminder", settings)
  yield* ann.says("/remind")
  yield* ann.sees
  yield* ann.says("/remind feed the cat")
  yield* ann.sees
  yield* program.stop
  const again = yield* Stage.start("reminder", settings)
  yield* ann.sees
  yield* again.stop
})
