import * as Incident from "@colloquy/core/inbox/Incident"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { action } from "../base/commands.ts"
import { makeAnonymous, mapTexts } from "../base/anonymous.ts"
import { textArgument } from "../base/flags.ts"
import { testFlags, writeTest } from "../base/testSource.ts"
import { time } from "../base/output.ts"
import { onInbox } from "../base/stores.ts"
import { unknownDeadLetter } from "./updateView.ts"

/** The names of the operations in the journal with and without a result. */
const operationsOf = ({ journal }: Incident.Incident) => {
  const slotsOf = (state: string) =>
    journal.filter(({ key }) => key.startsWith(state)).map(({ key }) => key.slice(state.length))
  const done = slotsOf("done:")
  return { done, open: slotsOf("started:").filter((slot) => !done.includes(slot)) }
}

/** The death of a process leaves no error, and a test in one process cannot repeat the death. */
const aboutDeath = (times: string, incident: Incident.Incident): ReadonlyArray<string> => {
  const { done, open } = operationsOf(incident)
  return [
    `The process died ${times} times while the update was handled, so there is no error to repeat.`,
    "The test passes if the handler succeeds here. The test ends without a result if the handler ends the process, needs too much memory,",
    "or blocks the event loop. Values of states from before the update are missing.",
    `Operations with a recorded result: ${done.join(", ") || "none"}.`,
    `Operations that began and have no result: ${open.join(", ") || "none"}.`
  ]
}

/** Writes the test of an incident. */
const sourceOf = (id: string, module: string, isRaw: boolean, incident: Incident.Incident): string => {
  const replace = isRaw ? (text: string) => text : makeAnonymous([incident])
  const [reason = ""] = replace(incident.error).split("\n", 1)
  const [, died] = /^The process died (\d+) times/.exec(reason) ?? []
  const shown = { ...incident, error: reason }
  return writeTest({
    imports: ['import type { Incident } from "@colloquy/core"', 'import { TestIncident } from "@colloquy/testing"'],
    module,
    about: [
      `The dead letter ${id} of ${time(incident.failedAt)}.`,
      ...(died === undefined
        ? ["The test fails with its error until the mistake is mended."]
        : aboutDeath(died, incident).map(replace))
    ],
    isRaw,
    declaration: "const incident: Incident.Incident",
    value: mapTexts(shown, replace),
    title:
      died === undefined
        ? `handles the update that failed with: ${reason}`
        : `handles the update during which the process died ${died} times`,
    effect: ["TestIncident.run(bot, incident)"]
  })
}

/** The command `dead test`. */
export const deadTest = action(
  "test",
  "Prints a Vitest test that handles the update of a dead letter again, with its state and recorded answers, in virtual time and without a network",
  {
    id: textArgument("id", "Id of the dead letter"),
    ...testFlags
  },
  Effect.fnUntraced(function* ({ bot, id, raw }) {
    const found = yield* Incident.ofDeadLetter(id)
    if (Option.isNone(found)) return yield* unknownDeadLetter(id)
    yield* Console.log(sourceOf(id, bot, raw, found.value))
  }, onInbox)
)
