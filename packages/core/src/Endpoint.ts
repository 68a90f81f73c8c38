/**
 * An endpoint of the API: a function that carries its declaration.
 *
 * Call it: `Messages.send({ chat_id, text })`. Read its declaration: `Messages.send.declaration`.
 *
 * API: Endpoints.
 *
 * @since 0.1.0
 */
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import { hasProperty } from "effect/Predicate"
import type * as Schema from "effect/Schema"
import type * as ApiError from "./ApiError.ts"
import { BotApi } from "./BotApi.ts"
import type * as Declaration from "./Declaration.ts"
import type * as RateLimiter from "./RateLimiter.ts"

const TypeId = "~@colloquy/core/Endpoint"

/**
 * A function from a request to an effect. `E` has the errors that a caller can act on; every endpoint can also fail with
 * `ApiError.Common`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Endpoint<
  in out Request,
  in out Success,
  in out E extends ApiError.Declared = never
> extends Declaration.Named<Request, Success, E> {
  (request: Request): Effect.Effect<Success, E | ApiError.Common, BotApi>
  readonly [TypeId]: typeof TypeId
  /** The name of the endpoint, such as `Messages.send`. */
  readonly endpoint: string
  /** The declaration. It is created when it is first read. */
  readonly declaration: Declaration.Declaration<Request, Success, E>
}

/**
 * Any endpoint.
 *
 * @category utility types
 * @since 0.1.0
 */
export interface Any extends Declaration.Any {
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

type RequestOf<
  Params extends Schema.Struct.Fields,
  Query extends Schema.Struct.Fields,
  Body extends Schema.Struct.Fields
> = {} extends Params & Query & Body
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
  Params extends Schema.Struct.Fields,
  Query extends Schema.Struct.Fields,
  Body extends Schema.Struct.Fields,
  Success extends Schema.Codec<any, any>,
  Errors extends ReadonlyArray<ApiError.ErrorClass<any>>
> {
  /** The HTTP method. */
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE"
  /** The path below the base address. A parameter is in braces: `{chatId}` is the field `chat_id` of `params`. */
  readonly path: `/${string}`
  /** The fields of the request that are in the path. Default: none. */
  readonly params?: Params
  /** The fields of the request that are in the query. Default: none. */
  readonly query?: Query
  /** The fields of the request that are in the JSON body. Default: none, and no body is sent. */
  readonly body?: Body
  /** The rules about several fields of the request. Default: none. */
  readonly rules?: ReadonlyArray<Declaration.Rule<NoInfer<Request>>>
  /** The schema of the response. */
  readonly success: Success
  /** The errors that the endpoint can fail with, besides `ApiError.Common`. */
  readonly errors: Errors
  /** The rate limit that a call counts towards, besides the limit of the host. Default: none. */
  readonly limit?: (request: NoInfer<Request>) => RateLimiter.Target | undefined
  /** The dialog that a successful call reveals, so that its chat and its user share one rate limit. Default: none. */
  readonly dialog?: (request: NoInfer<Request>, success: Success["Type"]) => Declaration.Dialog | undefined
  /** How long the platform waits on purpose before it responds. Default: it does not wait. */
  readonly longPoll?: (request: NoInfer<Request>) => Duration.Duration | undefined
  /**
   * Whether the call can be repeated when the platform may have executed it already. Default: `false` for POST, `true` for
   * the other methods.
   */
  readonly idempotent?: boolean
  /** Where the result of a call is found whose answer was lost, for the `Journal`. Default: it cannot be found. */
  readonly lookUp?: Declaration.LookUp<NoInfer<Request>, Success["Type"]>
  /**
   * How the platform refuses a call that it has carried out before. This refusal is a success if an earlier attempt of the
   * update, or a request whose response was lost, may have carried the call out. The response is then `{ success: true }`.
   * Default: each refusal is a failure.
   */
  readonly repeated?: Declaration.Repeated<NoInfer<Request>>
  /** The section of the API document. Default: the method and the path. */
  readonly section?: string
}

const none = () => undefined

const lazy = <A>(make: () => A): (() => A) => {
  let made: { readonly value: A } | undefined
  return () => (made ??= { value: make() }).value
}

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
  Params extends Schema.Struct.Fields = {},
  Query extends Schema.Struct.Fields = {},
  Body extends Schema.Struct.Fields = {},
  Request extends RequestOf<Params, Query, Body> = RequestOf<Params, Query, Body>
>(
  endpoint: string,
  options: () => Options<Request, Params, Query, Body, Success, Errors>
): Endpoint<Request, Success["Type"], InstanceType<Errors[number]>> => {
  type E = InstanceType<Errors[number]>
  const declaration = lazy((): Declaration.Declaration<Request, Success["Type"], E> => {
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
    } as never
  })
  const self = (request: Request) =>
    BotApi.use((api) => api.execute<Request, Success["Type"], E>(self as never, request))
  Object.defineProperty(self, "name", { value: endpoint })
  Object.defineProperty(self, "declaration", { get: declaration, enumerable: true })
  return Object.assign(self, { [TypeId]: TypeId, endpoint }) as never
}
