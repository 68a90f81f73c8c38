/** All seeds of a simulation. */
import * as Effect from "effect/Effect"
import type { Case, End, Invariant, Options, Services, SimulationFailed, Violation } from "../Simulation.ts"
import { ofType } from "./history.ts"
import * as invariants from "./invariants.ts"
import { type Outcome, simulate, type Subject } from "./run.ts"
import { shrink } from "./shrink.ts"
import { storyOf } from "./story.ts"

/** A rule that does not hold. */
export interface Broken extends Violation {
  readonly rule: string
}

/** The calls of each service that were carried out. */
const endOf = ({ history }: Outcome, services: Services): End<Services> => {
  const calls = Object.fromEntries(Object.keys(services).map((name) => [name, {} as Record<string, Array<unknown>>]))
  for (const { args, at, isSuccess, method, result, service } of ofType(history, "called")) {
    if (!isSuccess) continue
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
type Failure = Pick<SimulationFailed, "case" | "message" | "rule" | "seed">

/** Tells the failure of a seed with as little as possible. */
const tell = async (subject: Subject, seedCase: Case, outcome: Outcome, { rule }: Broken): Promise<Failure> => {
  const attempt = async (smaller: Case) => {
    const other = await simulate(subject, smaller)
    return judge(other, subject.options)?.rule === rule ? other : undefined
  }
  const isRepeated = (await attempt(seedCase)) !== undefined
  const smallest = isRepeated ? await shrink({ seedCase, outcome }, attempt) : { seedCase, outcome }
  const { message, ...where } = judge(smallest.outcome, subject.options) ?? { message: "" }
  const notice =
    "The seed does not repeat this. The bot reads the time or random numbers, or waits, by other means than Effect."
  return {
    seed: seedCase.seed,
    case: smallest.seedCase,
    rule,
    message: [
      `${message}. Rule: ${rule}. Seed: ${seedCase.seed}.`,
      ...storyOf(smallest.outcome.history, where),
      isRepeated ? `The option that repeats this: seeds: [${codeOf(smallest.seedCase)}]` : notice
    ].join("\n")
  }
}

/** A case as code. */
export const codeOf = (seedCase: Case): string =>
  JSON.stringify(seedCase)
    .replaceAll(/"(\w+)":/g, " $1: ")
    .replace(/\}$/, " }")

export const runAll = ({ bot, options }: Omit<Subject, "context">): Effect.Effect<void, Failure> =>
  Effect.gen(function* () {
    const context = yield* Effect.context<never>()
    const subject = { bot, options, context }
    for (const seedCase of casesOf(options)) {
      const outcome = yield* Effect.promise(() => simulate(subject, seedCase))
      const found = judge(outcome, options)
      if (found === undefined) continue
      return yield* Effect.fail(yield* Effect.promise(() => tell(subject, seedCase, outcome, found)))
    }
  })
