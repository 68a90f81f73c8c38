import * as CliConfig from "effect/cli/CliConfig"
import type * as CliError from "effect/cli/CliError"
import * as CliOutput from "effect/cli/CliOutput"
import * as Command from "effect/cli/Command"
import * as GlobalFlag from "effect/cli/GlobalFlag"
import type { HelpDoc } from "effect/cli/HelpDoc"
import * as TerminalCapabilities from "effect/cli/TerminalCapabilities"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as References from "effect/References"
import { board } from "./commands/boardCommand.ts"
import { broadcast, chats, state } from "./commands/dataCommands.ts"
import { checkDeploy } from "./deploy/command.ts"
import { describe } from "./commands/describeCommand.ts"
import { doctor } from "./doctor/command.ts"
import { type CommandFailed, failed, invalid, toFailure, withoutSecrets } from "./base/failure.ts"
import { dead, inbox, timers } from "./commands/inboxCommands.ts"
import { simulate } from "./commands/simulateCommand.ts"
import { sendCommand, subscriptions, webhook } from "./commands/platformCommands.ts"
import { envFile, globalFlags, type Place, Process, variables } from "./base/settings.ts"
import { status } from "./commands/statusCommand.ts"
import { updates } from "./commands/updatesCommands.ts"
import { verifyPlatform } from "./verify/command.ts"

const name = "colloquy"

/** The command with its subcommands. */
export const command = Command.make(name).pipe(
  Command.withDescription(
    "Operates a bot: checks its settings, and shows and changes its stored data, while it runs. The settings of the bot are read from the environment or from .env."
  ),
  Command.withExamples([
    { command: `${name} doctor`, description: "Checks the settings of the bot" },
    { command: `${name} dead list --since "2 hours"`, description: "Lists the dead letters of the last two hours" }
  ]),
  Command.withSubcommands([
    doctor,
    status,
    board,
    describe,
    simulate,
    checkDeploy,
    verifyPlatform,
    updates,
    inbox,
    dead,
    subscriptions,
    webhook,
    chats,
    state,
    broadcast,
    timers,
    sendCommand
  ]),
  Command.withGlobalFlags(globalFlags)
)

// The flags of all commands come last, so that the subcommands are on the first screen.
const formatHelp = (help: HelpDoc, colors: boolean): string => {
  const { formatHelpDoc } = CliOutput.defaultFormatter({ colors })
  const { examples = [], globalFlags = [], ...own } = help
  const { annotations, usage } = help
  // The first section is the usage.
  const sectionsOf = (doc: Partial<HelpDoc>) =>
    formatHelpDoc({ annotations, usage, description: "", flags: [], ...doc })
      .split("\n\n")
      .slice(1)
  return [formatHelpDoc(own), ...sectionsOf({ examples, globalFlags: [] }), ...sectionsOf({ globalFlags })].join("\n\n")
}

// Errors are printed in one line; help is printed on request.
const presenter: CliOutput.Presenter = {
  present: (event) => {
    if (event._tag === "InvalidInvocation") return Effect.void
    if (event._tag === "Version") return CliOutput.defaultPresenter.present(event)
    return Effect.flatMap(TerminalCapabilities.TerminalCapabilities, ({ canColor }) =>
      Console.log(formatHelp(event.helpDoc, canColor))
    )
  }
}

const usage = ({ errors }: CliError.ShowHelp): CommandFailed =>
  invalid(errors.map(({ message }) => message).join("; ") || `See ${name} --help.`)

const isShowHelp = (error: unknown): error is CliError.ShowHelp => Predicate.isTagged(error, "ShowHelp")

const optionOf = (args: ReadonlyArray<string>, flag: string): Option.Option<string> => {
  const index = args.findIndex((arg) => arg === flag || arg.startsWith(`${flag}=`))
  const arg = args[index]
  return Option.fromUndefinedOr(arg === flag ? args[index + 1] : arg?.slice(flag.length + 1))
}

/** Runs the command in a process. A failure prints one sentence on standard error, without secrets. */
export const main = (args: ReadonlyArray<string>, process: Place) => {
  const known = Effect.orElseSucceed(
    variables.pipe(Effect.provideService(envFile, optionOf(args, "--env"))),
    () => process.env
  )
  const report = (error: CommandFailed) =>
    Effect.flatMap(known, (env) => {
      const message = withoutSecrets(error.message, env)
      return Console.error(args.includes("--json") ? JSON.stringify({ error: message }) : `${name}: ${message}`)
    })
  return Command.runWith(command, { version: "0.0.0" })(args).pipe(
    Effect.provideService(CliOutput.Presenter, presenter),
    Effect.provideService(CliConfig.CliConfig, {
      builtIns: [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.Completions, GlobalFlag.LogLevel]
    }),
    Effect.provideService(References.MinimumLogLevel, "Error"),
    Effect.catchDefect((defect) => Effect.fail(failed(`internal error: ${toFailure(defect).message}`))),
    Effect.catchIf(isShowHelp, (error) => (error.errors.length === 0 ? Effect.void : Effect.fail(usage(error)))),
    Effect.mapError(toFailure),
    Effect.tapError(report),
    Effect.provideService(Process, process)
  )
}
