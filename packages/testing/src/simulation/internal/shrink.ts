/** Finds less of a seed that breaks the same rule: fewer faults, fewer people and fewer actions. */
import type { Case } from "../Simulation.ts"
import { ofType } from "./history.ts"
import type { Outcome } from "./run.ts"

/** A case that breaks a rule. */
export interface Failed {
  readonly seedCase: Case
  readonly outcome: Outcome
}

/** At most this many smaller cases are tried. */
const maxTries = 24

const halvesOf = <A>(all: ReadonlyArray<A>): ReadonlyArray<ReadonlyArray<A>> =>
  all.length < 2 ? [] : [all.slice(0, all.length / 2), all.slice(all.length / 2)]

/** The numbers of the people who have done something. */
const activeIn = ({ history, people }: Outcome): ReadonlyArray<number> => {
  const active = new Set(ofType(history, "did").map(({ user_id }) => user_id))
  return [...people.keys()].filter((index) => active.has(people[index]))
}

/** Cases that are smaller than this one, the smallest first. */
const smallerThan = ({ outcome, seedCase }: Failed): ReadonlyArray<Case> => {
  const { disturbances } = outcome.plan
  const { without = [] } = seedCase
  const kinds = [...new Set(ofType(outcome.history, "fault").map(({ kind }) => kind))]
  const active = activeIn(outcome)
  const actions = Math.min(seedCase.actions ?? Infinity, ofType(outcome.history, "did").length)
  return [
    ...(kinds.length > 0 && disturbances.length > 0
      ? [{ ...seedCase, disturbances: 0, without: [...without, ...kinds] }]
      : []),
    ...(disturbances.length > 0 ? [{ ...seedCase, disturbances: 0 }] : []),
    ...(kinds.length > 1 ? [{ ...seedCase, without: [...without, ...kinds] }] : []),
    ...halvesOf(active).map((people) => ({ ...seedCase, people })),
    ...(actions > 1 ? [{ ...seedCase, actions: Math.floor(actions / 2) }] : []),
    ...(disturbances.length > 1 ? [{ ...seedCase, disturbances: Math.floor(disturbances.length / 2) }] : []),
    ...kinds.map((kind) => ({ ...seedCase, without: [...without, kind] })),
    ...(actions > 4 ? [{ ...seedCase, actions: Math.floor((3 * actions) / 4) }] : [])
  ]
}

/** Returns the smallest case that was found. `attempt` returns the outcome of a case that breaks the same rule. */
export const shrink = async (
  failed: Failed,
  attempt: (seedCase: Case) => Promise<Outcome | undefined>
): Promise<Failed> => {
  let smallest = failed
  let tries = 0
  const step = async (): Promise<boolean> => {
    for (const seedCase of smallerThan(smallest)) {
      if (++tries > maxTries) return false
      const outcome = await attempt(seedCase)
      if (outcome === undefined) continue
      smallest = { seedCase, outcome }
      return true
    }
    return false
  }
  while (await step());
  return smallest
}
