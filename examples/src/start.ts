/**
 * `npm start`: the emulator on a free port, a bot against it by HTTP and long polling, and you. The bot is the echo bot,
 * or the export `bot` of the module that `npm start -- FILE` names.
 */
import { Inbox, LongPolling } from "@colloquy/core"
import { NodeBot } from "@colloquy/node"
import { Emulator, EmulatorServer } from "@colloquy/testing"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, Effect, Layer, Logger } from "effect"
import { fileURLToPath } from "node:url"
import { converse } from "./start/converse.ts"
import { loadBot } from "./start/loadBot.ts"
import { script } from "./start/script.ts"

const token = "emulator-token"

const file = process.argv[2] ?? fileURLToPath(new URL("./echo.ts", import.meta.url))

const platform = EmulatorServer.layer().pipe(Layer.provideMerge(Emulator.layer({ token })))

// The conversation has the screen, so the log goes to standard error.
const log = Logger.layer([Logger.withConsoleError(Logger.formatLogFmt)])

const main = Effect.gen(function* () {
  const bot = yield* Effect.tapError(loadBot(file), (error) => Console.error(error.message))
  const { url } = yield* EmulatorServer.EmulatorServer
  const connection = LongPolling.layer().pipe(
    Layer.provideMerge(Layer.merge(NodeBot.layer({ token, baseUrl: url }), Inbox.layerMemory()))
  )
  const isAlone = process.stdin.isTTY !== true
  const conversation = isAlone ? script : converse(url, { input: process.stdin, output: process.stdout })
  yield* Effect.raceFirst(conversation, Effect.provide(bot, connection))
})

NodeRuntime.runMain(Effect.scoped(main).pipe(Effect.provide(Layer.merge(platform, log))))
