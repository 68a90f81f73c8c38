import { Emulator } from "@colloquy/testing"
import { Effect } from "effect"
import * as Stage from "../stage/stage.ts"
import * as Webhook from "../stage/webhook.ts"

export const scene: Stage.Scene = Effect.gen(function* () {
  const settings = yield* Webhook.settings
  const program = yield* Stage.start("comments", settings)
  yield* Webhook.ready(settings)
  const editor = yield* Stage.person("Editor")
  const ann = yield* Stage.person("Ann")
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
