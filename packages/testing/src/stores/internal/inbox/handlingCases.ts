import type * as Journal from "@colloquy/core/inbox/Journal"
import * as Effect from "effect/Effect"
import { deepStrictEqual, ok } from "node:assert"
import type * as Faults from "../../../emulator/Faults.ts"
import type { HandlingOptions } from "../../InboxSuite.ts"
import type { TestCase } from "../../TestCase.ts"
import { maxTicks, placeOf } from "./handlingProcesses.ts"
import { compare, effectsOf, makePrograms, makeRandom, type Program } from "./handlingPrograms.ts"
import { type Attack, type Outcome, run } from "./handlingRun.ts"

const policies: Readonly<Record<string, Journal.Policy>> = {
  lookUp: "lookUp",
  repeat: "repeat",
  skip: "skip",
  "a function": ({ call }) => Effect.succeed(call === "charge" ? "skip" : "lookUp")
}

/** The request is executed, and its response is lost. */
const cutOff: ReadonlyArray<Faults.Rule> = [{ endpoint: "Messages.send", every: 3, reset: "after" }]

/** Compares the effects of a run with the programs of its handlers. */
const assertOnce = ({ policy, programs }: Attack, outcome: Outcome, what: string): void => {
  const { dead, repeated, skipped, ticks } = outcome
  const isDead = (_: Program, index: number) => dead.programs.includes(index)
  const handled = effectsOf(
    programs.filter((program, index) => !isDead(program, index)),
    (id) => !dead.timers.includes(id)
  )
  // The effects of a program up to its dead letter remain.
  const begun = effectsOf(programs.filter(isDead), () => false)
  const found = {
    dialog: compare(handled.dialog, outcome.dialog, [...begun.dialog, ...dead.timers]),
    group: compare(handled.group, outcome.group, begun.group),
    steps: compare(handled.steps, outcome.steps, begun.steps)
  }
  const missing = Object.values(found).flatMap(({ missing }) => missing)
  deepStrictEqual(missing, [], `missing: ${what}`)
  const extra = Object.values(found).flatMap(({ extra }) => extra)
  ok(extra.length <= repeated, `${extra.join()} more than once, ${repeated} calls repeated: ${what}`)
  // The bot may read its dialogs.
  if (policy !== "repeat") deepStrictEqual(found.dialog.extra, [], `twice in the dialog: ${what}`)
  ok(dead.programs.length + dead.timers.length <= skipped, `dead letters without a skipped call: ${what}`)
  deepStrictEqual(outcome.counts, handled.counts, `state: ${what}`)
  const { all, sorted } = outcome.sums
  const sums: Record<string, number> = {}
  for (const [name, count] of Object.entries(handled.counts)) {
    const owner = name.split(" ")[0]!
    sums[owner] = (sums[owner] ?? 0) + count
  }
  deepStrictEqual(Object.fromEntries(all), sums, `state with keys: ${what}`)
  const places = sorted.map(([, sum]) => placeOf(sum))
  deepStrictEqual(
    places,
    places.toSorted((a, b) => b - a),
    `order of the state: ${what}`
  )
  deepStrictEqual(sorted.toSorted(), all.toSorted(), `sorted state: ${what}`)
  deepStrictEqual(outcome.rung.toSorted(), handled.rung.toSorted(), `timers: ${what}`)
  deepStrictEqual(outcome.set, handled.set, `timers that are not due: ${what}`)
  deepStrictEqual(ticks, maxTicks, `recurring timer: ${what}`)
}

const seedsOf = (runs: number) => Array.from({ length: runs }, (_, index) => index + 1)

/** Kills processes at random points, again and again, and cuts off requests. */
const repeated = (policy: Journal.Policy, seed: number): Attack => {
  const random = makeRandom(seed)
  const programs = makePrograms(random, 4)
  const kills = Array.from({ length: 4 }, () => random.next(60))
  return { policy, programs, processes: seed % 3 === 0 ? 2 : 1, kills, faults: seed % 2 === 0 ? cutOff : [] }
}

export const handlingCases = ({
  concurrency = 1,
  everyPoint = true,
  runs = 30,
  withStore
}: HandlingOptions): ReadonlyArray<TestCase<never>> => {
  const carryOut = (attack: Attack, seed: number): Effect.Effect<Outcome> =>
    withStore(run(attack)).pipe(
      Effect.orDie,
      Effect.tap((outcome) =>
        Effect.sync(() => {
          const { kills, programs } = attack
          assertOnce(attack, outcome, `seed ${seed}, killed at ${kills.join()}: ${JSON.stringify(programs)}`)
        })
      )
    )

  /** Kills a random program at each of its points. */
  const atEachPoint = Effect.fnUntraced(function* (seed: number) {
    const programs = makePrograms(makeRandom(seed), 1)
    for (let first = 0; ; first += concurrency) {
      const outcomes = yield* Effect.forEach(
        Array.from({ length: concurrency }, (_, index) => first + index),
        (point) => carryOut({ policy: "lookUp", programs, processes: 1, kills: [point] }, seed),
        { concurrency }
      )
      if (outcomes.some(({ kills }) => kills === 0)) return ok(first > 5, `seed ${seed} has ${first} points`)
    }
  })

  const ofEachPoint: TestCase<never> = {
    name: "does everything once, at whatever point a process is killed, where the bot may read the chat",
    effect: Effect.forEach(seedsOf(Math.ceil(runs / 10)), atEachPoint, { discard: true })
  }
  const ofPolicies = Object.entries(policies).map(([name, policy]) => ({
    name: `does what handlers ask for, if processes are killed repeatedly, with ${name === "a function" ? "a function as policy" : `the policy "${name}"`}`,
    effect: Effect.gen(function* () {
      const attack = (seed: number) => carryOut(repeated(policy, seed), seed)
      const outcomes = yield* Effect.forEach(seedsOf(runs), attack, { concurrency })
      const sum = (of: (outcome: Outcome) => number) => outcomes.reduce((sum, outcome) => sum + of(outcome), 0)
      ok(sum(({ kills }) => kills) >= runs, "too few processes were killed")
      if (policy !== "skip") ok(sum(({ repeated }) => repeated) > 0, "no call was repeated")
      if (policy === "skip" || typeof policy !== "string") ok(sum(({ skipped }) => skipped) > 0, "no call was skipped")
    })
  }))
  return everyPoint ? [ofEachPoint, ...ofPolicies] : ofPolicies
}
