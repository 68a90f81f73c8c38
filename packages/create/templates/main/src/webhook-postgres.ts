import { NodeBot, NodeMain, NodeWebhook } from "@colloquy/node"
import { Effect, Layer } from "effect"
import { bot } from "./bot.ts"
import { inbox, limiter } from "./stores.ts"

const client = NodeBot.layerClientConfig().pipe(Layer.provideMerge(limiter))

const platform = NodeWebhook.layerConfig().pipe(Layer.provideMerge(Layer.merge(client, inbox)))

NodeMain.runMain(Effect.provide(bot, platform))
