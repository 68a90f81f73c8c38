import { Effect } from "effect"
import * as Stage from "../stage/stage.ts"

export const scene: Stage.Scene = Effect.gen(function* () {
  const bot = yield* Stage.bot
  const ann = yield* Stage.person("Ann")
  const dialog = yield* ann.opens
  const send = (chat_id: number, text: string) =>
    Effect.flatMap(Stage.start("send", { ...bot, CHAT_ID: String(chat_id), TEXT: text }), ({ ended }) => ended)

  yield* send(dialog.chat_id, "Good morning, Ann")
  yield* ann.sees
  yield* send(dialog.chat_id, "Good morning! ".repeat(300))
  yield* ann.does("(stops the bot)", ann.stop)
  yield* send(dialog.chat_id, "Are you there?")
  yield* send(4242, "Is anybody there?")
})
