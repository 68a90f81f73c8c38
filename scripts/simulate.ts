/**
 * Simulates the platform, the processes and their faults: `npm run simulate -- --seed 7 --trace`.
 *
 * - `--seed`: the seed. Default: 1. `--seeds`: how many seeds, from this one on. Default: 1.
 * - `--minutes`: runs seeds until this time is over, instead of a number of seeds.
 * - `--workers`: how many threads run seeds. Default: 1.
 * - `--first`: ends at the first seed that breaks a rule.
 * - `--program`: the kind of the program. Default: the seed chooses it.
 * - `--situation`: what happens again and again, such as `freezes`: docs/simulation.md has all. Default: the seed chooses what happens.
 * - `--trace`: prints the history of a seed. `--shrink`: finds a smaller program with the same failure, and prints it.
 * - `--plan`: runs a plan from a file, which `--shrink` has printed.
 *
 * Prints a line for each seed that breaks a rule, what was done so far each minute, and the totals. Exits with 1 if a rule was
 * broken.
 */
import { readFileSync } from "node:fs"
import { parseArgs } from "node:util"
import { isMainThread, parentPort, Worker } from "node:worker_threads"
import type { Plan } from "../test/simulation/plan.ts"
import { planOf, situationNames } from "../test/simulation/planning.ts"
import { fingerprintOf, type Outcome, simulate } from "../test/simulation/run.ts"
import { shrink } from "../test/simulation/shrink.ts"
import { emptyTotals, linesOf, merged, progressOf, type Totals, totalsOf } from "../test/simulation/totals.ts"
import { traceOf } from "../test/simulation/trace.ts"

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    seeds: { type: "string", default: "1" },
    minutes: { type: "string" },
    workers: { type: "string", default: "1" },
    program: { type: "string" },
    situation: { type: "string" },
    plan: { type: "string" },
    first: { type: "boolean", default: false },
    trace: { type: "boolean", default: false },
    shrink: { type: "boolean", default: false }
  }
})

const situation = situationNames.find((name) => name === values.situation)
if (situation === undefined && values.situation !== undefined) {
  throw new Error(`There is no situation ${values.situation}. Choose one of ${situationNames.join(", ")}.`)
}

/** What a run did, and what is printed of it. */
interface Ran {
  readonly totals: Totals
  readonly lines: ReadonlyArray<string>
}

const report = ({ plan, violations }: Outcome): ReadonlyArray<string> => {
  const rules = new Map<string, Array<string>>()
  for (const { detail, rule } of violations) rules.set(rule, [...(rules.get(rule) ?? []), detail])
  return [
    `seed ${plan.seed} (${plan.program.kind}, ${plan.processes} processes, ${plan.delivery})`,
    ...[...rules].map(([rule, details]) => `  NOT TRUE: ${rule} (${details.length}): ${details[0]}`)
  ]
}

const smallerOf = async (outcome: Outcome): Promise<ReadonlyArray<string>> => {
  const until = performance.now() + 120_000
  const smallest = await shrink(outcome, { isOver: () => performance.now() > until })
  return ["A smaller plan with the same failure:", ...report(smallest), JSON.stringify(smallest.plan)]
}

const run = async (plan: Plan, isSingle: boolean): Promise<Ran> => {
  const outcome = await simulate(plan)
  const isBroken = outcome.violations.length > 0
  const lines = [
    ...(values.trace ? traceOf(outcome.events) : []),
    ...(isBroken ? report(outcome) : []),
    ...(isBroken && values.shrink ? await smallerOf(outcome) : []),
    ...(isSingle ? [`fingerprint ${fingerprintOf(outcome)}`] : [])
  ]
  return { totals: totalsOf(outcome), lines }
}

const isSingle = values.minutes === undefined && values.seeds === "1"

/** A defect of the simulator itself does not end a run of many seeds. */
const runSeed = (seed: number): Promise<Ran> =>
  run(planOf(seed, values.program, situation), isSingle).catch((error: unknown) => ({
    totals: { ...emptyTotals, seeds: 1, broken: 1 },
    lines: [`seed ${seed} could not be simulated: ${error instanceof Error ? error.stack : String(error)}`]
  }))

/** Runs seeds in a thread of its own, one after the other. */
const startWorker = () => {
  const worker = new Worker(new URL(import.meta.url), { argv: process.argv.slice(2) })
  let settle: PromiseWithResolvers<Ran> | undefined
  worker.on("message", (ran: Ran) => settle?.resolve(ran))
  worker.on("error", (error) => settle?.reject(error))
  return {
    runSeed: (seed: number): Promise<Ran> => {
      settle = Promise.withResolvers()
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
      worker.postMessage(seed)
      return settle.promise
    },
    end: () => worker.terminate()
  }
}

const runSeeds = async (): Promise<void> => {
  const startedAt = performance.now()
  const first = Number(values.seed)
  const end = values.minutes === undefined ? first + Number(values.seeds) : Infinity
  const until = startedAt + Number(values.minutes ?? Infinity) * 60_000
  let totals = emptyTotals
  let next = first
  let hasEnded = false
  const lane = async (runSeed: (seed: number) => Promise<Ran>) => {
    while (!hasEnded && next < end && performance.now() < until) {
      const ran = await runSeed(next++)
      for (const line of ran.lines) console.log(line)
      totals = merged(totals, ran.totals)
      if (values.first && ran.totals.broken > 0) hasEnded = true
    }
  }
  const progress = setInterval(
    () => console.log(progressOf(totals, performance.now() - startedAt, process.memoryUsage.rss())),
    60_000
  )
  const workers = Number(values.workers) > 1 ? Array.from({ length: Number(values.workers) }, startWorker) : []
  await Promise.all(workers.length > 0 ? workers.map((worker) => lane(worker.runSeed)) : [lane(runSeed)])
  clearInterval(progress)
  const { system, user } = process.cpuUsage()
  for (const line of linesOf(totals, performance.now() - startedAt, (system + user) / 1000)) console.log(line)
  await Promise.all(workers.map(({ end }) => end()))
  if (totals.broken > 0) process.exitCode = 1
}

if (!isMainThread) {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port of a thread has no origin
  const send = (ran: Ran) => parentPort?.postMessage(ran)
  parentPort?.on("message", (seed: number) => void runSeed(seed).then(send))
} else if (values.plan === undefined) await runSeeds()
else {
  const { lines, totals } = await run(JSON.parse(readFileSync(values.plan, "utf8")) as Plan, true)
  for (const line of lines) console.log(line)
  if (totals.broken > 0) process.exitCode = 1
}
