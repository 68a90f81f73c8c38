import { NodeBot, NodeInbox, NodeMain, NodeWebhook } from "@colloquy/node"
import { Effect, Layer } from "effect"
import { bot } from "./bot.ts"

// The tables of the bot are in the file of the inbox.
const stores = Layer.merge(NodeBot.layerConfig(), NodeInbox.layerSqlConfig())

const platform = NodeWebhook.layerConfig().pipe(Layer.provideMerge(stores))

NodeMain.runMain(Effect.provide(bot, platform))
