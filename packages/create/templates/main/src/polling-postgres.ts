import { LongPolling } from "@colloquy/core"
import { NodeBot, NodeMain } from "@colloquy/node"
import { Effect, Layer } from "effect"
import { bot } from "./bot.ts"
import { inbox, limiter } from "./stores.ts"

const client = NodeBot.layerClientConfig().pipe(Layer.provideMerge(limiter))

const platform = LongPolling.layer().pipe(Layer.provideMerge(Layer.merge(client, inbox)))

NodeMain.runMain(Effect.provide(bot, platform))
