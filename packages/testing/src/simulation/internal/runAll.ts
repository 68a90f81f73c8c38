/** All seeds of a simulation. */
import * as Effect from "effect/Effect"
import type { Case, End, Invariant, Options, Services, SimulationFailed, Violation } from "../Simulation.ts"
import * as invariants from "./invariants.ts"
import { type Outcome, simulate, type Subject } from "./run.ts"
import { storyOf } from "./story.ts"

/** A rule that does not hold. */
export interface Broken extends Violation {
  readonly rule: string
}

/** The calls of each service that were carried out. */
const endOf = ({ history }: Outcome, services: Services): End<Services> => {
  const calls = Object.fromEntries(Object.keys(services).map((name) => [name, {} as Record<string, Array<unknown>>]))
  for (const event of history.events) {
    if (event.type !== "called" || !event.isSuccess) continue
    const { args, at, method, result, service } = event
    const ofMethod = (calls[service][method] ??= [])
    ofMethod.push({ at, args, result })
  }
  // A method that was not called has no calls.
  const complete = Object.entries(calls).map(([name, methods]) => [
    name,
    new Proxy(methods, { get: (known, method) => Reflect.get(known, method) ?? [] })
  ])
  return { ...Object.fromEntries(complete), history } as End<Services>
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const broken = (rule: string, check: () => ReturnType<Invariant>): Broken | undefined => {
  try {
    const violation = check()
    if (violation === undefined) return undefined
    return typeof violation === "string" ? { rule, message: violation } : { rule, ...violation }
  } catch (error) {
    return { rule, message: messageOf(error) }
  }
}

/** Returns the first rule that does not hold. */
export const judge = (outcome: Outcome, options: Options<Services, unknown>): Broken | undefined => {
  if (outcome.failure !== undefined) return { rule: "time moves", message: outcome.failure }
  const { always = invariants.standard, atEnd, services = {} } = options
  for (const invariant of always) {
    const found = broken(invariant.name || "always", () => invariant(outcome.history))
    if (found !== undefined) return found
  }
  return atEnd && broken("atEnd", () => atEnd(endOf(outcome, services)))
}

const casesOf = ({ seeds = 100 }: Options<Services, unknown>): ReadonlyArray<Case> =>
  typeof seeds === "number"
    ? Array.from({ length: seeds }, (_, index) => ({ seed: index + 1 }))
    : seeds.map((seed) => (typeof seed === "number" ? { seed } : seed))

/** How a seed has failed. */
type Failure = Pick<SimulationFailed, "message" | "rule" | "seed">

const failureOf = ({ history }: Outcome, { message, rule, ...where }: Broken, seedCase: Case): Failure => ({
  seed: seedCase.seed,
  rule,
  message: [
    `${message} (${rule}, seed ${seedCase.seed}).`,
    ...storyOf(history, where),
    `Repeat this with the option seeds: [${JSON.stringify(seedCase)}]`
  ].join("\n")
})

export const runAll = (subject: Omit<Subject, "context">): Effect.Effect<void, Failure> =>
  Effect.gen(function* () {
    const context = yield* Effect.context<never>()
    for (const seedCase of casesOf(subject.options)) {
      const outcome = yield* Effect.promise(() => simulate({ ...subject, context }, seedCase))
      const found = judge(outcome, subject.options)
      if (found === undefined) continue
      return yield* Effect.fail(failureOf(outcome, found, seedCase))
    }
  })
