import { Emulator } from "@colloquy/testing"
import { Effect } from "effect"
import * as Runner from "../runner/scenario.ts"

export const scenario: Runner.Scenario = Effect.gen(function* () {
  const ann = yield* Runner.user("Ann")
  const olga = yield* Runner.user("Olga")
  const group = yield* Emulator.chat({ owner: olga, bot: { admin: true } })
  const settings = { ...(yield* Runner.botSettings), STAFF_CHAT: String(group.chat_id) }
  const program = yield* Runner.start("desk", settings)
  yield* ann.says("Where is my order?")
  const question = yield* olga.sees
  yield* ann.sees
  yield* olga.does("/waiting", olga.send(group, "/waiting"))
  yield* olga.sees
  if (question._tag === "Message") {
    const text = "It arrives today."
    const link = { type: "reply", mid: question.message.body!.mid } as const
    yield* olga.does(text, olga.send(group, text, { link }))
  }
  yield* ann.sees
  yield* olga.sees
  yield* program.stop
})
