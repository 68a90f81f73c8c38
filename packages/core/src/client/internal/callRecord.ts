import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type * as Endpoint from "../Endpoint.ts"
import type { Received } from "./classify.ts"
import type { Encoded } from "./codec.ts"

/** A call that an attempt to handle an update has made. */
export interface MadeCall {
  readonly endpoint: string
  readonly method: string
  /** The times of the start and of the end, in Unix milliseconds. A call that has not ended has no end. */
  readonly startedAt: number
  endedAt: number | undefined
  /** The last request. `undefined` if nothing was sent, because the journal has the answer. */
  request: Encoded | undefined
  /** The last answer of the platform. */
  answer: Pick<Received, "status" | "text"> | undefined
  exit: Exit.Exit<unknown, unknown> | undefined
}

/** The calls of an attempt. */
export interface CallRecord {
  readonly add: (call: MadeCall) => void
}

/** Begins a call. */
export const begin = (
  record: CallRecord,
  { declaration: { method }, endpoint }: Endpoint.AnyNamed,
  startedAt: number
): MadeCall => {
  const call = {
    endpoint,
    method,
    startedAt,
    endedAt: undefined,
    request: undefined,
    answer: undefined,
    exit: undefined
  }
  record.add(call)
  return call
}

/** Records the end of a call. */
export const ending = <A, E>(
  call: MadeCall | undefined,
  effect: Effect.Effect<A, E>,
  now: () => number
): Effect.Effect<A, E> =>
  call === undefined
    ? effect
    : Effect.onExitPrimitive(effect, (exit) => {
        call.endedAt = now()
        call.exit = exit
        return undefined
      })
