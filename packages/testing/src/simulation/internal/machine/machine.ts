/** The common parts of the machine: the world, its faults and its recorder. */
import type {
  FaultInjected,
  Logged,
  ProcessChanged,
  RequestAnswered,
  RequestExecuted,
  RequestSent,
  StoreApplied
} from "../../SimulationEvent.ts"
import * as Context from "effect/Context"
import type { World } from "../world/world.ts"
import type { Process } from "../world/process.ts"

/** Probabilities of faults. 0: the fault is not possible in this run. */
export interface Faults {
  /** The connection is reset before the platform carries out a request. */
  readonly resetBefore: number
  /** The connection is reset after the platform has carried out a request. */
  readonly resetAfter: number
  /** The platform answers 5xx, and has not carried out the request. */
  readonly errorBefore: number
  /** The platform answers 5xx, and has carried out the request. */
  readonly errorAfter: number
  /** The platform answers 429. */
  readonly tooMany: number
  /** A request is carried out and never answered. */
  readonly silent: number
  /** A response takes up to 40 seconds. */
  readonly slow: number
  /** An operation of the store fails and was not applied. */
  readonly storeBefore: number
  /** An operation of the store fails and was applied. */
  readonly storeAfter: number
  /** An operation of the store fails, and is applied up to 20 seconds later. Default: 0. */
  readonly storeLate?: number
  /** An operation of the store takes up to 4 seconds. */
  readonly storeSlow: number
  /** The store does not wake the other processes. */
  readonly lostWake: number
  /** A delivery of an update does not reach the bot. The platform repeats it later, behind newer updates. */
  readonly deliveryLost: number
  /** The bot receives a delivery, and its answer does not reach the platform. */
  readonly deliveryUnanswered: number
  /** A delivery arrives twice. */
  readonly deliveryDoubled: number
  /** A delivery takes up to 20 seconds. */
  readonly deliveryLate: number
}

/** A disturbance of one of the running processes. */
export interface Disturbance {
  /**
   * `cut`: the process cannot reach the store. `upgrade`: the process is stopped, and started again with the newer version of the
   * bot.
   */
  readonly kind: "kill" | "freeze" | "stop" | "clock" | "cut" | "upgrade"
  /** Which of the running processes. */
  readonly victim: number
  /** After how many milliseconds it goes on or is started again, or by how many its clock moves. */
  readonly millis: number
}

/** How the platform, the stores and the processes are. */
export interface MachinePlan {
  /** Number of processes. */
  readonly processes: number
  /** With `polling`, all processes poll with one token at the same time. */
  readonly delivery: "webhook" | "polling"
  /** The maximum number of updates that a poll returns. Default: that of the platform. */
  readonly pageLimit?: number
  /** The store of the inbox, which all processes share. */
  readonly store: "memory" | "sqlite"
  /** Maximum duration of each way to the platform and to the store, in milliseconds. */
  readonly latency: number
  /** How far the clocks of the processes are ahead, in milliseconds. */
  readonly skews: ReadonlyArray<number>
  /** Whether the store cannot wake processes, which then ask the store more often. */
  readonly isSilent?: boolean
  /** In seconds. */
  readonly leaseDuration: number
  /** How often a webhook checks its subscription, in milliseconds. Default: that of the library. */
  readonly checkEvery?: number
  /** The limits of the clients: none, those of the platform for each process, or for all processes together. */
  readonly limits: "none" | "process" | "shared"
}

/** An event of the machine. */
export type MachineEvent =
  | ProcessChanged
  | RequestSent
  | RequestExecuted
  | RequestAnswered
  | StoreApplied
  | FaultInjected
  | Logged

/** The reason of the errors of a store that fails. */
export const simulated = "simulated"

/** The run of a handler that a fiber belongs to. */
export const CurrentRun = Context.Reference<number | undefined>("simulation/CurrentRun", {
  defaultValue: () => undefined
})

export interface Machine {
  readonly plan: MachinePlan
  readonly world: World
  readonly history: { readonly add: (event: MachineEvent) => void }
  /** Whether a fault happens now. Records the fault. */
  readonly strikes: (fault: keyof Faults, process: Process, detail?: string) => boolean
}
