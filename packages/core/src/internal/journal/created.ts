import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import type { Comment } from "../../Comment.ts"
import type { Message } from "../../Message.ts"
import { memberOf } from "../client/wire.ts"

/** What a call has created on the platform. */
export interface Created {
  readonly id: string
  /** When it was created, in Unix milliseconds of the platform's clock. */
  readonly at: number
  /** The chat that the request named. `undefined` if it named none. */
  readonly chat_id: number | undefined
}

/** Messages that were created longer ago are too old to be taken for the result of a later call. */
const maxIds = 10_000

/** Messages that the estimate of the platform's time cannot tell from later ones are among these. */
const maxLatest = 100

/** A request that has left, or is about to leave, and that may create something. */
interface Flight {
  readonly endpoint: string
  readonly chat_id: number | undefined
  landed: Latch.Latch | undefined
}

/** What the calls of a client have created, so that no other call takes it as its result. */
export interface AllCreated {
  /** `call` identifies the call within the process. `undefined`: it is not carried out again. */
  readonly add: (created: Created, call: string | undefined) => void
  /** Whether something was created by another call. */
  readonly isOfAnother: (id: string, call: string) => boolean
  /** Returns the ids of what was created since a time, unless it was created in another chat than `chat_id`. */
  readonly since: (time: number, chat_id: number | undefined) => ReadonlyArray<string>
  /** A request begins. Returns what ends it, after `add`. */
  readonly begin: (endpoint: string, chat_id: number | undefined) => () => void
  /** Waits until the requests of an endpoint have ended that are on their way to a chat. */
  readonly settled: (endpoint: string, chat_id: number | undefined) => Effect.Effect<void>
}

/** A chat that is not known can be any chat. */
const mayBeSame = (one: number | undefined, other: number | undefined): boolean =>
  one === undefined || other === undefined || one === other

export const makeAllCreated = (): AllCreated => {
  const calls = new Map<string, string | undefined>()
  /** In the order of their creation. */
  const latest: Array<Created> = []
  const flights = new Set<Flight>()
  return {
    add: (created, call) => {
      calls.set(created.id, call)
      latest.push(created)
      if (latest.length > maxLatest) latest.shift()
      if (calls.size <= maxIds) return
      const [oldest] = calls.keys()
      calls.delete(oldest!)
    },
    isOfAnother: (id, call) => calls.has(id) && calls.get(id) !== call,
    since: (time, chat_id) =>
      latest.filter(({ at, chat_id: other }) => at >= time && mayBeSame(other, chat_id)).map(({ id }) => id),
    begin: (endpoint, chat_id) => {
      const flight: Flight = { endpoint, chat_id, landed: undefined }
      flights.add(flight)
      return () => {
        flights.delete(flight)
        flight.landed?.openUnsafe()
      }
    },
    settled: (endpoint, chat_id) =>
      Effect.suspend(() => {
        const landed: Array<Latch.Latch> = []
        for (const flight of flights) {
          if (flight.endpoint !== endpoint || !mayBeSame(flight.chat_id, chat_id)) continue
          landed.push((flight.landed ??= Latch.makeUnsafe(false)))
        }
        return Effect.forEach(landed, (latch) => latch.await, { discard: true })
      })
  }
}

/** What a call with a `lookUp` creates. */
export type Sent = Message | Comment

export const createdBy = ({ body, timestamp }: Sent, chat_id: number | undefined): Created | undefined =>
  body?.mid === undefined ? undefined : { id: body.mid, at: timestamp, chat_id }

export const chatOf = (request: unknown): number | undefined => {
  const chat_id = memberOf("chat_id", request)
  return typeof chat_id === "number" ? chat_id : undefined
}
