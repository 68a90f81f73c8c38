import { Effect } from "effect"
import * as Stage from "../stage/stage.ts"
import * as Webhook from "../stage/webhook.ts"

export const scene: Stage.Scene = Effect.gen(function* () {
  const settings = yield* Webhook.settings
  const program = yield* Stage.start("webhook", settings)
  yield* Webhook.ready(settings)
  const ann = yield* Stage.person("Ann")
  yield* ann.opens
  yield* ann.sees
  yield* ann.says("/help")
  yield* ann.sees
  yield* ann.says("Good morning")
  yield* ann.sees
  yield* program.stop
})
