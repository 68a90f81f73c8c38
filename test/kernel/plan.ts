/** The plans of an exploration, and the messages between the parts of the model. */

/** The duration of a lease in milliseconds. */
export const leaseMillis = 6000

/** How often each kind of fault happens at most. */
export interface Faults {
  /** A process is killed, and another one takes its place. */
  readonly kills: number
  /** A request of a process is lost, or its answer. */
  readonly losses: number
  /** Time passes until a lease ends, for everybody: the process that holds the lease may stand still meanwhile. */
  readonly expiries: number
  /** Time passes until the next timer, although something is under way: a process, a request or an answer is late. */
  readonly delays: number
}

export interface Plan {
  readonly name: string
  /** The updates that are queued at the start, by chat. */
  readonly chats: ReadonlyArray<ReadonlyArray<string>>
  /** An update of the last chat that arrives at any time. */
  readonly arriving?: string
  /** Updates whose first attempt fails, and is repeated after a time. */
  readonly failing?: ReadonlyArray<string>
  /** Updates whose acknowledgement conflicts once with another write. */
  readonly conflicting?: ReadonlyArray<string>
  /** Updates whose handler takes longer than half of a lease in the first process. */
  readonly slow?: ReadonlyArray<string>
  /** How the first process ends at any time. Default: it ends when everything is handled. */
  readonly ends?: "stop" | "close"
  readonly isWoken?: boolean
  /** Whether the sources end at the start. Default: they end when nothing is queued. */
  readonly isFinite?: boolean
  readonly perChat?: number
  readonly crashingAfter?: number
  /** The first actions, by their labels. */
  readonly given?: ReadonlyArray<string>
  readonly faults: Faults
}

export type Kind =
  | "claim"
  | "commit"
  | "renew"
  | "release"
  | "ask"
  | "count"
  | "releaseAll"
  | "record"
  | "lookUp"
  | "send"
  | "pause"
  | "wake"

/** A request under way. */
export class Request {
  readonly by: string
  readonly kind: Kind
  readonly input: unknown
  readonly context: unknown
  isAnswered = false
  answer: unknown = undefined

  constructor(by: string, kind: Kind, input: unknown, context?: unknown) {
    this.by = by
    this.kind = kind
    this.input = input
    this.context = context
  }

  /** Whether the platform is to create a message. */
  isSending(id?: string): boolean {
    return this.kind === "send" && !this.isAnswered && (id === undefined || this.input === id)
  }
}

/** A promise that does not hold. */
export class Violation extends Error {}
