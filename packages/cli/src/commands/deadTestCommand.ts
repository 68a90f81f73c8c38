import * as Incident from "@colloquy/core/inbox/Incident"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { makeAnonymous, mapTexts } from "../base/anonymous.ts"
import { failed } from "../base/failure.ts"
import { testFlags, writeTest } from "../base/testSource.ts"
import { time } from "../base/output.ts"
import { withSettings } from "../base/settings.ts"
import * as stores from "../base/stores.ts"

/** Writes the test of an incident. */
const sourceOf = (id: string, module: string, isRaw: boolean, incident: Incident.Incident): string => {
  const replace = isRaw ? (text: string) => text : makeAnonymous([incident])
  const [reason = ""] = replace(incident.error).split("\n", 1)
  const shown = { ...incident, error: reason }
  return writeTest({
    imports: ['import type { Incident } from "@colloquy/core"', 'import { TestIncident } from "@colloquy/testing"'],
    module,
    about: `The dead letter ${id} of ${time(incident.failedAt)}. The test fails with its error until the mistake is mended.`,
    isRaw,
    declaration: "const incident: Incident.Incident",
    value: mapTexts(shown, replace),
    title: `handles the update that failed with: ${reason}`,
    effect: ["TestIncident.run(bot, incident)"]
  })
}

const write = ({ bot, id, raw }: { readonly bot: string; readonly id: string; readonly raw: boolean }) =>
  Effect.gen(function* () {
    const found = yield* Incident.ofDeadLetter(id)
    if (Option.isNone(found)) {
      return yield* failed(`There is no dead letter ${id}. \`colloquy dead list\` prints the ids.`)
    }
    yield* Console.log(sourceOf(id, bot, raw, found.value))
  })

/** The command `dead test`. */
export const deadTest = Command.make(
  "test",
  {
    id: Argument.String("id").pipe(Argument.withDescription("Id of the dead letter")),
    ...testFlags
  },
  (flags) => withSettings(Effect.provide(write(flags), stores.inbox))
).pipe(
  Command.withDescription(
    "Prints a Vitest test that handles the update of a dead letter again, with its state and recorded answers, in virtual time and without a network"
  )
)
