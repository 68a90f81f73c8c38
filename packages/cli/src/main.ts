import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
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

NodeRuntime.runMain(
  main(process.argv.slice(2), { env: process.env, cwd: process.cwd() }).pipe(Effect.provide(NodeServices.layer)),
  { disableErrorReporting: true, teardown: (exit, onExit) => onExit(codeOf(exit)) }
)
