import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { ApiError, Uncertain } from "../../ApiError.ts"
import type * as Result from "effect/Result"
import type { FieldIssue } from "../../../base/FieldIssue.ts"
import type { Dialog, LostCall, Named } from "../../Endpoint.ts"
import type { Received } from "../classify.ts"
import type { Encoded } from "../codec.ts"
import type { MalformedPart } from "../../../base/internal/malformed.ts"
import { optionalReference } from "../../../base/internal/optionalReference.ts"
import type { PlatformTime } from "../platformTime.ts"
import type { AllCreated, Created } from "./created.ts"
import type { Slots } from "./slots.ts"

/** The known facts about a call that may have been carried out. */
export interface Past {
  /** A time that precedes a possible execution of the call, in Unix milliseconds of the platform's clock. */
  readonly after: number
  /** The requests that may have been sent, where the call recorded them. */
  readonly requests: ReadonlyArray<string>
  /** The dialog in which the update happened. */
  readonly dialog: Dialog | undefined
}

/** A possible result of a call: the answer as text, and the created message. */
export interface Candidate extends Created {
  readonly answer: string
}

/** A call whose answer the journal records. */
export interface Call<in out A, in out E> {
  /** The endpoint of a call, or `step`. */
  readonly kind: string
  /** The name, or the digest of the request. Calls of one kind with the same name differ by their order. */
  readonly name: string
  /**
   * The value, besides the name, by which a repetition of the call is recognized after a failure. `undefined`: every
   * call of the name is a repetition.
   */
  readonly identity: unknown
  /** The request as text, recorded when the call begins, for `find`. Missing if the request is always the same. */
  readonly request?: () => string | undefined
  /** The chat of the request. `undefined` if the request names no chat, such as a message to a user. */
  readonly chat_id?: number | undefined
  /** The clock of the platform, and the messages that its client has created. Steps have none. */
  readonly platform?: { readonly time: PlatformTime; readonly created: AllCreated }
  /** Carries the call out, and runs `begin` right before anything leaves the process. */
  readonly run: (begin: Effect.Effect<void>, slot: string) => Effect.Effect<A, E>
  /**
   * Whether the answer is written before the caller gets the answer. Otherwise the answer is written before the next
   * request that changes something, at the latest in the next turn of the event loop, and not at all if the update is
   * acknowledged before.
   */
  readonly isWrittenAtOnce: boolean
  readonly write: (answer: A) => string
  readonly read: (text: string) => Effect.Effect<A, E>
  /** Whether a failure proves that the call was not carried out. */
  readonly isRefusal: (error: E) => boolean
  readonly toError: (uncertain: Uncertain) => E
  readonly created?: (answer: A) => Created | undefined
  /** Finds possible results of the call, the best match first. */
  readonly find?: ((past: Past) => Effect.Effect<ReadonlyArray<Candidate>, E>) | undefined
}

/** A response by which the platform has accepted a request. */
export interface Response<Success> {
  readonly received: Received
  readonly parts: ReadonlyArray<MalformedPart>
  readonly decoded: Result.Result<Success, ReadonlyArray<FieldIssue>>
}

/** A call of an endpoint that is not idempotent. */
export interface EndpointCall<Request, Success> {
  readonly endpoint: Named<Request, Success, unknown>
  readonly request: Request
  /**
   * The encoded request, which can change until the call begins. A getter would make the literal slow (benchmark
   * `journal-cost`).
   */
  readonly encoded: () => Encoded
  /** The name that replaces the request. */
  readonly name: string | undefined
  readonly hasUniqueName: boolean
  readonly execute: LostCall<Request>["execute"]
  readonly platformTime: PlatformTime
  readonly created: AllCreated
  readonly run: (begin: Effect.Effect<void>) => Effect.Effect<Response<Success>, ApiError>
  readonly read: (text: string) => Effect.Effect<Response<Success>, ApiError>
}

/** Texts that the attempts of an update record one after the other. */
export interface Texts {
  /** The number of this list among the lists with its name, from 1. */
  readonly occurrence: number
  /** The texts that earlier attempts have added. */
  readonly recorded: ReadonlyArray<string>
  /** Adds a text in memory. */
  readonly add: (text: string) => void
  /** Writes the added texts to the store. */
  readonly write: Effect.Effect<void>
  /** Resets the count, so that the next list with this name in this attempt is the same list. */
  readonly release: () => void
}

/** The journal of an update that is being handled. */
export interface UpdateJournal {
  /** Identifies the update, also after a restart and after the replay of a dead letter. */
  readonly key: string
  /** Carries out a call, or returns the recorded answer of the call. */
  readonly call: <A, E>(call: Call<A, E>) => Effect.Effect<A, E>
  readonly callEndpoint: <Request, Success>(
    call: EndpointCall<Request, Success>
  ) => Effect.Effect<Response<Success>, ApiError>
  /** Carries out an effect whose calls have slots of their own. A repetition after a failure makes the same calls. */
  readonly scope: <A, E, R>(name: string, identity: unknown, effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Writes the records that the store does not have, unless the acknowledgement is being written. */
  readonly flush: Effect.Effect<void>
  /** Opens a list. Lists of one name differ by their order in the attempt. */
  readonly texts: (name: string, slots: Slots | undefined) => Texts
  /** The recorded state of the first call of an endpoint with a name. */
  readonly stateOf: (endpoint: string, name: string, slots: Slots | undefined) => "started" | "done" | undefined
  /** Resets the count of an endpoint and a name, so that the next call in this attempt has the first slot. */
  readonly release: (endpoint: string, name: string, slots: Slots | undefined) => void
}

/** The name that replaces the digest of requests. Default: none. */
export const CurrentName = optionalReference<string>("@colloquy/core/internal/journal/CurrentName")

/** Whether no other call or step has the name, so that each call of the name repeats the calls that failed. */
export const HasUniqueName = Context.Reference<boolean>("@colloquy/core/internal/journal/HasUniqueName", {
  defaultValue: () => false
})

/** The key of the step that is running, in its update or in its conversation. Default: none. */
export const CurrentKey = optionalReference<string>("@colloquy/core/internal/journal/CurrentKey")
