import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import { main } from "./command.ts"
import { ProgramEnded } from "./program.ts"

// The same format as the log of the bot after `--`, which is beside it in the terminal.
const log = Layer.succeed(Logger.LogToStderr, true)

const codeOf = <A, E>(exit: Exit.Exit<A, E>): number => {
  // An interruption is not a failure.
  if (Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause)) return 0
  const error = Option.getOrUndefined(Exit.findErrorOption(exit))
  return error instanceof ProgramEnded ? error.code : 2
}

/** Ends with the `npx` that started this process, because npm ends at a signal without forwarding the signal. */
const npxEnded: Effect.Effect<void> = Effect.suspend(() => {
  if (process.env["npm_command"] !== "exec") return Effect.never
  const { ppid } = process
  return Effect.sync(() => process.ppid !== ppid).pipe(
    Effect.repeat({ until: (hasEnded) => hasEnded, schedule: Schedule.spaced("1 second") }),
    Effect.asVoid
  )
})

const program = main(process.argv.slice(2)).pipe(Effect.provide(Layer.merge(NodeServices.layer, log)))

NodeRuntime.runMain(Effect.raceFirst(program, npxEnded), {
  disableErrorReporting: true,
  teardown: (exit, onExit) => onExit(codeOf(exit))
})
