import { assert, describe, it } from "vitest"
import { kernelDefects } from "./kernel/defects.ts"
import { explore } from "./kernel/explore.ts"
import { load } from "./kernel/load.ts"
import { plans } from "./kernel/plans.ts"

/** The slow tests explore more. */
const states = 500

/** Every planted defect is found within as many states. */
const statesOfDefect = 15_000

describe("the kernel of the inbox", () => {
  it("breaks no rule in the first states of each plan", async () => {
    const loaded = await load()
    for (const plan of plans) {
      const { violation, ...explored } = explore(plan, loaded, states)
      assert.isUndefined(violation, `${plan.name}: ${violation?.rule}\n${violation?.history.join("\n")}`)
      assert.isAtLeast(explored.states, states)
    }
  })

  it("visits the same states each time", async () => {
    const one = await load()
    const other = await load()
    for (const plan of plans) assert.deepStrictEqual(explore(plan, one, 30), explore(plan, other, 30))
  })
})

describe("the planted defects of the kernel", () => {
  it("are at least 20, with different names", () => {
    assert.isAtLeast(kernelDefects.length, 20)
    assert.lengthOf(new Set(kernelDefects.map(({ name }) => name)), kernelDefects.length)
  })

  it.each(kernelDefects)("are found: $name", async (defect) => {
    const plan = plans.find(({ name }) => name === defect.plan)!
    const { violation } = explore(plan, await load(defect), statesOfDefect)
    assert.isDefined(violation)
  })
})
