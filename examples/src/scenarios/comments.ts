import { Emulator } from "@colloquy/testing"
import { Effect } from "effect"
import * as Runner from "../runner/scenario.ts"
import * as Webhook from "../runner/webhook.ts"

export const scenario: Runner.Scenario = Effect.gen(function* () {
  const settings = yield* Webhook.settings
  const program = yield* Runner.start("comments", settings)
  yield* Webhook.ready(settings)
  const editor = yield* Runner.user("Editor")
  const ann = yield* Runner.user("Ann")
  const news = yield* Emulator.chat({
    type: "channel",
    title: "News",
    owner: editor,
    members: [ann],
    bot: { admin: true },
    hasComments: true
  })
  const text = "The library is open again."
  const post = yield* editor.does(text, editor.send(news, text))
  const comments = (text: string) => ann.does(text, ann.comment(post, text))
  yield* comments("First!")
  yield* comments("On Sundays too?")
  yield* ann.sees
  yield* comments("Thank you!")
  yield* ann.sees
  yield* program.stop
})
