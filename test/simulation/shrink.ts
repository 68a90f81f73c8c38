/** Finds a smaller plan that breaks the same rule. */
import type { FaultName, Faults, Plan } from "./plan.ts"
import { smallerPrograms } from "./programs/programs.ts"
import { smallerLists } from "./programs/smaller.ts"
import { type Outcome, simulate } from "./run.ts"

const withoutFaults = ({ faults }: Plan): ReadonlyArray<Faults> => {
  const names = Object.keys(faults) as ReadonlyArray<FaultName>
  const possible = names.filter((name) => (faults[name] ?? 0) > 0)
  const without = (left: ReadonlyArray<FaultName>): Faults => ({
    ...faults,
    ...Object.fromEntries(left.map((name) => [name, 0]))
  })
  return possible.length === 0 ? [] : [without(possible), ...possible.map((name) => without([name]))]
}

/** Plans that are a little smaller, those that leave out most first. */
const smallerPlans = (plan: Plan): ReadonlyArray<Plan> => [
  ...smallerLists(plan.disturbances).map((disturbances) => ({ ...plan, disturbances })),
  ...withoutFaults(plan).map((faults) => ({ ...plan, faults })),
  ...(plan.processes > 1
    ? [
        { ...plan, processes: 1 },
        { ...plan, processes: plan.processes - 1 }
      ]
    : []),
  ...smallerPrograms(plan.program).map((program) => ({ ...plan, program })),
  ...(plan.latency > 0 ? [{ ...plan, latency: 0 }] : []),
  ...(plan.skews.some((skew) => skew !== 0) ? [{ ...plan, skews: [0] }] : []),
  ...(plan.storeSkew === 0 ? [] : [{ ...plan, storeSkew: 0 }]),
  ...(plan.yieldProbability > 0 ? [{ ...plan, yieldProbability: 0 }] : []),
  ...(plan.order === "fifo" ? [] : [{ ...plan, order: "fifo" as const }])
]

/** How many seeds of the interleaving are tried for each smaller plan: a smaller program needs other luck. */
const tries = 3

const tryPlan = async (plan: Plan, rule: string): Promise<Outcome | undefined> => {
  for (let attempt = 0; attempt < tries; attempt++) {
    const outcome = await simulate({ ...plan, seed: plan.seed + attempt })
    if (outcome.violations.some((violation) => violation.rule === rule)) return outcome
  }
  return undefined
}

/** Shrinks the plan of an outcome until no smaller plan breaks its first rule, or the time is over. */
export const shrink = async (
  outcome: Outcome,
  options: { readonly isOver: () => boolean; readonly onSmaller?: (outcome: Outcome) => void }
): Promise<Outcome> => {
  const rule = outcome.violations[0].rule
  let smallest = outcome
  const step = async (): Promise<boolean> => {
    for (const plan of smallerPlans(smallest.plan)) {
      if (options.isOver()) return false
      const smaller = await tryPlan(plan, rule)
      if (smaller === undefined) continue
      smallest = smaller
      options.onSmaller?.(smaller)
      return true
    }
    return false
  }
  while (await step());
  return smallest
}
