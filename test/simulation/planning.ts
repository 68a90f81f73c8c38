/** Makes plans from seeds. */
import type { Disturbance, FaultName, Faults, Moment, Plan } from "./plan.ts"
import { calmer, planProgram } from "./programs/programs.ts"
import { Dice } from "../../packages/testing/src/simulation/internal/world/dice.ts"

/** Only a situation has late operations of the store. */
type PlannedFault = Exclude<FaultName, "storeLate">

/** The highest probability of each fault. */
const highest: Record<PlannedFault, number> = {
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
  handler: 0.5,
  removed: 0.5
}

/** The probability of each fault if few others are possible. */
const frequent: Faults = {
  resetBefore: 0.3,
  resetAfter: 0.3,
  errorBefore: 0.2,
  errorAfter: 0.3,
  tooMany: 0.2,
  silent: 0.1,
  slow: 0.3,
  storeBefore: 0.2,
  storeAfter: 0.2,
  storeSlow: 0.2,
  lostWake: 1,
  deliveryLost: 0.3,
  deliveryUnanswered: 0.3,
  deliveryDoubled: 0.5,
  deliveryLate: 0.5,
  handler: 0.5
}

const faultNames = Object.keys(highest) as ReadonlyArray<PlannedFault>

const platformFaults: ReadonlyArray<PlannedFault> = [
  "resetBefore",
  "resetAfter",
  "errorBefore",
  "errorAfter",
  "tooMany",
  "silent",
  "slow"
]

/** A request is lost while another one waits for its answer. */
const slowAnswers: ReadonlyArray<PlannedFault> = ["resetBefore", "slow"]

const storeFaults: ReadonlyArray<PlannedFault> = ["storeBefore", "storeAfter", "storeSlow", "lostWake"]

const faultsOf = (probabilityOf: (name: PlannedFault) => number): Faults =>
  Object.fromEntries(faultNames.map((name) => [name, probabilityOf(name)])) as Record<PlannedFault, number>

const noFaults = faultsOf(() => 0)

/**
 * Which faults are possible differs from seed to seed, because frequent faults hide defects that need quiet phases, and because
 * some defects need the same fault several times.
 */
const planKinds = (dice: Dice, kind: string): Faults => {
  if (dice.chance(0.4)) {
    // Faults of one part meet each other, such as a request that is lost while another one waits for its answer.
    const parts =
      kind === "rows"
        ? [faultNames, storeFaults, storeFaults]
        : [faultNames, faultNames, platformFaults, slowAnswers, storeFaults]
    const names = dice.fork("part").pick(parts)
    const few = new Set([dice.pick(names), dice.pick(names), dice.pick(names)].slice(dice.int(3)))
    return faultsOf((name) => (few.has(name) ? (frequent[name] ?? 0) : 0))
  }
  const all = dice.pick([0, 0.3, 0.6])
  return faultsOf((name) => (dice.chance(all) ? highest[name] * dice.pick([0.3, 1]) : 0))
}

const planFaults = (dice: Dice, kind: string): Faults => {
  const faults = planKinds(dice, kind)
  // In some seeds nobody is ever woken.
  return dice.fork("wakes").chance(0.15) ? { ...faults, lostWake: 1 } : faults
}

const kinds = ["kill", "freeze", "stop", "clock", "cut", "upgrade"] as const

const moments: ReadonlyArray<Moment> = [
  "claim",
  "commit",
  "enqueue",
  "write",
  "renew",
  "began",
  "sent",
  "executed",
  "received"
]

/** After how many milliseconds a process that has ended is started again. */
const planRestart = (dice: Dice, areLong: boolean): number =>
  dice.weighted([
    [areLong ? 0 : 2, 0],
    [areLong ? 0 : 2, dice.int(1000)],
    [areLong ? 0 : 2, dice.int(20_000)],
    [1, 60_000 + dice.int(140_000)]
  ] as const)

/** In some seeds, a process that has ended leaves all the work to the others for a long time. */
const planAbsences = (dice: Dice): boolean => dice.fork("absences").chance(0.2)

type Plot = ReadonlyArray<Pick<Disturbance, "kind" | "on" | "isOther">>

/** A chat goes to another process, which dies, and comes back to a process that remembers what the store does not have. */
const plots: ReadonlyArray<Plot> = [
  [
    { on: "executed", kind: "cut" },
    { on: "began", kind: "kill", isOther: true }
  ],
  [
    { on: "executed", kind: "freeze" },
    { on: "began", kind: "kill", isOther: true }
  ],
  [{ on: "received", kind: "kill" }]
]

/** What happens to processes at certain moments is of few kinds, so that the same happens several times. */
const planKindsOfMoments = (dice: Dice): ReadonlyArray<Plot> =>
  dice.fork("plot").chance(0.3)
    ? [dice.fork("plots").pick(plots)]
    : [dice.pick(moments), dice.pick(moments)].map((on) => [
        { on, kind: dice.pick(["kill", "kill", "freeze", "freeze", "cut", "stop", "upgrade"] as const) }
      ])

const planMoments = (dice: Dice, duration: number): ReadonlyArray<Disturbance> => {
  const kinds = planKindsOfMoments(dice)
  const every = dice.pick([5000, 20_000])
  const areLong = planAbsences(dice)
  const disturbances: Array<Disturbance> = []
  for (let at = dice.int(every * 2); at < duration; at += 1 + dice.int(every * 2)) {
    for (const { kind, ...moment } of dice.pick(kinds)) {
      const millis = kind === "freeze" || kind === "cut" ? 5000 + dice.int(30_000) : planRestart(dice, areLong)
      disturbances.push({ kind, at, tasks: dice.pick([0, dice.int(10)]), victim: dice.int(5), millis, ...moment })
    }
  }
  return disturbances
}

/** What people of other programs wait for can be lost with the store. */
const survivesFailovers = new Set(["handlers", "pipelines"])

const planFailovers = (dice: Dice, duration: number): ReadonlyArray<Disturbance> =>
  Array.from({ length: dice.chance(0.2) ? 1 + dice.int(3) : 0 }, () => ({
    kind: "failover",
    at: dice.int(duration),
    tasks: dice.int(100),
    victim: 0,
    millis: dice.int(dice.pick([100, 2000, 20_000])),
    ...(dice.chance(0.5) ? { on: dice.pick(["began", "claim", "enqueue", "write"] as const) } : {})
  }))

/**
 * The store fails over again and again while handlers begin: some of the updates that are handled are lost, and the leases of
 * their chats are not.
 */
const planManyFailovers = (dice: Dice, duration: number, isCalm: boolean): ReadonlyArray<Disturbance> => {
  const every = isCalm ? 2500 : dice.pick([5000, 20_000, 60_000])
  const lag = isCalm ? 3000 : dice.pick([2000, 5000, 20_000])
  const disturbances: Array<Disturbance> = []
  for (let at = dice.int(every * 2); at < duration; at += 1 + dice.int(every * 2)) {
    disturbances.push({ kind: "failover", at, tasks: dice.int(20), victim: 0, millis: dice.int(lag), on: "began" })
  }
  return disturbances
}

const planDisturbances = (dice: Dice, duration: number): ReadonlyArray<Disturbance> => {
  if (dice.chance(0.35)) return planMoments(dice.fork("moments"), duration)
  const enabled = kinds.filter((kind) => dice.chance(kind === "kill" ? 0.65 : kind === "freeze" ? 0.45 : 0.25))
  if (enabled.length === 0) return []
  const every = dice.pick([6000, 20_000, 60_000])
  const areLong = planAbsences(dice)
  const disturbances: Array<Disturbance> = []
  for (let at = dice.int(every * 2); at < duration; at += 1 + dice.int(every * 2)) {
    const kind = dice.pick(enabled)
    const millis =
      kind === "clock"
        ? dice.int(240_000) - 120_000
        : kind === "freeze" || kind === "cut"
          ? dice.int(dice.pick([3000, 50_000]))
          : planRestart(dice, areLong)
    disturbances.push({ kind, at, tasks: dice.int(dice.pick([1, 100])), victim: dice.int(5), millis })
  }
  return disturbances
}

/**
 * Every seed watches for a minute whether a bot that has nothing to do handles something again. One in four watches for an hour
 * how often the bot looks for work. The others use the time of the core for more seeds.
 */
const quietPhases = [60_000, 60_000, 60_000, 3_600_000]

/** Programs whose people do not wait for answers. */
const diesOfCrashes = new Set(["handlers", "pipelines", "rows"])

/**
 * Everything happens at once, in any order, or with fibers that wait for all others: what has to be one step, and is not, shows
 * most often.
 */
const planTight = (dice: Dice): Partial<Plan> => ({
  order: dice.pick(["random", "priority", "priority", "priority"]),
  yieldProbability: 0.2,
  latency: 0,
  concurrency: 1,
  limits: "none",
  disturbances: []
})

/**
 * A process that makes no calls and knows all answers of the store keeps the order of chats after failovers, except behind updates
 * whose acknowledgements are lost.
 */
const calm: Partial<Plan> = {
  processes: 1,
  latency: 20,
  faults: noFaults,
  concurrency: 64,
  maxInMemory: 1000,
  leaseDuration: 30
}

/** Some chats of a process go to processes with little room, while its batches wait for their acknowledgement. */
const planWaiting = (dice: Dice, duration: number): Partial<Plan> => {
  const disturbances: Array<Disturbance> = []
  for (let at = dice.int(16_000); at < duration; at += 1 + dice.int(16_000)) {
    const kind = dice.pick(["freeze", "cut"] as const)
    disturbances.push({ kind, at, tasks: dice.int(20), victim: dice.int(5), millis: 3000 + dice.int(12_000) })
  }
  return { ...calm, processes: 3, concurrency: 1, maxInMemory: 4, leaseDuration: 5, disturbances }
}

/** The same happens to some process again and again, about as often as `every` milliseconds. */
const again = (
  dice: Dice,
  duration: number,
  every: number,
  disturbance: () => Pick<Disturbance, "kind" | "on" | "millis">
): ReadonlyArray<Disturbance> => {
  const disturbances: Array<Disturbance> = []
  for (let at = dice.int(every * 2); at < duration; at += 1 + dice.int(every * 2)) {
    disturbances.push({ at, tasks: dice.int(10), victim: dice.int(5), ...disturbance() })
  }
  return disturbances
}

/**
 * Situations in which defects show that few seeds find. `--situation` changes the plan of each seed so that the same unlikely events
 * happen again and again.
 */
const situations = {
  /**
   * Processes stand still for longer than their leases, in the middle of a call or of a write. The store of half of the seeds is slow,
   * so that claims are under way while a process stands still.
   */
  freezes: (dice: Dice, duration: number): Partial<Plan> => {
    const on = dice.pick(["executed", "executed", "claim", "write", "received"] as const)
    const isSlow = dice.chance(0.3)
    const storeSlow = dice.fork("store").pick([0, 0.4])
    return {
      processes: 2,
      order: isSlow ? "random" : "priority",
      yieldProbability: isSlow ? 0 : 0.2,
      latency: isSlow ? 80 : 0,
      faults: { ...noFaults, storeSlow },
      leaseDuration: 5,
      limits: "none",
      disturbances: again(dice, duration, 4000, () => ({ kind: "freeze", on, millis: 5000 + dice.int(8000) }))
    }
  },
  /** The store loses the last commits while claims are under way. */
  failovers: (dice: Dice, duration: number): Partial<Plan> => {
    const on = dice.pick(["commit", "commit", "began"] as const)
    return {
      ...calm,
      store: "memory",
      latency: 300,
      disturbances: again(dice, duration, 2500, () => ({ kind: "failover", on, millis: dice.int(3000) }))
    }
  },
  /** Processes do not reach the stores for some seconds, and the rate limiter is one of them. */
  cuts: (dice: Dice, duration: number): Partial<Plan> => ({
    processes: 2 + dice.int(4),
    order: dice.pick(["random", "priority"]),
    yieldProbability: dice.pick([0, 0.2]),
    latency: dice.pick([80, 1000]),
    faults: { ...noFaults, slow: 0.3 },
    leaseDuration: 10,
    limits: "shared",
    disturbances: again(dice, duration, 6000, () => ({
      kind: dice.pick(["cut", "cut", "freeze"] as const),
      on: dice.pick(["sent", "executed"] as const),
      millis: 5000 + dice.int(30_000)
    }))
  }),
  /** Processes stand still for longer than their leases while messages are sent, and the stores, which answer at once, often fail. */
  outages: (dice: Dice, duration: number): Partial<Plan> => ({
    processes: 2 + dice.int(4),
    order: "priority",
    yieldProbability: 0.2,
    latency: 0,
    faults: { ...noFaults, slow: 0.3, storeBefore: 0.1 },
    leaseDuration: 5,
    limits: "shared",
    disturbances: again(dice, duration, 4000, () => ({
      kind: "freeze",
      on: dice.pick(["sent", "executed"] as const),
      millis: 5000 + dice.int(8000)
    }))
  }),
  /** Clocks of processes jump by up to two minutes, and processes end, stand still, or do not get the answers to their claims. */
  clocks: (dice: Dice, duration: number): Partial<Plan> => ({
    processes: dice.pick([1, 1, 3]),
    latency: dice.pick([80, 1500]),
    faults: noFaults,
    leaseDuration: 5,
    limits: "none",
    disturbances: again(dice, duration, 4000, () => {
      const [kind, on] = dice.pick([
        ["cut", "claim"],
        ["clock", "began"],
        ["clock", "renew"],
        ["clock", "sent"],
        ["freeze", "began"],
        ["kill", "write"]
      ] as const)
      return {
        kind,
        on,
        millis: kind === "clock" ? dice.int(240_000) - 120_000 : dice.int(kind === "cut" ? 3000 : 15_000)
      }
    })
  }),
  /** The platform carries out requests whose answers are lost, while processes end and people delete messages. */
  answers: (dice: Dice, duration: number): Partial<Plan> => ({
    processes: 2 + dice.int(2),
    latency: dice.pick([0, 80]),
    faults: { ...noFaults, resetAfter: 0.3, slow: 0.3, removed: 0.3, errorAfter: 0.1, silent: 0.1 },
    leaseDuration: 5,
    disturbances: again(dice, duration, 4000, () => {
      const kind = dice.pick(["kill", "freeze", "cut"] as const)
      return { kind, on: dice.pick(["sent", "executed", "write"] as const), millis: dice.int(10_000) }
    })
  }),
  /** The store takes seconds for half of its operations, its answers are lost, and handlers fail. */
  delays: (dice: Dice): Partial<Plan> => ({
    processes: 1 + dice.int(2),
    latency: dice.pick([80, 1000]),
    faults: { ...noFaults, storeSlow: 0.5, storeAfter: 0.15, handler: 0.5 },
    leaseDuration: 5,
    disturbances: []
  }),
  /** A store applies operations long after they have failed. */
  late: (dice: Dice): Partial<Plan> => ({
    processes: 1 + dice.int(3),
    faults: { ...noFaults, storeLate: dice.pick([0.02, 0.1, 0.3]) },
    leaseDuration: 5
  }),
  /** Processes are stopped while a store that answers after a second writes. */
  stops: (dice: Dice, duration: number): Partial<Plan> => ({
    processes: 1 + dice.int(2),
    latency: 1000,
    faults: noFaults,
    leaseDuration: 10,
    disturbances: again(dice, duration, 6000, () => ({
      kind: dice.pick(["stop", "upgrade"] as const),
      on: dice.pick(["write", "claim", "began"] as const),
      millis: dice.int(2000)
    }))
  })
}

export type Situation = keyof typeof situations

export const situationNames = Object.keys(situations) as ReadonlyArray<Situation>

export const planOf = (seed: number, kind?: string, situation?: Situation): Plan => {
  if (situation === undefined) return planCommon(seed, kind)
  const plan = planCommon(seed, kind ?? (situation === "failovers" || situation === "late" ? "handlers" : undefined))
  const dice = new Dice(`${situation} ${seed}`)
  // A replica does not apply the late operations of the store that it replaces.
  const disturbances = plan.disturbances.filter(({ kind }) => situation !== "late" || kind !== "failover")
  return { ...plan, disturbances, ...situations[situation](dice, plan.duration) }
}

const planCommon = (seed: number, kind: string | undefined): Plan => {
  const dice = new Dice(`plan ${seed}`)
  const planned = planProgram(dice.fork("program"), kind)
  const delivery = dice.weighted([
    [4, "webhook"],
    [1, "polling"]
  ] as const)
  const duration = dice.pick([60_000, 240_000])
  const chosen = dice.weighted([
    [5, "memory"],
    [1, "sqlite"]
  ] as const)
  // The store in memory executes no statements.
  const store = planned.kind === "rows" ? "sqlite" : chosen
  const mayFailOver = store === "memory" && survivesFailovers.has(planned.kind)
  const hasManyFailovers = mayFailOver && dice.fork("many failovers").chance(0.1)
  const isCalm = hasManyFailovers && planned.kind === "handlers" && dice.fork("calm").chance(0.5)
  const isWaiting = planned.kind === "rows" && dice.fork("waiting").chance(0.15)
  const program = isCalm || isWaiting ? calmer(planned) : planned
  const failovers = mayFailOver ? planFailovers(dice.fork("failovers"), duration) : []
  const disturbances = hasManyFailovers
    ? planManyFailovers(dice.fork("failovers"), duration, isCalm)
    : [...planDisturbances(dice.fork("disturbances"), duration), ...failovers]
  const hasSkews = dice.chance(0.3)
  const isTight = dice.chance(0.2)
  const skew = () => (hasSkews ? dice.int(240_000) - 120_000 : 0)
  return {
    seed,
    program,
    processes: 1 + dice.int(dice.pick([3, 5])),
    delivery,
    pageLimit: dice.pick([1, 3, 100]),
    store,
    order: dice.weighted([
      [6, "random"],
      [2, "fifo"],
      [2, "priority"]
    ] as const),
    yieldProbability: dice.pick([0, 0.002, 0.02, 0.2]),
    latency: dice.pick([0, 20, 80, 80, 1000]),
    skews: Array.from({ length: 5 }, skew),
    storeSkew: skew(),
    isSilent: dice.fork("silent").chance(0.25),
    faults: planFaults(dice.fork("faults"), program.kind),
    disturbances: [...disturbances].sort((one, other) => one.at - other.at),
    concurrency: dice.pick([1, 4, 64]),
    maxInMemory: dice.pick([1, 10, 1000]),
    leaseDuration: dice.pick([5, 10, 30]),
    retryEvery: dice.pick([1000, 2000, 5000]),
    // People who wait for an answer would wait for ever if their update becomes a dead letter.
    maxCrashes: diesOfCrashes.has(program.kind) ? dice.pick([3, 1000]) : 1000,
    limits: dice.pick(["none", "process", "shared"]),
    duration,
    quiet: dice.fork("quiet").pick(quietPhases),
    ...(isTight ? planTight(dice.fork("tight")) : {}),
    ...(isCalm ? { ...calm, disturbances } : {}),
    ...(isWaiting ? planWaiting(dice.fork("waiting times"), duration) : {})
  }
}
