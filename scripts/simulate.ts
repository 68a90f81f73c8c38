/**
 * Simulates the platform, the processes and their faults: `npm run simulate -- --seed 7 --trace`.
 *
 * - `--seed`: the seed. Default: 1. `--seeds`: how many seeds, from this one on. Default: 1.
 * - `--minutes`: runs seeds until this time is over, instead of a number of seeds.
 * - `--first`: ends at the first seed that breaks a rule.
 * - `--program`: the kind of the program. Default: the seed chooses it.
 * - `--trace`: prints the history of a seed. `--shrink`: finds a smaller program with the same failure, and prints it.
 * - `--plan`: runs a plan from a file, which `--shrink` has printed.
 *
 * Prints a line for each seed that breaks a rule, and the totals. Exits with 1 if a rule was broken.
 */
import { readFileSync } from "node:fs"
import { parseArgs } from "node:util"
import type { Plan } from "../test/simulation/plan.ts"
import { planOf } from "../test/simulation/planning.ts"
import { fingerprintOf, type Outcome, simulate } from "../test/simulation/run.ts"
import { shrink } from "../test/simulation/shrink.ts"
import { addTo, emptyTotals, linesOf } from "../test/simulation/totals.ts"
import { traceOf } from "../test/simulation/trace.ts"

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    seeds: { type: "string", default: "1" },
    minutes: { type: "string" },
    program: { type: "string" },
    plan: { type: "string" },
    first: { type: "boolean", default: false },
    trace: { type: "boolean", default: false },
    shrink: { type: "boolean", default: false }
  }
})

const startedAt = performance.now()

const cpuMillis = () => {
  const { system, user } = process.cpuUsage()
  return (system + user) / 1000
}

const report = ({ plan, violations }: Outcome) => {
  const rules = new Map<string, Array<string>>()
  for (const { detail, rule } of violations) rules.set(rule, [...(rules.get(rule) ?? []), detail])
  console.log(`seed ${plan.seed} (${plan.program.kind}, ${plan.processes} processes, ${plan.delivery})`)
  for (const [rule, details] of rules) console.log(`  NOT TRUE: ${rule} (${details.length}): ${details[0]}`)
}

const runOne = async (plan: Plan): Promise<Outcome> => {
  const outcome = await simulate(plan)
  if (values.trace) for (const line of traceOf(outcome.events)) console.log(line)
  if (outcome.violations.length === 0) return outcome
  process.exitCode = 1
  report(outcome)
  if (!values.shrink) return outcome
  const until = performance.now() + 120_000
  const smallest = await shrink(outcome, { isOver: () => performance.now() > until })
  console.log("A smaller plan with the same failure:")
  report(smallest)
  console.log(JSON.stringify(smallest.plan))
  return outcome
}

if (values.plan !== undefined) {
  const outcome = await runOne(JSON.parse(readFileSync(values.plan, "utf8")) as Plan)
  console.log(`fingerprint ${fingerprintOf(outcome)}`)
} else {
  const first = Number(values.seed)
  const seeds = values.minutes === undefined ? Number(values.seeds) : Infinity
  const until = startedAt + Number(values.minutes ?? Infinity) * 60_000
  let totals = emptyTotals
  for (let seed = first; seed < first + seeds && performance.now() < until; seed++) {
    const outcome = await runOne(planOf(seed, values.program))
    totals = addTo(totals, outcome)
    if (values.first && outcome.violations.length > 0) break
    if (seeds === 1) console.log(`fingerprint ${fingerprintOf(outcome)}`)
  }
  for (const line of linesOf(totals, performance.now() - startedAt, cpuMillis())) console.log(line)
}
