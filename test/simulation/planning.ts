/** Makes plans from seeds. */
import type { Disturbance, FaultName, Faults, Plan } from "./plan.ts"
import { planProgram } from "./programs/programs.ts"
import { Dice } from "./world/dice.ts"

/** The highest probability of each fault. */
const highest: Faults = {
  resetBefore: 0.05,
  resetAfter: 0.05,
  errorBefore: 0.05,
  errorAfter: 0.05,
  tooMany: 0.03,
  silent: 0.02,
  slow: 0.03,
  storeBefore: 0.04,
  storeAfter: 0.04,
  storeSlow: 0.04,
  lostWake: 0.5,
  deliveryLost: 0.1,
  deliveryUnanswered: 0.1,
  deliveryDoubled: 0.2,
  deliveryLate: 0.1,
  handler: 0.5
}

const faultNames = Object.keys(highest) as ReadonlyArray<FaultName>

/** Which faults are possible differs from seed to seed, because frequent faults hide defects that need quiet phases. */
const planFaults = (dice: Dice): Faults => {
  const all = dice.pick([0, 0.3, 0.6])
  const faults = Object.fromEntries(
    faultNames.map((name) => [name, dice.chance(all) ? highest[name] * dice.pick([0.3, 1]) : 0])
  )
  return faults as unknown as Faults
}

const kinds = ["kill", "freeze", "stop", "clock"] as const

const planDisturbances = (dice: Dice, duration: number): ReadonlyArray<Disturbance> => {
  const enabled = kinds.filter((kind) => dice.chance(kind === "kill" ? 0.65 : kind === "freeze" ? 0.45 : 0.25))
  if (enabled.length === 0) return []
  const every = dice.pick([6000, 20_000, 60_000])
  const disturbances: Array<Disturbance> = []
  for (let at = dice.int(every * 2); at < duration; at += 1 + dice.int(every * 2)) {
    const kind = dice.pick(enabled)
    const millis =
      kind === "clock"
        ? dice.int(240_000) - 120_000
        : kind === "freeze"
          ? dice.int(dice.pick([3000, 50_000]))
          : dice.pick([0, dice.int(1000), dice.int(20_000)])
    disturbances.push({ kind, at, tasks: dice.int(dice.pick([1, 100])), victim: dice.int(5), millis })
  }
  return disturbances
}

/** Programs whose people do not wait for answers. */
const diesOfCrashes = new Set(["handlers", "pipelines"])

export const planOf = (seed: number, kind?: string): Plan => {
  const dice = new Dice(`plan ${seed}`)
  const program = planProgram(dice.fork("program"), kind)
  const delivery = dice.weighted([
    [4, "webhook"],
    [1, "polling"]
  ] as const)
  const duration = dice.pick([60_000, 240_000])
  const hasSkews = dice.chance(0.3)
  const skew = () => (hasSkews ? dice.int(240_000) - 120_000 : 0)
  return {
    seed,
    program,
    // Two processes that poll with one token take updates from each other, by the rules of the platform.
    processes: delivery === "polling" ? 1 : 1 + dice.int(dice.pick([3, 5])),
    delivery,
    store: dice.weighted([
      [5, "memory"],
      [1, "sqlite"]
    ] as const),
    order: dice.weighted([
      [6, "random"],
      [2, "fifo"],
      [2, "priority"]
    ] as const),
    yieldProbability: dice.pick([0, 0.002, 0.02, 0.2]),
    latency: dice.pick([0, 20, 80, 80]),
    skews: Array.from({ length: 5 }, skew),
    storeSkew: skew(),
    faults: planFaults(dice.fork("faults")),
    disturbances: planDisturbances(dice.fork("disturbances"), duration),
    concurrency: dice.pick([1, 4, 64]),
    maxInMemory: dice.pick([1, 10, 1000]),
    leaseDuration: dice.pick([5, 10, 30]),
    retryEvery: dice.pick([1000, 2000, 5000]),
    // People who wait for an answer would wait for ever if their update becomes a dead letter.
    maxCrashes: diesOfCrashes.has(program.kind) ? dice.pick([3, 1000]) : 1000,
    limits: dice.pick(["none", "process", "shared"]),
    duration
  }
}
