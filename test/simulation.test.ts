import { assert, describe, it } from "vitest"
import { defects } from "./simulation/defects/defects.ts"
import { planted } from "./simulation/defects/plant.ts"
import { planOf } from "./simulation/planning.ts"
import { programKinds } from "./simulation/programs/programs.ts"
import { fingerprintOf, simulate } from "./simulation/run.ts"
import { traceOf } from "./simulation/trace.ts"

describe("the simulator", () => {
  it.each(programKinds)("repeats the history of a seed exactly, with the program %s", async (kind) => {
    for (const seed of [1, 2, 3]) {
      const plan = { ...planOf(seed, kind), quiet: 0 }
      const one = await simulate(plan)
      const other = await simulate(plan)
      assert.isAbove(one.events.length, 50)
      assert.strictEqual(fingerprintOf(one), fingerprintOf(other))
      assert.deepStrictEqual(traceOf(one.events), traceOf(other.events))
    }
  })

  it("runs a plan that was printed as JSON as the seed that made it", async () => {
    const plan = planOf(4)
    assert.strictEqual(
      fingerprintOf(await simulate(plan)),
      fingerprintOf(await simulate(JSON.parse(JSON.stringify(plan))))
    )
  })
})

describe("the planted defects", () => {
  it("are at least 40, with different names", () => {
    assert.isAtLeast(defects.length, 40)
    assert.lengthOf(new Set(defects.map(({ name }) => name)), defects.length)
  })

  it.each(defects)("apply to the sources: $name", (defect) => {
    assert.include(planted(defect), defect.replace)
  })
})
