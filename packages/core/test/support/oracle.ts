/** Compares what stands in chats with what handlers have asked for. */
import { Emulator, type Faults } from "@colloquy/testing"
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type { BotApi, Chat, Journal, Message } from "../../src/index.ts"
import { type Action, flatten, makeRandom, platform, randomProgram, type Scene } from "./mortal.ts"

/** What people see of a message, with a keyboard and without the marks that a name allows to differ. */
const look = ({ body }: Message.Message): string =>
  `${(body?.text ?? "").replace(/[ !]+$/, "")}${(body?.attachments?.length ?? 0) > 0 ? " [OK]" : ""}`

const looks = (action: Action, to: "dialog" | "group"): ReadonlyArray<string> =>
  action._tag === "Send" && action.to === to ? [action.text + (action.style === "keyboard" ? " [OK]" : "")] : []

const uncertain = (outcome: string) =>
  Effect.map(
    Metric.snapshot,
    (all) =>
      (
        all.find(
          ({ id, attributes }) => id === "colloquy_journal_uncertain_total" && attributes?.["outcome"] === outcome
        )?.state as { readonly count: number } | undefined
      )?.count ?? 0
  )

/** How often something was seen more often, and less often, than it should be. */
const compare = (expected: ReadonlyArray<string>, actual: ReadonlyArray<string>) => {
  const left = [...actual]
  let missing = 0
  for (const value of expected) {
    const index = left.indexOf(value)
    if (index === -1) missing++
    else left.splice(index, 1)
  }
  return { missing, extra: left.length }
}

const sentTo = (chat_id: Chat.ChatId) =>
  Effect.map(Emulator.messages({ chat_id } as Chat.Chat), (messages) =>
    messages.filter(({ sender }) => sender?.is_bot === true).map(look)
  )

const makeScene = Effect.fnUntraced(function* (policy: Journal.Policy) {
  const ann = yield* Emulator.user("Ann")
  const { chat_id: dialog } = yield* ann.start()
  const { chat_id: group } = yield* Emulator.chat({ owner: ann })
  return { dialog, group, policy, ran: [], results: [] } satisfies Scene
})

export type Programs = ReadonlyArray<ReadonlyArray<Action>>

/** Handles one update for each program. Returns whether the kills happened, and whether all updates were handled. */
export type Runner = (
  scene: Scene,
  programs: Programs
) => Effect.Effect<
  { readonly isKilled: boolean; readonly isHandled: boolean },
  unknown,
  BotApi.BotApi | Emulator.Emulator
>

/** Handles updates, and counts what is missing, what is doubled, and what was repeated or skipped. */
const outcomeOf = Effect.fnUntraced(function* (
  runAll: Runner,
  policy: Journal.Policy,
  programs: Programs,
  faults: ReadonlyArray<Faults.Rule>
) {
  const scene: Scene = yield* makeScene(policy)
  yield* Emulator.setFaults(faults)
  const { isHandled, isKilled } = yield* runAll(scene, programs)
  const actions = programs.flatMap(flatten)
  const steps = actions.flatMap((action) => (action._tag === "Step" ? [action.name] : []))
  return {
    isKilled,
    isHandled,
    dialog: compare(
      actions.flatMap((action) => looks(action, "dialog")),
      yield* sentTo(scene.dialog)
    ),
    group: compare(
      actions.flatMap((action) => looks(action, "group")),
      yield* sentTo(scene.group)
    ),
    steps: compare(steps, scene.ran),
    repeated: yield* uncertain("repeated"),
    skipped: yield* uncertain("skipped")
  }
})

/** Runs programs on a platform of their own. */
export const run = (
  runAll: Runner,
  policy: Journal.Policy,
  programs: Programs,
  faults: ReadonlyArray<Faults.Rule> = []
) =>
  outcomeOf(runAll, policy, programs, faults).pipe(
    Effect.provide(platform, { local: true }),
    Effect.provideService(Metric.MetricRegistry, new Map())
  )

export const seeds = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

/** The request is executed, and its response is lost. */
export const cutOff: ReadonlyArray<Faults.Rule> = [{ endpoint: "Messages.send", every: 3, reset: "after" }]

type Outcome = Effect.Success<ReturnType<typeof run>>

/** Where the bot may read the chat, each message is there once, and nothing but what was repeated is there twice. */
export const assertSentOnce = ({ dialog, group, isHandled, repeated, steps }: Outcome, what: string): void => {
  assert.isTrue(isHandled, what)
  assert.deepStrictEqual(dialog, { missing: 0, extra: 0 }, what)
  assert.strictEqual(group.missing + steps.missing, 0, what)
  assert.isAtMost(group.extra + steps.extra, repeated, what)
}

/** Nothing is there twice, and nothing is missing unless a call was skipped. Returns how many calls were skipped. */
export const assertNotDoubled = ({ dialog, group, skipped, steps }: Outcome, what: string): number => {
  assert.strictEqual(dialog.extra + group.extra + steps.extra, 0, what)
  if (skipped === 0) assert.strictEqual(dialog.missing + group.missing + steps.missing, 0, what)
  return skipped
}

/** Kills a random program at each of its points. Returns the number of kills. */
export const assertSentOnceAtEachPoint = (programCount: number, killedAt: (point: number) => Runner) =>
  Effect.gen(function* () {
    let kills = 0
    for (const seed of seeds(programCount)) {
      const program = randomProgram(makeRandom(seed))
      for (let point = 0; ; point++) {
        const outcome = yield* run(killedAt(point), "lookUp", [program])
        assertSentOnce(outcome, `seed ${seed}, killed at ${point}: ${JSON.stringify(program)}`)
        if (!outcome.isKilled) break
        kills++
      }
    }
    return kills
  })
