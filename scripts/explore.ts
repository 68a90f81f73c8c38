/**
 * Explores the kernel of the inbox: `npm run explore`.
 *
 * - `--plan`, also several times: the beginning of the names of plans. Default: all.
 * - `--states`: the maximum number of states of each plan. Default: all.
 * - `--kills`, `--losses`, `--expiries`, `--delays`: how many faults of a kind there are at most. Default: by the plan.
 * - `--defects`: explores the plans of the planted defects instead, each with its defect. `--defect`: the beginning of their names.
 *
 * Prints the number of states, the time, and the shortest history that breaks a rule. Exits with 1 if a rule was broken, or if a defect
 * was not found.
 */
import { parseArgs } from "node:util"
import { kernelDefects } from "../test/kernel/defects.ts"
import { explore } from "../test/kernel/explore.ts"
import { load } from "../test/kernel/load.ts"
import { plans } from "../test/kernel/plans.ts"
import type { Change } from "../test/simulation/defects/plant.ts"

const { values } = parseArgs({
  options: {
    plan: { type: "string", multiple: true, default: [""] },
    states: { type: "string", default: "Infinity" },
    kills: { type: "string" },
    losses: { type: "string" },
    expiries: { type: "string" },
    delays: { type: "string" },
    defects: { type: "boolean", default: false },
    defect: { type: "string" }
  }
})

const faults = Object.fromEntries(
  (["kills", "losses", "expiries", "delays"] as const).flatMap((kind) => {
    const count = values[kind]
    return count === undefined ? [] : [[kind, Number(count)]]
  })
)

let total = 0

/** Explores a plan, and returns whether a rule was broken. */
const run = async (name: string, defect?: Change): Promise<boolean> => {
  const plan = plans.find((plan) => plan.name === name)!
  const startedAt = process.cpuUsage()
  const explored = explore(
    { ...plan, faults: { ...plan.faults, ...faults } },
    await load(defect),
    Number(values.states)
  )
  const { isCut, states, violation } = explored
  total += states
  const { system, user } = process.cpuUsage(startedAt)
  const seconds = ((system + user) / 1e6).toFixed(1)
  const size = `${states} states${isCut ? " (not all)" : ""} in ${seconds} s of CPU time`
  console.log(
    `${defect?.name ?? name}: ${size}, ${violation === undefined ? "no violation" : `NOT TRUE: ${violation.rule}`}`
  )
  for (const line of violation?.history.slice(0, 80) ?? []) console.log(`    ${line}`)
  return violation !== undefined
}

const chosenDefects = kernelDefects.filter(({ name }) => name.startsWith(values.defect ?? ""))
const chosenPlans = plans.filter(({ name }) => values.plan.some((beginning) => name.startsWith(beginning)))
const areDefects = values.defects || values.defect !== undefined
let found = 0
if (areDefects) for (const defect of chosenDefects) found += (await run(defect.plan, defect)) ? 1 : 0
else for (const { name } of chosenPlans) found += (await run(name)) ? 1 : 0
console.log(
  `${total} states, ${areDefects ? `${found} of ${chosenDefects.length} defects found` : `${found} violations`}`
)
process.exitCode = found === (areDefects ? chosenDefects.length : 0) ? 0 : 1
