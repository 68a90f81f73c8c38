/** What a run consists of, as JSON that a seed decides: it is printed, made smaller, and run again. */

/** What the bot does and what people do with it. `programs` knows what the plan of each kind is. */
export interface ProgramPlan {
  readonly kind: string
  readonly plan: unknown
}

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

/** Something that happens to one of the running processes. */
export interface Disturbance {
  /**
   * `cut`: the process cannot reach the store. `upgrade`: the process is stopped, and started again with the newer version of the
   * bot. `failover`: a replica takes the place of the store, which has lost the last `millis` milliseconds.
   */
  readonly kind: "kill" | "freeze" | "stop" | "clock" | "cut" | "upgrade" | "failover"
  /** When, in milliseconds. */
  readonly at: number
  /** How many tasks are executed at that time before. */
  readonly tasks: number
  /** Which of the running processes. */
  readonly victim: number
  /** The disturbance waits for this moment of any process, for a while, and happens to this process. */
  readonly on?: Moment
  /** Only moments of other processes count than of the one that was disturbed last, and the disturbance waits longer. */
  readonly isOther?: boolean
  /** After how many milliseconds it goes on or is started again, or by how many its clock moves. */
  readonly millis: number
}

export interface Plan {
  readonly seed: number
  readonly program: ProgramPlan
  /** Number of processes. */
  readonly processes: number
  /** With `polling`, all processes poll with one token at the same time. */
  readonly delivery: "webhook" | "polling"
  /** The maximum number of updates that a poll returns. Older plans have the default of the platform. */
  readonly pageLimit?: number
  /** The store of the inbox, which all processes share. */
  readonly store: "memory" | "sqlite"
  readonly order: "random" | "fifo" | "priority"
  readonly yieldProbability: number
  /** Maximum duration of each way to the platform and to the store, in milliseconds. */
  readonly latency: number
  /** How far the clocks of the processes are ahead, in milliseconds. */
  readonly skews: ReadonlyArray<number>
  /** How far the clock of the store is ahead, in milliseconds. */
  readonly storeSkew: number
  /** Whether the store cannot wake processes, which then ask the store more often. */
  readonly isSilent?: boolean
  readonly faults: Faults
  readonly disturbances: ReadonlyArray<Disturbance>
  readonly concurrency: number
  readonly maxInMemory: number
  /** In seconds. */
  readonly leaseDuration: number
  /** In milliseconds. */
  readonly retryEvery: number
  readonly maxCrashes: number
  /** The limits of the clients: none, those of the platform for each process, or for all processes together. */
  readonly limits: "none" | "process" | "shared"
  /** For how long faults and disturbances happen, in milliseconds. */
  readonly duration: number
  /** For how long the processes go on when everything is done, in milliseconds. Default: 0. */
  readonly quiet?: number
}
