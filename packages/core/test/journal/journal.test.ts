import { Emulator, type Faults } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type { Chat, Journal, Message } from "../../src/index.ts"
import { type Action, flatten, handle, makeRandom, platform, randomProgram, type Scene } from "../support/mortal.ts"

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

/** Handles updates one after the other, and counts what is missing, what is doubled, and what was repeated or skipped. */
const outcomeOf = Effect.fnUntraced(function* (
  policy: Journal.Policy,
  programs: ReadonlyArray<ReadonlyArray<Action>>,
  kills: ReadonlyArray<ReadonlyArray<number>>,
  faults: ReadonlyArray<Faults.Rule>
) {
  const scene: Scene = yield* makeScene(policy)
  yield* Emulator.setFaults(faults)
  let isKilled = true
  let isHandled = true
  for (const [index, program] of programs.entries()) {
    const result = yield* handle(scene, program, kills[index] ?? [])
    isKilled &&= result.isKilled
    isHandled &&= result.isHandled
  }
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

const run = (
  policy: Journal.Policy,
  programs: ReadonlyArray<ReadonlyArray<Action>>,
  kills: ReadonlyArray<ReadonlyArray<number>>,
  faults: ReadonlyArray<Faults.Rule> = []
) =>
  outcomeOf(policy, programs, kills, faults).pipe(
    Effect.provide(platform, { local: true }),
    Effect.provideService(Metric.MetricRegistry, new Map())
  )

const seeds = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

/** Runs updates that are killed once or twice each, at points that depend on the seed. */
const attack = (policy: Journal.Policy, seed: number, faults: ReadonlyArray<Faults.Rule> = []) => {
  const random = makeRandom(seed)
  const programs = seeds(3).map(() => randomProgram(random))
  const kills = programs.map(() => [random.next(12), random.next(12)])
  return Effect.map(run(policy, programs, kills, faults), (outcome) => ({
    ...outcome,
    what: `seed ${seed}, killed at ${JSON.stringify(kills)}: ${JSON.stringify(programs)}`
  }))
}

/** The request is executed, and its response is lost. */
const cutOff: ReadonlyArray<Faults.Rule> = [{ endpoint: "Messages.send", every: 3, reset: "after" }]

describe("the journal", () => {
  it.effect("sends each message once, at whatever point a process is killed, where the bot may read the chat", () =>
    Effect.gen(function* () {
      let kills = 0
      for (const seed of seeds(12)) {
        const program = randomProgram(makeRandom(seed))
        for (let killAt = 0; ; killAt++) {
          const what = `seed ${seed}, killed at ${killAt}: ${JSON.stringify(program)}`
          const { dialog, group, isHandled, isKilled, repeated, steps } = yield* run("lookUp", [program], [[killAt]])
          assert.isTrue(isHandled, what)
          assert.deepStrictEqual(dialog, { missing: 0, extra: 0 }, what)
          assert.strictEqual(group.missing + steps.missing, 0, what)
          assert.isAtMost(group.extra + steps.extra, repeated, what)
          if (!isKilled) break
          kills++
        }
      }
      assert.isAbove(kills, 100)
    })
  )

  for (const [name, faults] of [
    ["", []],
    [" and requests are cut off", cutOff]
  ] as const) {
    it.effect(
      `sends each message once if processes are killed repeatedly${name}, and updates have the same texts`,
      () =>
        Effect.forEach(seeds(60), (seed) =>
          Effect.map(attack("lookUp", seed, faults), ({ dialog, group, isHandled, repeated, steps, what }) => {
            assert.isTrue(isHandled, what)
            assert.deepStrictEqual(dialog, { missing: 0, extra: 0 }, what)
            assert.strictEqual(group.missing + steps.missing, 0, what)
            assert.isAtMost(group.extra + steps.extra, repeated, what)
          })
        )
    )

    it.effect(`loses nothing with the policy "repeat" if processes are killed repeatedly${name}`, () =>
      Effect.gen(function* () {
        let extra = 0
        for (const seed of seeds(30)) {
          const { dialog, group, isHandled, repeated, steps, what } = yield* attack("repeat", seed, faults)
          assert.isTrue(isHandled, what)
          assert.strictEqual(dialog.missing + group.missing + steps.missing, 0, what)
          assert.isAtMost(dialog.extra + group.extra + steps.extra, repeated, what)
          extra += dialog.extra
        }
        assert.isAbove(extra, 0)
      })
    )

    it.effect(`doubles nothing with the policy "skip" if processes are killed repeatedly${name}`, () =>
      Effect.gen(function* () {
        let all = 0
        for (const seed of seeds(30)) {
          const { dialog, group, skipped, steps, what } = yield* attack("skip", seed, faults)
          assert.strictEqual(dialog.extra + group.extra + steps.extra, 0, what)
          if (skipped === 0) assert.strictEqual(dialog.missing + group.missing + steps.missing, 0, what)
          all += skipped
        }
        assert.isAbove(all, 0)
      })
    )
  }
})
