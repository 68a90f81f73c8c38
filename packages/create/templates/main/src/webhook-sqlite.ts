import { NodeBot, NodeMain, NodeWebhook } from "@colloquy/node"
import { Effect, Layer } from "effect"
import { bot } from "./bot.ts"

const platform = NodeWebhook.layerConfig().pipe(Layer.provideMerge(NodeBot.layerConfig()))

NodeMain.runMain(Effect.provide(bot, platform))
