/** The bot to talk with: the export `bot` of a module. */
import type { Updates } from "@colloquy/core"
import type { NodeBot } from "@colloquy/node"
import { Data, Effect, Predicate, Runtime } from "effect"
import { resolve } from "node:path"
import { pathToFileURL } from "node:url"

type Bot = Effect.Effect<unknown, unknown, NodeBot.NodeBot | Updates.Updates>

/** The module cannot be run. Whoever started the program is told in one line, and it exits with 2. */
export class NoBot extends Data.TaggedError("NoBot")<{ readonly file: string; readonly problem: string }> {
  override readonly [Runtime.errorExitCode] = 2
  override readonly [Runtime.errorReported] = false

  override get message() {
    return `There is no bot to start in ${this.file}: ${this.problem}`
  }
}

const isBot = (value: unknown): value is Bot => Effect.isEffect(value)

const firstLine = (cause: unknown): string => {
  const text = Predicate.isError(cause) ? cause.message : String(cause)
  return text.trim().split("\n", 1).join()
}

const importModule = (file: string): Effect.Effect<object, NoBot> =>
  Effect.tryPromise({
    try: () => import(pathToFileURL(resolve(file)).href),
    catch: (cause) => new NoBot({ file, problem: firstLine(cause) })
  })

/** Imports the bot of `file`, a path from the working directory. */
export const loadBot = (file: string): Effect.Effect<Bot, NoBot> =>
  Effect.flatMap(importModule(file), (found) => {
    if (!("bot" in found)) return new NoBot({ file, problem: "it has no export named `bot`" })
    return isBot(found.bot)
      ? Effect.succeed(found.bot)
      : new NoBot({ file, problem: "its export `bot` is not an Effect" })
  })
