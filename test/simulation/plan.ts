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
}

export type FaultName = keyof Faults

/** Something that happens to one of the running processes. */
export interface Disturbance {
  readonly kind: "kill" | "freeze" | "stop" | "clock"
  /** When, in milliseconds. */
  readonly at: number
  /** How many tasks are executed at that time before. */
  readonly tasks: number
  /** Which of the running processes. */
  readonly victim: number
  /** After how many milliseconds it goes on or is started again, or by how many its clock moves. */
  readonly millis: number
}

export interface Plan {
  readonly seed: number
  readonly program: ProgramPlan
  /** Number of processes. */
  readonly processes: number
  readonly delivery: "webhook" | "polling"
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
}
