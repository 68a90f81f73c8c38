/** What the auditor reads. It shares no code with the library. */
import type { Event } from "../history.ts"
import type { Plan } from "../plan.ts"
import type { AuthorRows } from "../sqlite.ts"

/** A rule of the documentation that does not hold. */
export interface Violation {
  readonly rule: string
  readonly detail: string
}

/** A message of the bot as people see it in the end. */
export interface SeenMessage {
  readonly chat: string
  readonly text: string
}

/** A value of the state in the store. */
export interface FinalState {
  readonly name: string
  readonly scope: string
  readonly value: unknown
}

/** What is left when everything has ended. */
export interface Ending {
  /** Whether the people are done with what they do. */
  readonly isTalkDone: boolean
  /** How the people failed. */
  readonly talkFailure: string | undefined
  /** When all processes were stopped, in milliseconds of virtual time. Nothing was disturbed any more. */
  readonly stoppedAt: number
  /** The events while nothing was left to do. */
  readonly quiet: ReadonlyArray<Event>
  readonly queued: number
  readonly timers: number
  readonly deadLetters: ReadonlyArray<{ readonly text: string; readonly error: string; readonly attempts: number }>
  readonly states: ReadonlyArray<FinalState>
  /** The results of the broadcast. */
  readonly broadcast: ReadonlyArray<{ readonly chat: string; readonly status: string }>
  /** The messages of the bot that were not removed, in order. */
  readonly messages: ReadonlyArray<SeenMessage>
  /** `undefined`: the store is in memory. */
  readonly authorRows: AuthorRows | undefined
  /** Processes that did not stop, or have fibers left, or ended by themselves. */
  readonly processes: ReadonlyArray<string>
}

export interface Recording {
  readonly plan: Plan
  readonly events: ReadonlyArray<Event>
  readonly ending: Ending
}
