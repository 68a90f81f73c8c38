import * as Effect from "effect/Effect"
import type { FlagsOf } from "./commands.ts"
import { failed, invalid } from "./failure.ts"
import { switchFlag } from "./flags.ts"
import { print } from "./output.ts"
import { Process } from "./settings.ts"

/** The flags of commands that delete something. */
export const confirmFlags = {
  yes: switchFlag("yes", "Deletes without a question, for scripts"),
  dryRun: switchFlag("dry-run", "Prints what would be deleted, and deletes nothing")
}

export type ConfirmFlags = FlagsOf<typeof confirmFlags>

/** The description of a planned deletion, as JSON and as a text. */
export interface Plan {
  readonly value: object
  readonly text: string
}

/**
 * Describes the effect of a command, and asks the person in the terminal. Returns whether the command goes on. Without a
 * terminal, the command fails, unless a flag decides.
 */
export const confirmed = <E, R>({ dryRun, yes }: ConfirmFlags, plan: Effect.Effect<Plan, E, R>) =>
  Effect.gen(function* () {
    if (yes && !dryRun) return true
    const { text, value } = yield* plan
    if (dryRun) {
      yield* print({ dry_run: true, ...value }, `${text}\nNothing was deleted.`)
      return false
    }
    const { ask } = yield* Process
    if (ask === undefined)
      return yield* invalid(
        "This command deletes data, and there is no terminal to ask in: add --yes, or --dry-run to see what it deletes."
      )
    return (yield* ask(`${text}\nGo on? (y/N) `)) ? true : yield* failed("Nothing was deleted.")
  })
