import { Effect } from "effect"
import * as Stage from "../stage/stage.ts"

export const scene: Stage.Scene = Effect.gen(function* () {
  const ann = yield* Stage.person("Ann")
  const program = yield* Stage.start("echo", yield* Stage.bot)
  yield* ann.opens
  yield* ann.sees
  yield* ann.says("good morning")
  const answer = yield* ann.sees
  if (answer._tag === "Message") yield* ann.does("(presses Louder)", ann.press(answer.message, "Louder"))
  yield* ann.sees
  yield* ann.sees
  yield* program.stop
})
