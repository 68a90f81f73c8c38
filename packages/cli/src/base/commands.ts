import * as Command from "effect/cli/Command"
import type * as Effect from "effect/Effect"

/** The values of flags and arguments. */
export type FlagsOf<Flags extends Command.Command.Config> = Command.Command.Config.Infer<Flags>

/** A command that does something. */
export const action = <Name extends string, const Flags extends Command.Command.Config, E, R>(
  name: Name,
  description: string,
  flags: Flags,
  run: (flags: FlagsOf<Flags>) => Effect.Effect<void, E, R>
) => Command.make(name, flags, run).pipe(Command.withDescription(description))

/** A command that has subcommands. */
export const group = <Name extends string, const Subcommands extends ReadonlyArray<Command.Command.SubcommandEntry>>(
  name: Name,
  description: string,
  subcommands: Subcommands
) => Command.make(name).pipe(Command.withDescription(description), Command.withSubcommands(subcommands))
