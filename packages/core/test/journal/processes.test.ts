import type { Faults } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { Journal } from "../../src/index.ts"
import { makeRandom, randomProgram } from "../support/mortal.ts"
import { assertNotDoubled, assertSentOnce, assertSentOnceAtEachPoint, cutOff, run, seeds } from "../support/oracle.ts"
import { runProcesses } from "../support/restarts.ts"

/** Processes that handle three updates, and are killed at points that depend on the seed. */
const attack = (policy: Journal.Policy, seed: number, faults: ReadonlyArray<Faults.Rule> = []) => {
  const random = makeRandom(seed)
  const programs = seeds(3).map(() => randomProgram(random))
  const kills = seeds(4).map(() => random.next(20))
  return Effect.map(
    run((scene, programs) => runProcesses(scene, programs, kills), policy, programs, faults),
    (outcome) => ({ ...outcome, what: `seed ${seed}, killed at ${kills.join()}: ${JSON.stringify(programs)}` })
  )
}

describe("a bot whose processes are killed", { timeout: 60_000 }, () => {
  it.effect("sends each message once, at whatever point, where it may read the chat", () =>
    Effect.map(
      assertSentOnceAtEachPoint(4, (point) => (scene, programs) => runProcesses(scene, programs, [point])),
      (kills) => assert.isAbove(kills, 50)
    )
  )

  for (const [name, faults] of [
    ["", []],
    [" and its requests are cut off", cutOff]
  ] as const) {
    it.effect(`sends each message once if it is killed repeatedly${name}`, () =>
      Effect.forEach([...seeds(20), 144], (seed) =>
        Effect.map(attack("lookUp", seed, faults), (outcome) => assertSentOnce(outcome, outcome.what))
      )
    )
  }

  it.effect("doubles nothing with the policy skip", () =>
    Effect.gen(function* () {
      let all = 0
      for (const seed of seeds(10)) {
        const outcome = yield* attack("skip", seed)
        all += assertNotDoubled(outcome, outcome.what)
      }
      assert.isAbove(all, 0)
    })
  )
})
