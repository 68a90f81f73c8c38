import { ChatStore } from "@colloquy/core"
import { NodeSqlite, SqlChatStore } from "@colloquy/node"
import { Emulator } from "@colloquy/testing"
import { Effect, Layer } from "effect"
import * as Runner from "../runner/scenario.ts"

export const scenario: Runner.Scenario = Effect.gen(function* () {
  const bot = yield* Runner.botSettings
  const [ann, ben, cleo] = yield* Effect.forEach(["Ann", "Ben", "Cleo"], (name) => Runner.user(name))
  for (const user of [ann, ben, cleo]) yield* user.opens

  // The chats that `webhook.ts` would have stored.
  const chats = SqlChatStore.layer().pipe(Layer.provide(NodeSqlite.layer({ filename: bot.BOT_INBOX })))
  yield* Effect.flatMap(Emulator.updates, ChatStore.upsert).pipe(Effect.provide(chats))

  yield* cleo.does("(stops the bot)", cleo.stop)
  const news = { ...bot, NAME: "news of May", TEXT: "The library is open again." }
  const first = yield* Runner.start("broadcast", news)
  yield* ann.sees
  yield* ben.sees
  yield* first.exited
})
