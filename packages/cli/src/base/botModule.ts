import type * as Bot from "@colloquy/core/bot/Bot"
import type { Part } from "@colloquy/core/inbox/Handler"
import * as Effect from "effect/Effect"
import { resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { type CommandFailed, invalid, toFailure } from "./failure.ts"
import { Process } from "./settings.ts"

type AnyBot = Bot.Bot<unknown, unknown>

// The module has its own copy of Colloquy, so the bot is recognized by its data.
const isBot = (value: unknown): value is AnyBot =>
  typeof value === "function" && "parts" in value && Array.isArray(value.parts)

const problemOf = (exported: unknown): string => {
  if (exported === undefined) return "the module exports no `bot`. Export it: `export const bot = Bot.make(…)`."
  return Effect.isEffect(exported)
    ? "the export `bot` is a program, which has no list of parts. Export the bot that the program runs too: `export const parts = Bot.make(…)` and `export const bot = Bot.run(parts)`."
    : "the export `bot` is not a bot. Export the value of Bot.make: `export const bot = Bot.make(…)`."
}

/** Imports the bot of a module: its export `bot`, or `parts` if `bot` is the program. */
export const importBot = (file: string): Effect.Effect<AnyBot, CommandFailed, Process> =>
  Effect.gen(function* () {
    const { cwd } = yield* Process
    const module: { readonly bot?: unknown; readonly parts?: unknown } = yield* Effect.tryPromise({
      try: () => import(pathToFileURL(resolve(cwd, file)).href),
      catch: (error) => invalid(`${file} cannot be imported: ${toFailure(error).message}`)
    })
    const bot = [module.bot, module.parts].find(isBot)
    return bot ?? (yield* invalid(`${file}: ${problemOf(module.bot)}`))
  })

/** The parts that the author of the bot has named. */
export const shownParts = ({ parts }: AnyBot): ReadonlyArray<Pick<Part, "description" | "kind" | "name">> =>
  parts
    .filter(({ kind }) => kind !== "outdated")
    .map(({ description, kind, name }) => ({ kind, name, ...(description === undefined ? {} : { description }) }))
