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
import { atDoor } from "../http/shape.ts"
import { type Listener, respond, type Handler } from "../../EmulatorHttp.ts"
import { FollowingClock, StandingClock, type SteppedClock } from "./clock.ts"
import { openLines, readCertificate, readFile } from "./files.ts"
import { headerLine, type Journal, readJournal } from "./journal.ts"
import type { Settings } from "./options.ts"
import { playBack } from "./playback.ts"
import { type CommandProblem, problem, reasonOf } from "./problem.ts"
import { platformOptions } from "./platformOptions.ts"
import { recording } from "./recording.ts"
import { plant } from "./seed.ts"

const loadJournal = (path: string | undefined): Effect.Effect<Journal | undefined, CommandProblem> =>
  path === undefined ? Effect.undefined : Effect.flatMap(readFile("--replay", path), (text) => readJournal(path, text))

// Without a journal and without virtual time, the emulator runs on the clock that everything runs on.
const makeClock = ({ isVirtual, record }: Settings, journal: Journal | undefined) =>
  Effect.clockWith((wall) =>
    Effect.sync((): SteppedClock | undefined => {
      const start = journal?.header.started_at ?? Math.floor(wall.currentTimeMillisUnsafe())
      if (isVirtual) return new StandingClock(wall, start)
      return record === undefined && journal === undefined ? undefined : new FollowingClock(wall, start)
    })
  )

const onClock =
  (clock: SteppedClock | undefined) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    clock === undefined ? effect : Effect.provideService(effect, Clock.Clock, clock)

const ticking = (clock: SteppedClock | undefined): Effect.Effect<void> =>
  clock instanceof FollowingClock ? clock.tick : Effect.void

const senders = (options: NodeWebhookSender.Options, clock: SteppedClock | undefined) =>
  Layer.effect(
    WebhookSender,
    Effect.map(WebhookSender, ({ send }) => ({
      send: (request: Parameters<typeof send>[0]) =>
        clock === undefined ? send(request) : clock.holding(send(request))
    }))
  ).pipe(Layer.provide(NodeWebhookSender.layer(options)))

const makeEmulator = Effect.fnUntraced(function* (
  settings: Settings,
  tokens: ReadonlyArray<string>,
  clock: SteppedClock | undefined
) {
  const { webhookRoots: paths, webhookTo: connectTo } = settings
  const extraCa = yield* Effect.forEach(paths, (path) => readCertificate("--webhook-root", path))
  const platform = emulatorLayer(platformOptions(settings, tokens)).pipe(
    Layer.provide(senders({ extraCa, connectTo }, clock))
  )
  return Context.get(yield* onClock(clock)(Layer.build(platform)), Emulator)
})

const replay = (
  path: string | undefined,
  journal: Journal | undefined,
  handle: Handler,
  clock: SteppedClock | undefined,
  uploads: Listener["uploads"]
) =>
  Effect.gen(function* () {
    if (journal === undefined || clock === undefined) return
    const different = yield* playBack(journal, handle, clock, uploads)
    if (different > 0)
      yield* Effect.logWarning(`--replay ${path}: ${different} calls were answered with another status`)
  })

const unavailable = { code: "service.unavailable", message: "The emulator is not ready yet" }

const notReady: Handler = ({ listener }) => Effect.succeed(respond(503, atDoor(listener.kind, unavailable)))

/** Which of the ports an error of the system is about. */
const portIn = (cause: unknown): unknown => (hasProperty(cause, "port") ? cause.port : undefined)

const listen = ({ host, port, uploadPorts }: Settings, emulator: Emulator["Service"], handle: Handler) =>
  Layer.build(
    EmulatorServer.layer({ host, port, uploadPorts }).pipe(
      Layer.provide(Layer.succeed(Emulator, { ...emulator, handle }))
    )
  ).pipe(
    Effect.mapError(({ cause }) => problem(`${host}:${portIn(cause) ?? port}: ${reasonOf(cause)}`)),
    Effect.map(Context.get(EmulatorServer.EmulatorServer))
  )

/** Runs the emulator until it is interrupted. */
export const run = Effect.fnUntraced(function* (settings: Settings) {
  const { isJson, record } = settings
  const journal = yield* loadJournal(settings.replay)
  const given = settings.tokens.length > 0 ? settings.tokens : (journal?.header.tokens ?? [])
  const tokens = given.length > 0 ? given : [defaultToken]
  const clock = yield* makeClock(settings, journal)
  const emulator = yield* makeEmulator(settings, tokens, clock)

  const answer: Handler = (request) => onClock(clock)(emulator.handle(request))
  const write = record === undefined ? undefined : yield* openLines("--record", record)
  if (write !== undefined) yield* write(headerLine({ started_at: clock!.currentTimeMillisUnsafe(), tokens }))
  const stopped = yield* Deferred.make<never, CommandProblem>()
  const handle: Handler =
    clock === undefined
      ? answer
      : write === undefined
        ? (request) => Effect.andThen(ticking(clock), answer(request))
        : recording(answer, clock, ticking(clock), (line) =>
            Effect.catch(write(line), (problem) => Deferred.fail(stopped, problem))
          )

  let answering = notReady
  const { uploads, url } = yield* listen(settings, emulator, (request) => answering(request))
  yield* replay(settings.replay, journal, handle, clock, uploads)
  if (clock instanceof FollowingClock) yield* clock.follow
  yield* plant(settings.seed, handle, uploads)
  answering = handle

  const [token] = tokens
  yield* Console.log(
    isJson ? JSON.stringify({ url, uploads, token }) : `The platform is at ${url} for the token ${token}`
  )
  return yield* Deferred.await(stopped)
}, Effect.scoped)
