import { Effect } from "effect"
import * as Runner from "../runner/scenario.ts"

export const scenario: Runner.Scenario = Effect.gen(function* () {
  const bot = yield* Runner.botSettings
  const ann = yield* Runner.user("Ann")
  const dialog = yield* ann.opens
  const send = (chat_id: number, text: string) =>
    Effect.flatMap(Runner.start("send", { ...bot, CHAT_ID: String(chat_id), TEXT: text }), ({ exited }) => exited)

  yield* send(dialog.chat_id, "Good morning, Ann")
  yield* ann.sees
  yield* send(dialog.chat_id, "Good morning! ".repeat(300))
  yield* ann.does("(stops the bot)", ann.stop)
  yield* send(dialog.chat_id, "Are you there?")
  yield* send(4242, "Is anybody there?")
})
