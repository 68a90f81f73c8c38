import { ChatStore } from "@colloquy/core"
import { NodeSqlite, SqlChatStore } from "@colloquy/node"
import { Emulator } from "@colloquy/testing"
import { Effect, Layer } from "effect"
import * as Stage from "../stage/stage.ts"

export const scene: Stage.Scene = Effect.gen(function* () {
  const bot = yield* Stage.bot
  const [ann, ben, cleo] = yield* Effect.forEach(["Ann", "Ben", "Cleo"], Stage.person)
  for (const person of [ann, ben, cleo]) yield* person.opens

  // What `webhook.ts` would have learnt.
  const chats = SqlChatStore.layer().pipe(Layer.provide(NodeSqlite.layer({ filename: bot.BOT_INBOX })))
  yield* Effect.flatMap(Emulator.updates, ChatStore.upsert).pipe(Effect.provide(chats))

  yield* cleo.does("(stops the bot)", cleo.stop)
  const news = { ...bot, NAME: "news of May", TEXT: "The library is open again." }
  const first = yield* Stage.start("broadcast", news)
  yield* ann.sees
  yield* ben.sees
  yield* first.ended
})
