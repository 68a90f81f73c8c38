import * as CliConfig from "effect/cli/CliConfig"
import type * as CliError from "effect/cli/CliError"
import * as CliOutput from "effect/cli/CliOutput"
import * as Command from "effect/cli/Command"
import * as GlobalFlag from "effect/cli/GlobalFlag"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { flags, type Settings, settle } from "./options.ts"
import { type CommandProblem, oneLine, problem, reasonOf } from "./problem.ts"
import { run } from "./run.ts"

const name = "colloquy-emulator"

const makeCommand = <R>(start: (settings: Settings) => Effect.Effect<void, CommandProblem, R>) =>
  Command.make(name, flags, (given) => Effect.flatMap(settle(given), start)).pipe(
    Command.withDescription("The messaging platform as an emulator, for bots in any language.")
  )

// What is wrong is one line; the page of help is for who asks for it.
const presenter: CliOutput.Presenter = {
  present: (event) => (event._tag === "InvalidInvocation" ? Effect.void : CliOutput.defaultPresenter.present(event))
}

const told = ({ errors }: CliError.ShowHelp): CommandProblem =>
  problem(errors.map(({ message }) => message).join("; ") || `see ${name} --help`)

/** The command; what it cannot do is told in one line on standard error. */
export const main = (args: ReadonlyArray<string>) => mainWith(args, run)

/** The same, with what the settings start. */
export const mainWith = <R>(
  args: ReadonlyArray<string>,
  start: (settings: Settings) => Effect.Effect<void, CommandProblem, R>
) =>
  Command.runWith(makeCommand(start), { version: "0.1.0" })(args).pipe(
    Effect.provideService(CliOutput.Presenter, presenter),
    Effect.provideService(CliConfig.CliConfig, { builtIns: [GlobalFlag.Help, GlobalFlag.Version] }),
    Effect.catchDefect((defect) => Effect.fail(problem(`there is a defect: ${reasonOf(defect)}`))),
    Effect.catchTag("ShowHelp", (error) => (error.errors.length === 0 ? Effect.void : Effect.fail(told(error)))),
    Effect.tapError((error) => Console.error(`${name}: ${oneLine(error.message)}`))
  )
