/**
 * An endpoint of the API: a function that carries its declaration.
 *
 * Example of a call: `Messages.send({ chat_id, text })`. Example of a declaration: `Messages.send.declaration`.
 *
 * API: Endpoints.
 *
 * @since 0.1.0
 */
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import { hasProperty } from "effect/Predicate"
import type * as Schema from "effect/Schema"
import { downcast } from "../base/internal/downcast.ts"
import type * as ApiError from "./ApiError.ts"
import { BotApi } from "./BotApi.ts"
import type * as RateLimiter from "./RateLimiter.ts"
import * as path from "./internal/path.ts"
import type { FieldIssue } from "../base/FieldIssue.ts"

/**
 * The fields of one part of a request, by their names.
 *
 * @category models
 * @since 0.1.0
 */
export type Fields = Readonly<Record<string, Schema.Codec<any, any> & Schema.Top>>

/**
 * A rule about several fields of a request. Returns the problem of the request, if any.
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
  /** The request of the call that repeats the lost call. */
  readonly request: Request
  /** The dialog of the update that is being handled, if the update happened in a dialog. */
  readonly dialog: Dialog | undefined
  /** Executes another call. */
  readonly execute: <Request, Success, E extends ApiError.Declared>(
    endpoint: Named<Request, Success, E>,
    request: Request
  ) => Effect.Effect<Success, E | ApiError.Common>
}

/**
 * The look-up of the result of a call whose answer was lost.
 *
 * @category models
 * @since 0.1.0
 */
export interface LookUp<in Request, out Success> {
  /**
   * Returns a page of the messages that may contain the result, the latest first, up to the time `from` in Unix
   * milliseconds, or the latest of all. Returns `undefined` if the chat of the messages is unknown.
   */
  readonly page: (
    call: LostCall<Request>,
    from: number | undefined
  ) => Effect.Effect<ReadonlyArray<Success>, ApiError.ApiError> | undefined
}

/**
 * The refusal of a call that the platform has carried out before, such as the removal of a message that does not exist
 * any more.
 *
 * @category models
 * @since 0.1.0
 */
export interface Repeated<in Request> {
  /** Identifies calls that have the same effect. */
  readonly key: (request: Request) => string | number
  /** The errors of the refusal. */
  readonly errors: ReadonlyArray<ApiError.ErrorClass<ApiError.ApiError>>
}

/**
 * The declaration of an endpoint. A request is one flat object: `params`, `query` and `body` declare the place of each
 * field.
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
  /** The time that the platform waits on purpose before the response. */
  readonly longPoll: (request: Request) => Duration.Duration | undefined
  /** Whether the call can be repeated although the platform may have executed the call. */
  readonly idempotent: boolean
  /** The look-up of a lost result, for the `Journal`. */
  readonly lookUp?: LookUp<Request, Success> | undefined
  /**
   * The refusal of a call that the platform has carried out before. The refusal is a success if an earlier attempt of
   * the update, or a request whose response was lost, may have carried the call out. Then the response is
   * `{ success: true }`.
   */
  readonly repeated?: Repeated<Request> | undefined
  /** The section of the API document. */
  readonly section: string
}

/**
 * A declaration with the name of its endpoint, as every endpoint has.
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
export type AnyNamed = Named<any, any, any>

/**
 * Returns the field of a request for a parameter of a path: `chat_id` for `chatId`.
 *
 * @category paths
 * @since 0.1.0
 */
export const paramKey: (name: string) => string = path.paramKey

const TypeId = "~@colloquy/core/Endpoint"

/**
 * A function from a request to an effect. `E` has the errors that a caller can act on; every endpoint can also fail with
 * `ApiError.Common`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Endpoint<in out Request, in out Success, in out E extends ApiError.Declared = never> extends Named<
  Request,
  Success,
  E
> {
  (request: Request): Effect.Effect<Success, E | ApiError.Common, BotApi>
  readonly [TypeId]: typeof TypeId
  /** The name of the endpoint, such as `Messages.send`. */
  readonly endpoint: string
  /** The declaration, which is created when first read. */
  readonly declaration: Declaration<Request, Success, E>
}

/**
 * Any endpoint.
 *
 * @category utility types
 * @since 0.1.0
 */
export interface Any extends AnyNamed {
  (request: any): Effect.Effect<any, any, BotApi>
  readonly [TypeId]: typeof TypeId
}

/**
 * The request of an endpoint.
 *
 * @category utility types
 * @since 0.1.0
 */
export type Request<E extends Any> = E extends Endpoint<infer R, any, infer _> ? R : never

/**
 * The success of an endpoint.
 *
 * @category utility types
 * @since 0.1.0
 */
export type Success<E extends Any> = E extends Endpoint<any, infer A, infer _> ? A : never

/**
 * The errors of an endpoint, including the errors that every endpoint can fail with.
 *
 * @category utility types
 * @since 0.1.0
 */
export type Errors<E extends Any> = E extends Endpoint<any, any, infer Declared> ? Declared | ApiError.Common : never

/**
 * Returns `true` if a value is an endpoint.
 *
 * @category guards
 * @since 0.1.0
 */
export const isEndpoint = (u: unknown): u is Any => hasProperty(u, TypeId)

type RequestOf<Params extends Fields, Query extends Fields, Body extends Fields> = {} extends Params & Query & Body
  ? void
  : Schema.Struct.Type<Params> & Schema.Struct.Type<Query> & Schema.Struct.Type<Body>

/**
 * Options of {@link make}: the parts of a declaration.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options<
  Request,
  Params extends Fields,
  Query extends Fields,
  Body extends Fields,
  Success extends Schema.Codec<any, any>,
  Errors extends ReadonlyArray<ApiError.ErrorClass<any>>
> {
  /** The HTTP method. */
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE"
  /** See {@link Declaration.path}. */
  readonly path: `/${string}`
  /** The fields of the request that are in the path. Default: none. */
  readonly params?: Params
  /** The fields of the request that are in the query. Default: none. */
  readonly query?: Query
  /** The fields of the request that are in the JSON body. Default: none, and no body is sent. */
  readonly body?: Body
  /** The rules about several fields of the request. Default: none. */
  readonly rules?: ReadonlyArray<Rule<NoInfer<Request>>>
  /** The schema of the response. */
  readonly success: Success
  /** See {@link Declaration.errors}. */
  readonly errors: Errors
  /** See {@link Declaration.limit}. Default: none. */
  readonly limit?: (request: NoInfer<Request>) => RateLimiter.Target | undefined
  /** See {@link Declaration.dialog}. Default: none. */
  readonly dialog?: (request: NoInfer<Request>, success: Success["Type"]) => Dialog | undefined
  /** See {@link Declaration.longPoll}. Default: none. */
  readonly longPoll?: (request: NoInfer<Request>) => Duration.Duration | undefined
  /** See {@link Declaration.idempotent}. Default: `false` for POST, `true` for the other methods. */
  readonly idempotent?: boolean
  /** See {@link Declaration.lookUp}. Default: none. */
  readonly lookUp?: LookUp<NoInfer<Request>, Success["Type"]>
  /** See {@link Declaration.repeated}. Default: each refusal is a failure. */
  readonly repeated?: Repeated<NoInfer<Request>>
  /** The section of the API document. Default: the method and the path. */
  readonly section?: string
}

const none = () => undefined

/**
 * Creates an endpoint. `options` runs when the endpoint is first called, never at import. Annotate the constant with its
 * {@link Endpoint} type: then a missing or an extra error does not compile.
 *
 * **Example**
 *
 * ```ts
 * import { ApiError, Chat, Endpoint } from "@colloquy/core"
 *
 * export const get: Endpoint.Endpoint<{ readonly chat_id: Chat.ChatId }, Chat.Chat, ApiError.NotFound> = Endpoint.make(
 *   "MyChats.get",
 *   () => ({
 *     method: "GET",
 *     path: "/chats/{chatId}",
 *     params: { chat_id: Chat.ChatId },
 *     success: Chat.Chat,
 *     errors: [ApiError.NotFound]
 *   })
 * )
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <
  Success extends Schema.Codec<any, any>,
  const Errors extends ReadonlyArray<ApiError.ErrorClass<any>>,
  Params extends Fields = {},
  Query extends Fields = {},
  Body extends Fields = {},
  Request extends RequestOf<Params, Query, Body> = RequestOf<Params, Query, Body>
>(
  endpoint: string,
  options: () => Options<Request, Params, Query, Body, Success, Errors>
): Endpoint<Request, Success["Type"], InstanceType<Errors[number]>> => {
  type E = InstanceType<Errors[number]>
  const declare = (): Declaration<Request, Success["Type"], E> => {
    const parts = options()
    return {
      params: {},
      query: {},
      body: {},
      rules: [],
      limit: none,
      dialog: none,
      longPoll: none,
      idempotent: parts.method !== "POST",
      section: `${parts.method} ${parts.path}`,
      ...parts
    }
  }
  let declaration: ReturnType<typeof declare> | undefined
  const call = (request: Request) => BotApi.use((api) => api.execute(self, request))
  const self: Endpoint<Request, Success["Type"], E> = downcast(
    Object.assign(call, { [TypeId]: TypeId, endpoint } as const)
  )
  Object.defineProperty(self, "name", { value: endpoint })
  Object.defineProperty(self, "declaration", { get: () => (declaration ??= declare()), enumerable: true })
  return self
}
