import type * as Bot from "@colloquy/core/bot/Bot"
import type { Part } from "@colloquy/core/inbox/Handler"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { type CommandFailed, invalid, toFailure } from "./failure.ts"
import { Process } from "./settings.ts"

export type AnyBot = Bot.Bot<unknown, unknown>

// The module has its own copy of Colloquy, so the bot is recognized by its data.
const isBot = (value: unknown): value is AnyBot =>
  typeof value === "function" && "parts" in value && Array.isArray(value.parts)

const problemOf = (exported: unknown): string => {
  if (exported === undefined) return "the module exports no `bot`. Export it: `export const bot = Bot.make(…)`."
  return Effect.isEffect(exported)
    ? "the export `bot` is a program, which has no list of parts. Export the bot that the program runs too: `export const parts = Bot.make(…)` and `export const bot = Bot.run(parts)`."
    : "the export `bot` is not a bot. Export the value of Bot.make: `export const bot = Bot.make(…)`."
}

/** The bot of a module, and the exports for a rehearsal and for a simulation of the bot. */
export interface Program {
  readonly bot: AnyBot
  /** The name of the export. */
  readonly name: "bot" | "parts"
  /** The path of the module. */
  readonly path: string
  /** The options with which the bot is simulated. */
  readonly simulation: object | undefined
  readonly services: Layer.Layer<never, unknown>
}

type Exports = Readonly<Partial<Record<"bot" | "parts" | "rehearsal" | "simulation", unknown>>>

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null

const isLayer = (value: unknown): value is Layer.Layer<never, unknown> => Layer.isLayer(value)

/** Imports the bot of a module: its export `bot`, or `parts` if `bot` is the program. */
export const importProgram = (file: string): Effect.Effect<Program, CommandFailed, Process> =>
  Effect.gen(function* () {
    const { cwd } = yield* Process
    const path = resolve(cwd, file)
    const module: Exports = yield* Effect.tryPromise({
      try: () => import(pathToFileURL(path).href),
      catch: (error) => invalid(`${file} cannot be imported: ${toFailure(error).message}`)
    })
    const bot = [module.bot, module.parts].find(isBot)
    if (bot === undefined) return yield* invalid(`${file}: ${problemOf(module.bot)}`)
    const { rehearsal = Layer.empty } = module
    const name = bot === module.bot ? "bot" : "parts"
    const simulation = isObject(module.simulation) ? module.simulation : undefined
    if (isLayer(rehearsal)) return { bot, name, path, services: rehearsal, simulation }
    return yield* invalid(
      `${file}: the export \`rehearsal\` is not a layer. Export the services of a rehearsal as a layer.`
    )
  })

/** Imports the bot of a module. */
export const importBot = (file: string) => Effect.map(importProgram(file), ({ bot }) => bot)

/** The parts that the author of the bot has named. */
export const shownParts = ({ parts }: AnyBot): ReadonlyArray<Pick<Part, "description" | "kind" | "name">> =>
  parts
    .filter(({ kind }) => kind !== "outdated")
    .map(({ description, kind, name }) => ({ kind, name, ...(description === undefined ? {} : { description }) }))
