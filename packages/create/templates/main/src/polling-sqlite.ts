import { LongPolling } from "@colloquy/core"
import { NodeBot, NodeMain } from "@colloquy/node"
import { Effect, Layer } from "effect"
import { bot } from "./bot.ts"

const platform = LongPolling.layer().pipe(Layer.provideMerge(NodeBot.layerConfig()))

NodeMain.runMain(Effect.provide(bot, platform))
