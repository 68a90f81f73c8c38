import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import { createInterface } from "node:readline/promises"
import { stripVTControlCharacters } from "node:util"
import { main } from "./command.ts"
import { CommandFailed } from "./base/failure.ts"

// Node 22 warns that `node:sqlite` is experimental.
process.removeAllListeners("warning").on("warning", ({ message, name }) => {
  if (name !== "ExperimentalWarning") process.stderr.write(`colloquy: ${name}: ${message}\n`)
})

// A reader such as `head` closes the pipe before the end.
process.stdout.on("error", () => process.exit(0))

const codeOf = <A, E>(exit: Exit.Exit<A, E>): number => {
  if (Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause)) return 0
  const error = Option.getOrUndefined(Exit.findErrorOption(exit))
  return error instanceof CommandFailed ? error.code : 1
}

/** The question is written to standard error, so that standard output has only results. */
const ask = (question: string) =>
  Effect.promise(async (signal) => {
    const terminal = createInterface({ input: process.stdin, output: process.stderr })
    // The end of the input, such as Ctrl+D, is no answer, and means no.
    const closed = new Promise<string>((resolve) => terminal.once("close", () => resolve("")))
    try {
      const answer = await Promise.race([terminal.question(stripVTControlCharacters(question), { signal }), closed])
      return /^y(?:es)?$/i.test(answer.trim())
    } finally {
      terminal.close()
    }
  })

const isTerminal = process.stdin.isTTY && process.stderr.isTTY

NodeRuntime.runMain(
  main(process.argv.slice(2), {
    env: process.env,
    cwd: process.cwd(),
    ask: isTerminal ? ask : undefined,
    columns: process.stdout.isTTY ? () => process.stdout.columns : undefined
  }).pipe(Effect.provide(NodeServices.layer)),
  { disableErrorReporting: true, teardown: (exit, onExit) => onExit(codeOf(exit)) }
)
