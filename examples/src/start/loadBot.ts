/** Loads the bot of `npm start`: the export `bot` of a module. */
import type { Updates } from "@colloquy/core"
import type { NodeBot } from "@colloquy/node"
import { Data, Effect, Predicate, Runtime } from "effect"
import { resolve } from "node:path"
import { pathToFileURL } from "node:url"

type Bot = Effect.Effect<unknown, unknown, NodeBot.NodeBot | Updates.Updates>

/** The module cannot be loaded, or does not export a bot. `npm start` prints the message and exits with 2. */
export class BotNotFound extends Data.TaggedError("BotNotFound")<{
  readonly file: string
  readonly problem: string
}> {
  override readonly [Runtime.errorExitCode] = 2
  override readonly [Runtime.errorReported] = false

  override get message() {
    return `Cannot load a bot from ${this.file}: ${this.problem}`
  }
}

const isBot = (value: unknown): value is Bot => Effect.isEffect(value)

const firstLine = (cause: unknown): string => {
  const text = Predicate.isError(cause) ? cause.message : String(cause)
  return text.trim().split("\n", 1).join()
}

const importModule = (file: string): Effect.Effect<object, BotNotFound> =>
  Effect.tryPromise({
    try: () => import(pathToFileURL(resolve(file)).href),
    catch: (cause) => new BotNotFound({ file, problem: firstLine(cause) })
  })

/** Imports the bot of `file`, a path relative to the working directory. */
export const loadBot = (file: string): Effect.Effect<Bot, BotNotFound> =>
  Effect.flatMap(importModule(file), (module) => {
    if (!("bot" in module)) return new BotNotFound({ file, problem: "it has no export named `bot`" })
    return isBot(module.bot)
      ? Effect.succeed(module.bot)
      : new BotNotFound({ file, problem: "its export `bot` is not an Effect" })
  })
