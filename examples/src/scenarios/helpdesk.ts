import { Emulator } from "@colloquy/testing"
import { Effect } from "effect"
import * as Runner from "../runner/scenario.ts"

export const scenario: Runner.Scenario = Effect.gen(function* () {
  const { BOT_TOKEN, ...settings } = yield* Runner.botSettings
  const [, staffBot] = yield* Emulator.bots
  const ann = yield* Runner.user("Ann")
  const staff = yield* Runner.user("Staff", staffBot)
  const { chat_id } = yield* staff.opens
  const program = yield* Runner.start("helpdesk", {
    ...settings,
    CUSTOMERS_TOKEN: BOT_TOKEN,
    STAFF_TOKEN: Runner.secondToken,
    STAFF_CHAT: String(chat_id)
  })
  yield* ann.says("Where is my order?")
  yield* ann.sees
  const question = yield* staff.sees
  if (question._tag === "Message") {
    const text = "It arrives today."
    const link = { type: "reply", mid: question.message.body!.mid } as const
    yield* staff.does(text, staff.send(text, { link }))
  }
  yield* ann.sees
  yield* staff.sees
  yield* program.stop
})
