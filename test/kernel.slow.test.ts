import { assert, it } from "vitest"
import { explore } from "./kernel/explore.ts"
import { load } from "./kernel/load.ts"
import { plans } from "./kernel/plans.ts"

/** With more states of each plan, the tests would take more than a minute. `npm run explore` visits all of them. */
const states = 15_000

it.each(plans)("the kernel of the inbox breaks no rule: $name", async (plan) => {
  const { violation } = explore(plan, await load(), states)
  assert.isUndefined(violation, `${violation?.rule}\n${violation?.history.join("\n")}`)
})
