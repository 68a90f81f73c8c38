import * as CliConfig from "effect/cli/CliConfig"
import * as CliOutput from "effect/cli/CliOutput"
import * as Command from "effect/cli/Command"
import * as GlobalFlag from "effect/cli/GlobalFlag"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { commandError, type CommandError, oneLine, reasonOf } from "./files.ts"
import { flags, parse, type Settings } from "./options.ts"
import type { ProgramEnded } from "./program.ts"
import { run } from "./run.ts"

const name = "colloquy-emulator"

const description =
  "An emulator of the messaging platform, for bots in any language. A program after -- is run with the settings of a bot, and the emulator ends with it."

type Start<R> = (settings: Settings) => Effect.Effect<void, CommandError | ProgramEnded, R>

const makeCommand = <R>(program: ReadonlyArray<string>, start: Start<R>) =>
  Command.make(name, flags, (values) => Effect.flatMap(parse(values, program), start)).pipe(
    Command.withDescription(description),
    Command.withExamples([
      { command: `${name} --port 8080`, description: "Runs the emulator until Ctrl-C" },
      { command: `${name} --lenient -- node bot.js`, description: "Runs a bot on the emulator" }
    ])
  )

// Errors are printed in one line; help is printed on request.
const presenter: CliOutput.Presenter = {
  present: (event) => (event._tag === "InvalidInvocation" ? Effect.void : CliOutput.defaultPresenter.present(event))
}

/** Runs the command. A failure prints one line on standard error. */
export const main = (args: ReadonlyArray<string>) => mainWith(args, run)

/** Parses the arguments and passes the settings to `start`. */
export const mainWith = <R>(args: ReadonlyArray<string>, start: Start<R>) => {
  const end = args.includes("--") ? args.indexOf("--") : args.length
  return Command.runWith(makeCommand(args.slice(end + 1), start), { version: "0.0.0" })(args.slice(0, end)).pipe(
    Effect.provideService(CliOutput.Presenter, presenter),
    Effect.provideService(CliConfig.CliConfig, { builtIns: [GlobalFlag.Help, GlobalFlag.Version] }),
    Effect.catchDefect((defect) => commandError(`internal error: ${reasonOf(defect)}`)),
    Effect.catchTag("ShowHelp", ({ errors }) =>
      errors.length === 0
        ? Effect.void
        : commandError(errors.map(({ message }) => message).join("; ") || `see ${name} --help`)
    ),
    Effect.tapError((error) =>
      error._tag === "ProgramEnded" ? Effect.void : Console.error(`${name}: ${oneLine(error.message)}`)
    )
  )
}
