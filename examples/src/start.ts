/**
 * `npm start`: talk to a bot in the terminal. The bot runs against the emulator by HTTP and long polling. It is the echo
 * bot, or the export `bot` of the module that `npm start -- FILE` names. Without a terminal, a fixed conversation is run.
 */
import { Inbox, LongPolling } from "@colloquy/core"
import { NodeBot } from "@colloquy/node"
import { Emulator, EmulatorServer } from "@colloquy/testing"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, Effect, Layer, Logger } from "effect"
import { fileURLToPath } from "node:url"
import { interactive } from "./start/interactive.ts"
import { loadBot } from "./start/loadBot.ts"
import { scripted } from "./start/scripted.ts"

const token = "emulator-token"

const file = process.argv[2] ?? fileURLToPath(new URL("./echo.ts", import.meta.url))

const platform = EmulatorServer.layer().pipe(Layer.provideMerge(Emulator.layer({ token })))

// Standard output shows the conversation, so the log goes to standard error.
const log = Logger.layer([Logger.withConsoleError(Logger.formatLogFmt)])

const main = Effect.gen(function* () {
  const bot = yield* Effect.tapError(loadBot(file), (error) => Console.error(error.message))
  const { url } = yield* EmulatorServer.EmulatorServer
  const connection = LongPolling.layer().pipe(
    Layer.provideMerge(Layer.merge(NodeBot.layer({ token, baseUrl: url }), Inbox.layerMemory()))
  )
  const conversation = process.stdin.isTTY
    ? interactive(url, { input: process.stdin, output: process.stdout })
    : scripted
  yield* Effect.raceFirst(conversation, Effect.provide(bot, connection))
})

NodeRuntime.runMain(Effect.scoped(main).pipe(Effect.provide(Layer.merge(platform, log))))
