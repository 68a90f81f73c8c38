import { Emulator } from "@colloquy/testing"
import { Effect } from "effect"
import * as Runner from "../runner/scenario.ts"

export const scenario: Runner.Scenario = Effect.gen(function* () {
  const olga = yield* Runner.user("Olga")
  const ann = yield* Runner.user("Ann")
  const ben = yield* Runner.user("Ben")
  const group = yield* Emulator.chat({ owner: olga, bot: { admin: true } })
  // The test of this example waits for a minute of virtual time.
  const settings = { ...(yield* Runner.botSettings), WELCOME_WITHIN: "6 seconds" }
  const program = yield* Runner.start("moderation", settings)
  yield* ann.does("(joins the chat)", ann.join(group))
  const welcome = yield* ann.sees
  if (welcome._tag === "Message") {
    yield* ann.does("(presses I am a person)", ann.press(welcome.message, "I am a person"))
  }
  yield* ann.sees
  yield* ann.sees
  yield* ben.does("(joins the chat)", ben.join(group))
  yield* ann.sees
  yield* program.stop
  const restarted = yield* Runner.start("moderation", settings)
  yield* ann.sees
  yield* ann.sees
  const { body } = yield* ann.does("Buy my tea", ann.send(group, "Buy my tea"))
  yield* olga.does("/warn", olga.send(group, "/warn", { link: { type: "reply", mid: body!.mid } }))
  yield* ann.sees
  yield* restarted.stop
})
