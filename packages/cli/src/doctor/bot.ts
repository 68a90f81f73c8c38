import * as Bot from "@colloquy/core/bot/Bot"
import * as Me from "@colloquy/core/endpoints/Me"
import * as Effect from "effect/Effect"
import { type AnyBot, importBot, shownParts } from "../base/botModule.ts"
import { ok, type Outcome, problem, skipped, warning } from "./check.ts"

const slash = (names: ReadonlyArray<string>): string => names.map((name) => `/${name}`).join(", ")

/** The bot of a module, with the check that lists its parts. */
export const checkParts = (file: string) =>
  importBot(file).pipe(
    Effect.map((bot) => {
      const parts = shownParts(bot).map(({ kind, name }) => `${kind} ${kind === "command" ? "/" : ""}${name}`)
      return { bot, check: ok([...new Set(parts)].join(", ") || "the bot has no parts") }
    }),
    Effect.orElseSucceed(({ message }) => ({
      bot: undefined,
      check: problem(message, "Correct the module, or pass the module of the bot to --bot.")
    }))
  )

const differences = (bot: AnyBot, published: ReadonlyArray<Me.NewCommand>): ReadonlyArray<string> => {
  const own = new Set(bot.parts.filter(({ kind }) => kind === "command").map(({ name }) => name))
  const descriptions = new Map(published.map(({ description, name }) => [name, description ?? undefined]))
  const described = Bot.commands(bot)
  const missing = described.filter(({ name }) => !descriptions.has(name))
  const changed = described.filter(
    ({ description, name }) => descriptions.has(name) && descriptions.get(name) !== description
  )
  const unknown = published.filter(({ name }) => !own.has(name))
  const shown = (title: string, commands: ReadonlyArray<Me.NewCommand>) =>
    commands.length === 0 ? [] : [`${title} ${slash(commands.map(({ name }) => name))}`]
  return [
    ...shown("the platform does not have", missing),
    ...shown("the platform has another description of", changed),
    ...shown("the bot does not have", unknown)
  ]
}

/** The commands of the platform, compared with those of the bot. */
export const checkCommands = (bot: AnyBot) =>
  Me.get().pipe(
    Effect.map(({ commands }): Outcome => {
      const found = differences(bot, commands ?? [])
      return found.length === 0
        ? ok(slash(Bot.commands(bot).map((command) => command.name)) || "neither the platform nor the bot has one")
        : warning(
            found.join("; "),
            "Run the bot with the option publishCommands, or set the commands by Me.setCommands."
          )
    }),
    Effect.orElseSucceed(() => skipped("GET /me failed: see the check of the token"))
  )
