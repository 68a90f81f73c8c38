import type * as Duration from "effect/Duration"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type { Refused } from "./adaptiveLimit.ts"

/** A limit in numbers: `window` includes the margin. */
export interface Limit {
  readonly count: number
  readonly window: number
}

export interface Limits {
  readonly host: Limit
  readonly [scope: string]: Limit
}

/**
 * A process's first requests take longer than those that follow, because connections are opened and code is cold: the
 * first third of a window counts as if it departed so many margins later.
 */
export const coldMargins = 8

/**
 * How late requests arrive at the platform: by as much as their answers take longer than the fastest, and no more than
 * the first requests may.
 */
export const lateness = (most: number) => {
  let fastest = Infinity
  return (roundTrip: number): number => {
    fastest = Math.min(roundTrip, fastest + 0.1)
    return Math.min(roundTrip - fastest, most)
  }
}

/** What a call asks for: the next place in a line, by a lane, for so many milliseconds at the most. */
export interface Request {
  readonly scope: string
  /** Nothing where only the host's limit holds. */
  readonly line: string | undefined
  readonly rank: number
  readonly patience: number
  readonly backlog: number
  readonly again: Departure | undefined
}

/** `turn` says who came first, should it have to depart again; `left` is when that was on this process's clock. */
export interface Departure extends Refused {
  readonly turn: number
  readonly left: number
  readonly line: string | undefined
}

/** It was not let go: `isFull` where too many wait already, otherwise it would take too long. Nothing was sent. */
export class NotLetGo extends Data.TaggedError("NotLetGo")<{
  readonly isFull: boolean
  readonly retryAfter: Duration.Duration
}> {}

export interface Status {
  readonly waiting: ReadonlyArray<number>
  readonly lines: number
  readonly level: number
}

/** Lets requests depart: within one process, or shared by several. */
export interface Driver {
  readonly acquire: (request: Request) => Effect.Effect<Departure, NotLetGo>
  readonly pause: (millis: number) => Effect.Effect<void>
  /** The departure was answered: how long that took tells whether it arrived late. */
  readonly answered: (departure: Departure) => Effect.Effect<void>
  readonly refused: (departure: Departure, pause: number | undefined) => Effect.Effect<void>
  readonly merge: (from: string, to: string) => Effect.Effect<void>
  readonly status: Effect.Effect<Status>
}

/** Watches a driver. Ranks are those of the lanes, times are milliseconds. */
export interface Watcher {
  readonly waits: (rank: number, by: 1 | -1) => void
  readonly departed: (rank: number, waited: number) => void
  readonly notLetGo: (rank: number) => void
  readonly refused: () => void
  readonly paused: (millis: number) => void
}
