/**
 * The declaration of an endpoint, as data: its method and path, its request and response, its errors and limits.
 *
 * The client, the emulator and the documentation interpret the same declarations. Whatever is special about an endpoint is
 * in its declaration.
 *
 * API: Endpoints.
 *
 * @since 0.1.0
 */
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import type * as ApiError from "./ApiError.ts"
import type { FieldIssue } from "./FieldIssue.ts"
import type * as RateLimiter from "./RateLimiter.ts"

/**
 * The fields of one part of a request, by their names.
 *
 * @category models
 * @since 0.1.0
 */
export type Fields = Readonly<Record<string, Schema.Codec<any, any> & Schema.Top>>

/**
 * A rule about several fields of a request. Returns what is wrong with the request, if anything.
 *
 * @category models
 * @since 0.1.0
 */
export type Rule<Request> = (request: Request) => FieldIssue | undefined

/**
 * The dialog of a user with the bot, and the id of its chat.
 *
 * @category models
 * @since 0.1.0
 */
export interface Dialog {
  /** The id of the user. */
  readonly user_id: number
  /** The id of the chat. */
  readonly chat_id: number
}

/**
 * A call that may have been carried out, because its answer was lost.
 *
 * @category models
 * @since 0.1.0
 */
export interface LostCall<out Request> {
  /** The request of the call that repeats it. */
  readonly request: Request
  /** The dialog in which the update happened that is being handled, if it happened in one. */
  readonly dialog: Dialog | undefined
  /** Executes another call. */
  readonly execute: <Request, Success, E extends ApiError.Declared>(
    endpoint: Named<Request, Success, E>,
    request: Request
  ) => Effect.Effect<Success, E | ApiError.Common>
}

/**
 * Where the result of a call is found whose answer was lost.
 *
 * @category models
 * @since 0.1.0
 */
export interface LookUp<in Request, out Success> {
  /**
   * Returns a page of the messages among which the result is, the latest first, up to the time `from` in Unix milliseconds,
   * or the latest of all. Returns `undefined` if it is not known where they are.
   */
  readonly page: (
    call: LostCall<Request>,
    from: number | undefined
  ) => Effect.Effect<ReadonlyArray<Success>, ApiError.ApiError> | undefined
}

/**
 * How the platform refuses a call that it has carried out before: the removal of a message that does not exist any more.
 *
 * @category models
 * @since 0.1.0
 */
export interface Repeated<in Request> {
  /** Identifies calls that do the same. */
  readonly key: (request: Request) => string | number
  /** The errors of the refusal. */
  readonly errors: ReadonlyArray<ApiError.ErrorClass<ApiError.ApiError>>
}

/**
 * The declaration of an endpoint. A request is one flat object: `params`, `query` and `body` say where each of its fields
 * goes.
 *
 * @category models
 * @since 0.1.0
 */
export interface Declaration<in out Request, in out Success, out E> {
  /** The HTTP method. */
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE"
  /** The path below the base address. A parameter is in braces: `{chatId}` is the field `chat_id` of `params`. */
  readonly path: `/${string}`
  /** The fields of the request that are in the path. */
  readonly params: Fields
  /** The fields of the request that are in the query. A list is written with commas. */
  readonly query: Fields
  /** The fields of the request that are in the JSON body. */
  readonly body: Fields
  /** The rules about several fields of the request. */
  readonly rules: ReadonlyArray<Rule<Request>>
  /** The schema of the response. */
  readonly success: Schema.Codec<Success, any>
  /** The errors that the endpoint can fail with, besides `ApiError.Common`. */
  readonly errors: ReadonlyArray<ApiError.ErrorClass<E>>
  /** The rate limit that a call counts towards, besides the limit of the host. */
  readonly limit: (request: Request) => RateLimiter.Target | undefined
  /** The dialog that a successful call reveals, so that its chat and its user share one rate limit. */
  readonly dialog: (request: Request, success: Success) => Dialog | undefined
  /** How long the platform waits on purpose before it responds. */
  readonly longPoll: (request: Request) => Duration.Duration | undefined
  /** Whether the call can be repeated when the platform may have executed it already. */
  readonly idempotent: boolean
  /** Where the result of a call is found whose answer was lost. */
  readonly lookUp?: LookUp<Request, Success> | undefined
  /**
   * How the platform refuses a call that it has carried out before. This refusal is a success if an earlier attempt of the
   * update, or a request whose response was lost, may have carried the call out.
   */
  readonly repeated?: Repeated<Request> | undefined
  /** The section of the API document. */
  readonly section: string
}

/**
 * A declaration with the name of its endpoint. Every endpoint is one.
 *
 * @category models
 * @since 0.1.0
 */
export interface Named<in out Request, in out Success, out E> {
  /** The name of the endpoint, such as `Messages.send`. */
  readonly endpoint: string
  /** The declaration. */
  readonly declaration: Declaration<Request, Success, E>
}

/**
 * Any declaration with the name of its endpoint.
 *
 * @category utility types
 * @since 0.1.0
 */
export type Any = Named<any, any, any>

/**
 * Returns the field of a request for a parameter of a path: `chat_id` for `chatId`.
 *
 * @category paths
 * @since 0.1.0
 */
export const paramKey = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
