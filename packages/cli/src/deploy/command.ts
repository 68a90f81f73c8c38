import { Inbox } from "@colloquy/core/inbox/Inbox"
import * as Rehearsal from "@colloquy/core/inbox/Rehearsal"
import * as Flag from "effect/cli/Flag"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { action, type FlagsOf } from "../base/commands.ts"
import { importProgram, type Program } from "../base/botModule.ts"
import { failed } from "../base/failure.ts"
import { switchFlag, textArgument } from "../base/flags.ts"
import { count, print } from "../base/output.ts"
import { onInbox } from "../base/stores.ts"
import * as report from "./report.ts"

const deployFlags = {
  file: textArgument("MODULE", "The module of the new program, which exports the bot, for example dist/main.js"),
  allow: Flag.Literals("allow", report.outcomes).pipe(
    Flag.atLeast(0),
    Flag.withDescription("An outcome that is no problem, such as outdated; repeat it for more")
  ),
  strict: switchFlag("strict", "Counts everything that does not go on as it is as a problem")
}

const check = Effect.fnUntraced(function* (
  { bot, services }: Program,
  states: ReadonlyArray<Rehearsal.RehearsedState>,
  { allow, strict }: FlagsOf<typeof deployFlags>
) {
  const { store } = yield* Inbox
  // The emulator takes a third of the time in which the command starts, and other commands do not need the emulator.
  const [{ predictions }, { layerDry }] = yield* Effect.promise(() =>
    Promise.all([import("./parked.ts"), import("./world.ts")])
  )
  const now = yield* Clock.currentTimeMillis
  const groups = yield* predictions({ bot, states }, now).pipe(
    Stream.runFold(() => new Map<string, report.Group>(), report.add),
    Effect.provide(Layer.provideMerge(services, layerDry(store)))
  )
  const judged = [...groups.values()].map((group) => report.judge(group, allow, strict))
  const sorted = judged.toSorted((a, b) => Number(b.is_problem) - Number(a.is_problem))
  for (const group of sorted) yield* print(group, report.describe(group), report.colorOf(group))
  const total = (selected: ReadonlyArray<report.Group>) => selected.reduce((sum, group) => sum + group.count, 0)
  const found = total(sorted.filter(({ is_problem }) => is_problem))
  if (found > 0) return yield* failed(`The check found ${count(found, "problem")} in ${total(sorted)} stored data.`)
  yield* print({ checked: total(sorted), problems: 0 }, `The check found no problem in ${total(sorted)} stored data.`)
})

/** Rehearses what the program of a module would do with the stored data of the bot. */
export const checkDeploy = action(
  "check-deploy",
  "Says what a new program would do with the stored conversations, scenes, states, timers, updates and dead letters, without a change. Exit code 1: a problem was found",
  deployFlags,
  Effect.fnUntraced(function* (flags) {
    const states = Rehearsal.collectStates()
    const program = yield* importProgram(flags.file)
    yield* onInbox(check(program, states, flags))
  })
)
