import { fingerprintOf } from "@colloquy/core/inbox/QueuedUpdate"
import type { Part } from "@colloquy/core/inbox/Handler"
import type { Entry } from "@colloquy/core/inbox/UpdateLog"
import * as Effect from "effect/Effect"
import { hasProperty } from "effect/Predicate"
import { existsSync, mkdirSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import type { Exchange } from "../../EmulatorHttp.ts"
import * as refusal from "../http/refusal.ts"
import { headersIn, textBody } from "../http/wire.ts"
import { emit } from "../platform/events.ts"
import type { BotState, PlatformState } from "../platform/state.ts"
import { idOf } from "../platform/users.ts"
import { defined } from "../platform/validation.ts"
import { type Handlers, success } from "./call.ts"

/** The parts of a bot, which has its own copy of the library, so the bot is recognized by its data. */
const partsIn = (exported: unknown): ReadonlyArray<Part> | undefined =>
  hasProperty(exported, "parts") && Array.isArray(exported.parts)
    ? (exported.parts as ReadonlyArray<Part>).filter(({ kind }) => kind !== "outdated")
    : undefined

/** Imports the module of the bot, as `colloquy describe` does. The module may change while the emulator runs. */
const readParts = Effect.fnUntraced(function* (module: string | undefined) {
  if (module === undefined) return { parts: [], problem: "The emulator does not know the module of the bot." }
  const imported = yield* Effect.result(
    Effect.tryPromise(() => import(/* @vite-ignore */ module) as Promise<Readonly<Record<string, unknown>>>)
  )
  if (imported._tag === "Failure") return { parts: [], problem: `${module} cannot be imported.` }
  const { bot, parts } = imported.success
  const found = partsIn(parts) ?? partsIn(bot)
  if (found === undefined)
    return { parts: [], problem: "The module exports no list of parts: export const parts = Bot.make(…)." }
  return { parts: found.map(({ description, kind, name }) => ({ kind, name, ...defined({ description }) })) }
})

const notSendable = refusal.of(
  409,
  "request.lost",
  "Only requests to an endpoint can be sent again: an upload is not kept"
)

const toRequest = ({ body, headers, method, path, query }: Exchange) => ({
  method,
  path,
  query,
  headers: { ...headersIn({ headers }), "content-length": String(new TextEncoder().encode(body ?? "").byteLength) },
  body: textBody(body ?? "")
})

/** The updates of a bot in which a handled update is searched. */
const maxSearched = 1000

/** Records which updates a bot has handled. Timers, which the bot sends itself, are not among its updates. */
const recordHandled = (state: PlatformState, bot: BotState, entries: ReadonlyArray<Entry>): void => {
  const { end } = bot.updates
  const updates = bot.updates.from(end - maxSearched)
  for (const { attempt, chat_id, endedAt, error, fingerprint, outcome, part, startedAt } of entries) {
    const index = updates.findLastIndex(({ update }) => fingerprintOf(update) === fingerprint)
    if (index < 0) continue
    emit(state, {
      type: "handled",
      bot_id: idOf(bot.user),
      number: end - updates.length + index,
      outcome,
      attempt,
      took: endedAt - startedAt,
      ...defined({ chat_id, part, error })
    })
  }
}

const noFolder = refusal.of(
  409,
  "tests.no.folder",
  "The emulator does not know where the tests are: start colloquy-emulator with --bot"
)

/** A path in a folder that no file has yet. */
const freePath = (folder: URL, name: string): URL => {
  for (let number = 1; ; number++) {
    const url = new URL(`${name}${number === 1 ? "" : `-${number}`}.test.ts`, folder)
    if (!existsSync(fileURLToPath(url))) return url
  }
}

/** Calls for the author of a bot who works with the page. */
export const developmentHandlers = {
  listParts: (_, { botModule }) => readParts(botModule),
  repeatRequest: Effect.fnUntraced(function* ({ number }, { listener, serve, state }) {
    const [exchange] = state.exchanges.from(number)
    if (exchange === undefined || exchange.number !== number) return yield* refusal.notFound(`Request ${number}`)
    if (exchange.endpoint === undefined) return yield* notSendable
    const { status } = yield* Effect.catch(serve({ ...toRequest(exchange), listener }), () =>
      Effect.succeed({ status: null })
    )
    return { status }
  }),
  reportHandled: Effect.fnUntraced(function* ({ entries }, { headers, state }) {
    const bot = state.bots.get(headers["authorization"] ?? "")
    if (bot === undefined) return yield* refusal.unauthorized("Invalid access token")
    recordHandled(state, bot, entries)
    return success
  }),
  saveTest: Effect.fnUntraced(function* ({ name, text }, { testFolder }) {
    if (testFolder === undefined) return yield* noFolder
    const folder = new URL(testFolder.endsWith("/") ? testFolder : `${testFolder}/`)
    const path = yield* Effect.sync(() => {
      mkdirSync(fileURLToPath(folder), { recursive: true })
      const file = fileURLToPath(freePath(folder, name))
      writeFileSync(file, text, { flag: "wx" })
      return file
    })
    return { path }
  })
} satisfies Partial<Handlers>
