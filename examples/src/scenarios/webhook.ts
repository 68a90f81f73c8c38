import { Effect } from "effect"
import * as Runner from "../runner/scenario.ts"
import * as Webhook from "../runner/webhook.ts"

export const scenario: Runner.Scenario = Effect.gen(function* () {
  const settings = yield* Webhook.settings
  const program = yield* Runner.start("webhook", settings)
  yield* Webhook.ready(settings)
  const ann = yield* Runner.user("Ann")
  yield* ann.opens
  yield* ann.sees
  yield* ann.says("/help")
  yield* ann.sees
  yield* ann.says("Good morning")
  yield* ann.sees
  yield* program.stop
})
