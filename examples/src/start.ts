/**
 * `npm start`: talk to a bot in the terminal. The bot runs against the emulator by HTTP and long polling. It is the echo
 * bot, or the export `bot` of the module that `npm start -- FILE` names. Without a terminal, the lines of standard input are
 * said; if there are none, a fixed conversation is run.
 * `npm start -- --open` opens the page of the emulator in a browser, and runs until ctrl-c.
 */
import { Inbox, LongPolling } from "@colloquy/core"
import { NodeBot } from "@colloquy/node"
import { Emulator, EmulatorOptions, EmulatorServer } from "@colloquy/testing"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { ConfigProvider, Console, Effect, Layer, Logger } from "effect"
import { resolve } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { interactive } from "./start/interactive.ts"
import { loadBot } from "./start/loadBot.ts"
import { openBrowser } from "./start/openBrowser.ts"
import { readOptions } from "./start/options.ts"
import { piped } from "./start/piped.ts"

const token = "emulator-token"

const { file = fileURLToPath(new URL("./echo.ts", import.meta.url)), opensPage } = readOptions(process.argv.slice(2))

const botModule = pathToFileURL(resolve(file)).href

// The page has the limits of the platform and a clock that can be moved. The conversation in the terminal is quick.
const emulator = opensPage
  ? Emulator.layer({
      token,
      botModule,
      testFolder: new URL("../test", botModule).href,
      limits: EmulatorOptions.platformLimits
    }).pipe(Layer.provideMerge(EmulatorServer.layerClock))
  : Emulator.layer({ token, botModule })

const platform = EmulatorServer.layer().pipe(Layer.provideMerge(emulator))

// Standard output shows the conversation, so the log goes to standard error.
const log = Logger.layer([Logger.withConsoleError(Logger.formatLogFmt)])

const main = Effect.gen(function* () {
  const bot = yield* Effect.tapError(loadBot(file), (error) => Console.error(error.message))
  const { url } = yield* EmulatorServer.EmulatorServer
  const connection = LongPolling.layer().pipe(
    Layer.provideMerge(Layer.merge(NodeBot.layer({ token, baseUrl: url }), Inbox.layerMemory())),
    Layer.provideMerge(ConfigProvider.layerAdd(ConfigProvider.fromUnknown({ BOT_EMULATOR: "true" })))
  )
  const page = `${url}/_emulator/ui`
  if (opensPage) {
    yield* Emulator.user(process.env["USER"] ?? "You")
    yield* Console.log(`The page of the emulator is at ${page}. Ctrl-c exits.`)
    yield* openBrowser(page)
  }
  const inTerminal = process.stdin.isTTY
    ? interactive(page, { input: process.stdin, output: process.stdout })
    : piped(process.stdin)
  const conversation = opensPage ? Effect.never : inTerminal
  yield* Effect.provide(Effect.raceFirst(conversation, bot), connection)
})

NodeRuntime.runMain(Effect.scoped(main).pipe(Effect.provide(Layer.merge(platform, log))))
