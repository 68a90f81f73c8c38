/**
 * `npm start`: the emulator on a free port, the echo bot against it by HTTP and long polling, and you.
 */
import { LongPolling } from "@colloquy/core"
import { NodeBot } from "@colloquy/node"
import { Emulator, EmulatorServer } from "@colloquy/testing"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Effect, Layer, Logger } from "effect"
import { bot } from "./echo.ts"
import { converse } from "./start/converse.ts"
import { script } from "./start/script.ts"

const token = "emulator-token"

const platform = EmulatorServer.layer().pipe(Layer.provideMerge(Emulator.layer({ token, botName: "Echo" })))

// The conversation has the screen, so the log goes to standard error.
const log = Logger.layer([Logger.withConsoleError(Logger.formatLogFmt)])

const main = Effect.gen(function* () {
  const { url } = yield* EmulatorServer.EmulatorServer
  const connection = LongPolling.layer().pipe(Layer.provideMerge(NodeBot.layer({ token, baseUrl: url })))
  const isAlone = process.stdin.isTTY !== true
  yield* Effect.raceFirst(isAlone ? script : converse(url), Effect.provide(bot, connection))
})

NodeRuntime.runMain(Effect.scoped(main).pipe(Effect.provide(Layer.merge(platform, log))))
