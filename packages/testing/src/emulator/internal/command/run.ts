import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Console from "effect/Console"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { hasProperty } from "effect/Predicate"
import { Emulator, layer as emulatorLayer } from "../../Emulator.ts"
import * as EmulatorServer from "../../EmulatorServer.ts"
import * as NodeWebhookSender from "../../NodeWebhookSender.ts"
import { WebhookSender } from "../../WebhookSender.ts"
import { defaultToken } from "../../EmulatorOptions.ts"
import { errorBodyFor } from "../http/refusal.ts"
import { type Listener, respond, type Handler } from "../../EmulatorHttp.ts"
import { RealTimeClock, type SteppedClock, StoppableClock } from "./clock.ts"
import type { Emulated } from "../mcp/tool.ts"
import { headerLine, type Journal, readJournal } from "./journal.ts"
import { type Settings, toEmulatorOptions } from "./options.ts"
import { replay } from "./playback.ts"
import { commandError, type CommandError, openLines, readCertificate, reasonOf } from "./files.ts"
import { runProgram } from "./program.ts"
import { makeRecorder } from "./recording.ts"
import { loadSeed } from "./seed.ts"

/** Serves the tools until standard input ends. */
const serveTools = (emulated: Emulated, token: string) =>
  // Most runs do not need this module.
  Effect.flatMap(
    Effect.promise(() => import("../mcp/server.ts")),
    ({ layer }) => Layer.launch(layer(emulated, token))
  ).pipe(
    Effect.catchTag("IllegalArgumentError", (error) => commandError(`--mcp: ${error.message}`)),
    Effect.catchCause((cause) => (Cause.hasInterruptsOnly(cause) ? Effect.void : Effect.failCause(cause)))
  )

// With a journal, time moves in steps, so that a replay can repeat them.
const makeClock = ({ isVirtual, record }: Settings, journal: Journal | undefined) =>
  Effect.map(Clock.Clock, (system): SteppedClock => {
    const start = journal?.header.started_at ?? Math.floor(system.currentTimeMillisUnsafe())
    if (isVirtual) return new StoppableClock(system, start, false)
    return record === undefined && journal === undefined
      ? new StoppableClock(system, start)
      : new RealTimeClock(system, start)
  })

const makeEmulator = Effect.fnUntraced(function* (
  settings: Settings,
  tokens: ReadonlyArray<string>,
  clock: SteppedClock
) {
  const { webhookCas: paths, webhookTo: connectTo } = settings
  const extraCa = yield* Effect.forEach(paths, (path) => readCertificate("--webhook-ca", path))
  const { send } = yield* NodeWebhookSender.make({ extraCa, connectTo })
  const services = yield* Layer.build(emulatorLayer(toEmulatorOptions(settings, tokens))).pipe(
    Effect.provideService(WebhookSender, { send: (request) => clock.track(send(request)) }),
    Effect.provideService(Clock.Clock, clock)
  )
  return Context.get(services, Emulator)
})

const unavailable = { code: "service.unavailable", message: "The emulator is not ready yet" }

const notReady: Handler = ({ listener }) => Effect.succeed(respond(503, errorBodyFor(listener.kind, unavailable)))

/** The port that a system error concerns. */
const portIn = (cause: unknown): unknown => (hasProperty(cause, "port") ? cause.port : undefined)

const listen = ({ allowedHosts, host, port, uploadPorts }: Settings, emulator: Emulator["Service"], handle: Handler) =>
  EmulatorServer.make({ allowedHosts, host, port, uploadPorts }).pipe(
    Effect.provideService(Emulator, { ...emulator, handle }),
    Effect.mapError(({ cause }) => commandError(`${host}:${portIn(cause) ?? port}: ${reasonOf(cause)}`))
  )

/** The first lines: for a person who writes the bot of a module, or for a program that needs the settings of a bot. */
const greeting = ({ bot, isJson }: Settings, url: string, uploads: Listener["uploads"], token: string): string => {
  const page = `${url}/_emulator/ui`
  if (isJson) return JSON.stringify({ url, uploads, token, page })
  return bot === undefined
    ? `The platform is at ${url} for the token ${token}\nThe page is at ${page}`
    : `Open ${page} to write to the bot.\nEdit ${bot} to change the bot.`
}

/** Runs the emulator until it is interrupted, until its program ends or, with `--mcp`, until standard input ends. */
export const run = Effect.fnUntraced(function* (settings: Settings) {
  const { isMcp, program, record } = settings
  const journal = settings.replay === undefined ? undefined : yield* readJournal(settings.replay)
  const configured = settings.tokens.length > 0 ? settings.tokens : (journal?.header.tokens ?? [])
  const tokens = configured.length > 0 ? configured : [defaultToken]
  const clock = yield* makeClock(settings, journal)
  const emulator = yield* makeEmulator(settings, tokens, clock)

  const emulate: Handler = (request) => Effect.provideService(emulator.handle(request), Clock.Clock, clock)
  const write = record === undefined ? undefined : yield* openLines("--record", record)
  if (write !== undefined) yield* write(headerLine({ started_at: clock.currentTimeMillisUnsafe(), tokens }))
  const stopped = yield* Deferred.make<never, CommandError>()
  const handle: Handler =
    write === undefined
      ? (request) => Effect.andThen(clock.tick, emulate(request))
      : makeRecorder(emulate, clock, (line) => Effect.catch(write(line), (problem) => Deferred.fail(stopped, problem)))

  let current = notReady
  const { uploads, url } = yield* listen(settings, emulator, (request) => current(request))
  const different = journal === undefined ? 0 : yield* replay(journal, handle, clock, uploads)
  if (different > 0) {
    yield* Effect.logWarning(`--replay ${settings.replay}: ${different} responses had a different status`)
  }
  yield* clock.follow
  yield* loadSeed(settings.seed, handle, uploads)
  current = handle

  const token = tokens[0]!
  // Standard output is for the protocol, or for the program.
  const print = isMcp || program.length > 0 ? Console.error : Console.log
  yield* print(greeting(settings, url, uploads, token))
  const failed = Deferred.await(stopped)
  if (program.length > 0) return yield* Effect.raceFirst(runProgram(program, url, token), failed)
  return yield* isMcp ? Effect.raceFirst(serveTools({ handle, uploads, url }, token), failed) : failed
}, Effect.scoped)
