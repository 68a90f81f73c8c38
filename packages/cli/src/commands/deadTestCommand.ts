import * as Incident from "@colloquy/core/inbox/Incident"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { makeAnonymous, mapTexts } from "../base/anonymous.ts"
import { failed } from "../base/failure.ts"
import { switchFlag } from "../base/flags.ts"
import { time } from "../base/output.ts"
import { withSettings } from "../base/settings.ts"
import * as stores from "../base/stores.ts"

/** Writes the test of an incident. */
const sourceOf = (id: string, module: string, isRaw: boolean, incident: Incident.Incident): string => {
  const replace = isRaw ? (text: string) => text : makeAnonymous([incident])
  const [reason = ""] = replace(incident.error).split("\n", 1)
  const shown = { ...incident, error: reason }
  return [
    'import type { Incident } from "@colloquy/core"',
    'import { TestIncident } from "@colloquy/testing"',
    'import { Effect } from "effect"',
    'import { it } from "vitest"',
    `import { bot } from ${JSON.stringify(module)}`,
    "",
    `// The dead letter ${id} of ${time(incident.failedAt)}. The test fails with its error until the mistake is mended.`,
    ...(isRaw
      ? []
      : ["// Names, ids, e-mail addresses and phone numbers are replaced. Read the texts before you commit them."]),
    `const incident: Incident.Incident = ${JSON.stringify(mapTexts(shown, replace), undefined, 2)}`,
    "",
    `it(${JSON.stringify(`handles the update that failed with: ${reason}`)}, () =>`,
    "  Effect.runPromise(TestIncident.run(bot, incident)))",
    ""
  ].join("\n")
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
    bot: Flag.String("bot").pipe(
      Flag.withMetavar("MODULE"),
      Flag.withDefault("../src/bot.ts"),
      Flag.withDescription("The module that exports `bot`, as the test imports it. Default: ../src/bot.ts")
    ),
    raw: switchFlag("raw", "Keeps names, ids, e-mail addresses and phone numbers")
  },
  (flags) => withSettings(Effect.provide(write(flags), stores.inbox))
).pipe(
  Command.withDescription(
    "Prints a Vitest test that handles the update of a dead letter again, with its state and recorded answers, in virtual time and without a network"
  )
)
