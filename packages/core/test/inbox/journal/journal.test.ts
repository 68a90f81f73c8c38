import type { Faults } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { Journal } from "../../../src/index.ts"
import { handle, makeRandom, randomProgram } from "../../support/mortal.ts"
import {
  assertNotDoubled,
  assertSentOnce,
  assertSentOnceAtEachPoint,
  cutOff,
  run,
  type Runner,
  seeds
} from "../../support/oracle.ts"

/** Handles updates one after the other, each in processes that are killed. */
const oneByOne = (kills: ReadonlyArray<ReadonlyArray<number>>): Runner =>
  Effect.fnUntraced(function* (scene, programs) {
    const all = { isKilled: true, isHandled: true }
    for (const [index, program] of programs.entries()) {
      const { isHandled, isKilled } = yield* handle(scene, program, kills[index] ?? [])
      all.isKilled &&= isKilled
      all.isHandled &&= isHandled
    }
    return all
  })

/** Runs updates that are killed once or twice each, at points that depend on the seed. */
const attack = (policy: Journal.Policy, seed: number, faults: ReadonlyArray<Faults.Rule> = []) => {
  const random = makeRandom(seed)
  const programs = seeds(3).map(() => randomProgram(random))
  const kills = programs.map(() => [random.next(12), random.next(12)])
  return Effect.map(run(oneByOne(kills), policy, programs, faults), (outcome) => ({
    ...outcome,
    what: `seed ${seed}, killed at ${JSON.stringify(kills)}: ${JSON.stringify(programs)}`
  }))
}

describe("the journal", () => {
  it.effect("sends each message once, at whatever point a process is killed, where the bot may read the chat", () =>
    Effect.map(
      assertSentOnceAtEachPoint(12, (point) => oneByOne([[point]])),
      (kills) => assert.isAbove(kills, 100)
    )
  )

  for (const [name, faults] of [
    ["", []],
    [" and requests are cut off", cutOff]
  ] as const) {
    it.effect(
      `sends each message once if processes are killed repeatedly${name}, and updates have the same texts`,
      () =>
        Effect.forEach(seeds(60), (seed) =>
          Effect.map(attack("lookUp", seed, faults), (outcome) => assertSentOnce(outcome, outcome.what))
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
          const outcome = yield* attack("skip", seed, faults)
          all += assertNotDoubled(outcome, outcome.what)
        }
        assert.isAbove(all, 0)
      })
    )
  }
})
