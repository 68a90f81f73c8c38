/** What a run consists of, as JSON that a seed decides: it is printed, made smaller, and run again. */
import type { Timed } from "../../packages/testing/src/simulation/internal/machine/disturbing.ts"
import type * as machine from "../../packages/testing/src/simulation/internal/machine/machine.ts"

/** What the bot does and what people do with it. `programs` knows what the plan of each kind is. */
export interface ProgramPlan {
  readonly kind: string
  readonly plan: unknown
}

/** Probabilities of faults. 0: the fault is not possible in this run. */
export interface Faults extends machine.Faults {
  /** A handler or a step fails. */
  readonly handler: number
  /** A person deletes a message, which is theirs, or in a group that is theirs. Older plans have no such fault. */
  readonly removed?: number
}

export type FaultName = keyof Faults

/** What a process does when something happens to it: an operation that the store has just applied, or something else. */
export type Moment =
  | "claim"
  | "commit"
  | "enqueue"
  | "write"
  | "renew"
  /** A handler begins. */
  | "began"
  /** A message has left, or is there and its answer has not arrived. */
  | "sent"
  | "executed"
  /** A handler has the result of a step. */
  | "received"

/** Something that happens to one of the running processes, or to the store. */
export interface Disturbance extends Omit<machine.Disturbance, "kind">, Timed<Moment> {
  /** `failover`: a replica takes the place of the store, which has lost the last `millis` milliseconds. */
  readonly kind: machine.Disturbance["kind"] | "failover"
}

export interface Plan extends machine.MachinePlan {
  readonly seed: number
  readonly program: ProgramPlan
  readonly order: "random" | "fifo" | "priority"
  readonly yieldProbability: number
  /** How far the clock of the store is ahead, in milliseconds. */
  readonly storeSkew: number
  readonly faults: Faults
  readonly disturbances: ReadonlyArray<Disturbance>
  readonly concurrency: number
  readonly maxInMemory: number
  /** In milliseconds. */
  readonly retryEvery: number
  readonly maxCrashes: number
  /** For how long faults and disturbances happen, in milliseconds. */
  readonly duration: number
  /** For how long the processes go on when everything is done, in milliseconds. Default: 0. */
  readonly quiet?: number
}
