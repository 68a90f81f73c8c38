/** What happened in a run. The auditor and the trace read nothing else. */
import { epoch, type World } from "./world.ts"

/** Something of a process changed. */
export interface ProcessChanged {
  readonly type: "process"
  readonly process: string
  readonly change: "started" | "killed" | "frozen" | "continued" | "stopping" | "ended" | "clock" | "cut" | "joined"
  readonly detail?: string
}

/** A person did something that the bot has to handle. */
export interface Said {
  readonly type: "said"
  readonly chat: string
  readonly subject: string
}

/** A process sent a request. */
export interface RequestSent {
  readonly type: "sent"
  readonly process: string
  readonly request: number
  readonly method: string
  readonly path: string
  readonly body: string
}

/** The platform carried out a request. */
export interface RequestExecuted {
  readonly type: "executed"
  readonly process: string
  readonly request: number
  readonly method: string
  readonly path: string
  readonly status: number
  readonly body: string
  readonly answer: string
}

/** A process received the response to a request, or the connection was lost. */
export interface RequestAnswered {
  readonly type: "answered"
  readonly process: string
  readonly request: number
  readonly status: number | undefined
}

/** The store carried out an operation of the port. */
export interface StoreApplied {
  readonly type: "store"
  readonly process: string
  readonly operation: string
  /** When the process sent the operation. */
  readonly sentAt: number
  readonly request: unknown
  readonly result: unknown
}

/** The simulator injected a fault. */
export interface FaultInjected {
  readonly type: "fault"
  readonly process: string
  readonly kind: string
  readonly detail?: string
}

/** A handler began to handle something, or ended. A handler whose process is killed does not end. */
export interface Handling {
  readonly type: "began" | "ended"
  readonly process: string
  readonly chat: string
  readonly subject: string
  /** Distinguishes the runs of handlers. */
  readonly run: number
  /** Only of `ended`. */
  readonly outcome?: "success" | "failure" | "interrupted" | "newer"
}

/** A program reports something for its own rules. */
export interface Noted {
  readonly type: "noted"
  readonly process: string
  readonly what: string
  readonly subject: string
  readonly value: string
}

export interface Logged {
  readonly type: "log"
  readonly process: string
  readonly level: string
  readonly message: string
}

/** A replica has taken the place of the store. */
export interface FailedOver {
  readonly type: "failedOver"
  /** The store has lost what was applied after this time. */
  readonly since: number
}

export type Happening =
  | ProcessChanged
  | Said
  | RequestSent
  | RequestExecuted
  | RequestAnswered
  | StoreApplied
  | FailedOver
  | FaultInjected
  | Handling
  | Noted
  | Logged

export type Event = Happening & {
  /** Milliseconds of virtual time since the beginning of the world. */
  readonly at: number
}

export class History {
  readonly events: Array<Event> = []
  readonly #world: World
  #runs = 0

  constructor(world: World) {
    this.#world = world
  }

  add(happening: Happening): void {
    this.events.push({ at: this.#world.now - epoch, ...happening })
  }

  /** A number that no other run of a handler has. */
  nextRun(): number {
    return ++this.#runs
  }
}

/** Returns the events of a type. */
export const ofType = <T extends Event["type"]>(
  events: ReadonlyArray<Event>,
  type: T
): ReadonlyArray<Extract<Event, { readonly type: T }>> =>
  events.filter((event): event is Extract<Event, { readonly type: T }> => event.type === type)

/** JSON without the private parts of values, and with bigints as texts. */
export const toText = (value: unknown): string =>
  JSON.stringify(value, (key, part: unknown) => {
    if (typeof part === "bigint") return String(part)
    return key === "decoded" ? undefined : part
  }) ?? "-"
