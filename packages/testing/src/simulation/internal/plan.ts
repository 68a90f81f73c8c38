/** The decisions of a seed before a simulation begins. */
import * as Record from "effect/Record"
import type { Case } from "../Simulation.ts"
import type { Timed } from "./machine/disturbing.ts"
import type { Disturbance, Faults, MachinePlan } from "./machine/machine.ts"
import { Dice } from "./world/dice.ts"

export type FaultLevel = "none" | "mild" | "harsh"

/** When a process is disturbed: a handler has begun, a service or the platform has carried out a call, or the store a commit. */
export type Moment = "began" | "called" | "executed" | "commit" | "write"

export type PlannedDisturbance = Disturbance & Timed<Moment>

export interface Plan extends MachinePlan {
  readonly order: "random" | "fifo"
  readonly yieldProbability: number
  readonly faults: Readonly<Partial<Record<FaultName, number>>>
  readonly disturbances: ReadonlyArray<PlannedDisturbance>
  /** For how long people act, in milliseconds. */
  readonly duration: number
}

/** The highest probability of each fault, also of the faults of the author's services. */
const highest = {
  resetBefore: 0.05,
  resetAfter: 0.08,
  errorBefore: 0.05,
  errorAfter: 0.05,
  tooMany: 0.03,
  silent: 0.02,
  slow: 0.05,
  storeBefore: 0.02,
  storeAfter: 0.03,
  storeSlow: 0.03,
  lostWake: 0.3,
  deliveryLost: 0.05,
  deliveryUnanswered: 0.05,
  deliveryDoubled: 0.2,
  deliveryLate: 0.1,
  /** A call fails, and is not carried out. */
  serviceBefore: 0.15,
  /** A call fails, and is carried out. */
  serviceAfter: 0.2,
  /** A call takes up to 20 seconds longer. */
  serviceSlow: 0.2,
  /** A call is carried out, and never answered. */
  serviceSilent: 0.05,
  /** A call is carried out twice. */
  serviceAgain: 0.1
} satisfies Faults & Readonly<Record<string, number>>

export type FaultName = keyof Faults | keyof typeof highest

/** Which faults are possible differs from seed to seed, because frequent faults hide defects that need quiet phases. */
const planFaults = (dice: Dice, level: FaultLevel): typeof highest => {
  const share = { none: 0, mild: 0.3, harsh: dice.pick([0.2, 0.5, 0.8]) }[level]
  const factor = level === "mild" ? 0.3 : 1
  const faults = Record.map(highest, (most) => (dice.chance(share) ? most * factor * dice.pick([0.3, 1]) : 0))
  return level === "mild" ? { ...faults, serviceAgain: 0, serviceSilent: 0 } : faults
}

const moments: ReadonlyArray<Moment> = ["began", "called", "called", "executed", "executed", "commit", "write"]

const kindsOf = {
  none: [],
  mild: ["stop", "stop", "kill", "upgrade"],
  harsh: ["kill", "kill", "kill", "freeze", "freeze", "stop", "cut", "clock"]
} as const

const planDisturbance = (dice: Dice, kind: Disturbance["kind"], duration: number): PlannedDisturbance => {
  const millis = {
    clock: dice.int(240_000) - 120_000,
    freeze: 5000 + dice.int(60_000),
    cut: 2000 + dice.int(40_000),
    kill: dice.pick([dice.int(2000), dice.int(30_000), dice.int(200_000)]),
    stop: dice.pick([dice.int(2000), dice.int(60_000)]),
    upgrade: dice.int(2000)
  }[kind]
  const timed = {
    kind,
    millis,
    at: dice.int(duration),
    pause: dice.pick([0, 10_000, 120_000, 600_000, 3_600_000]),
    tasks: dice.pick([0, 0, dice.int(10)]),
    victim: dice.int(5)
  }
  return dice.chance(0.85) ? { ...timed, on: dice.pick(moments) } : timed
}

/** Disturbances are few: a process that is killed all the time handles nothing. */
const planDisturbances = (dice: Dice, level: FaultLevel, duration: number): ReadonlyArray<PlannedDisturbance> => {
  const kinds: ReadonlyArray<Disturbance["kind"]> = kindsOf[level]
  if (kinds.length === 0) return []
  const count = dice.int(dice.pick(level === "mild" ? [4] : [6, 20, 60]))
  return Array.from({ length: count }, () => planDisturbance(dice, dice.pick(kinds), duration)).sort(
    (one, other) => one.at - other.at
  )
}

export const planOf = (
  { disturbances, seed, without = [] }: Case,
  { days, faults: level }: { readonly days: number; readonly faults: FaultLevel }
): Plan => {
  const dice = new Dice(`bot ${seed}`)
  const duration = Math.ceil(days * 86_400_000)
  const faults = planFaults(dice.fork("faults"), level)
  const isLeftOut = (name: string) => without.includes(name)
  return {
    processes: level === "none" ? 1 : 1 + dice.fork("processes").int(3),
    delivery: "webhook",
    // Requests that nobody waits for would be most of all requests.
    checkEvery: 86_400_000,
    store: "memory",
    latency: dice.pick([5, 80, 80, 1000]),
    skews: [0],
    leaseDuration: 30,
    limits: "shared",
    order: dice.pick(["random", "random", "fifo"]),
    yieldProbability: dice.pick([0, 0, 0.002, 0.05]),
    faults: Record.map(faults, (probability, name) => (isLeftOut(name) ? 0 : probability)),
    disturbances: planDisturbances(dice.fork("disturbances"), level, duration)
      .slice(0, disturbances)
      .filter(({ kind }) => !isLeftOut(kind)),
    duration
  }
}
