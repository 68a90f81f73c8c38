/**
 * An endpoint is one function that carries its own declaration.
 *
 * Call it: `Messages.send({ chat_id, text })`. Read it: `Messages.send.declaration`. Three programs interpret the same
 * declaration: the client ({@link BotApi}), the emulator's server and the documentation.
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
import type * as RateLimiter from "./RateLimiter.ts"

const TypeId = "~@colloquy/core/Endpoint"

/**
 * The fields of one part of a request.
 *
 * @category models
 * @since 0.1.0
 */
export type Fields = Readonly<Record<string, Schema.Codec<any, any> & Schema.Top>>

/**
 * A rule between fields: what is wrong with a request, if anything.
 *
 * @category models
 * @since 0.1.0
 */
export type Rule<Request> = (request: Request) => ApiError.FieldIssue | undefined

/**
 * Everything there is to know about an endpoint. The request is flat: `params`, `query` and `body` say which part each
 * of its keys belongs to. A `{chatId}` in `path` is the key `chat_id` of `params`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Declaration<in out Request, out Success, out E> {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE"
  readonly path: `/${string}`
  readonly params: Fields
  readonly query: Fields
  readonly body: Fields
  readonly rules: ReadonlyArray<Rule<Request>>
  readonly success: Schema.Codec<Success, any>
  readonly errors: ReadonlyArray<ApiError.ErrorClass<E>>
  /** What a call takes of the limits besides its place at the host. */
  readonly limit: (request: Request) => RateLimiter.Target | undefined
  /** How long the platform may take on purpose before it answers. */
  readonly longPoll: (request: Request) => Duration.Duration | undefined
  /** Whether the call may be repeated when it may have been carried out already. */
  readonly idempotent: boolean
  /** Where the API document speaks of it. */
  readonly section: string
}

/**
 * An endpoint: a function from a request to an effect whose error channel names what can go wrong.
 *
 * @category models
 * @since 0.1.0
 */
export interface Endpoint<in out Request, out Success, in out E extends ApiError.Declared = never> {
  (request: Request): Effect.Effect<Success, E | ApiError.Common, BotApi>
  readonly [TypeId]: typeof TypeId
  /** The name of the function, such as `Messages.send`. */
  readonly endpoint: string
  /** Made at the first look, never at import. */
  readonly declaration: Declaration<Request, Success, E>
}

/**
 * Any endpoint, with its types forgotten.
 *
 * @category utility types
 * @since 0.1.0
 */
export interface Any {
  (request: any): Effect.Effect<any, any, BotApi>
  readonly [TypeId]: typeof TypeId
  readonly endpoint: string
  readonly declaration: Declaration<any, any, any>
}

/**
 * The request of an endpoint.
 *
 * @category utility types
 * @since 0.1.0
 */
export type Request<E extends Any> = E extends Endpoint<infer R, any, infer _> ? R : never

/**
 * What an endpoint gives.
 *
 * @category utility types
 * @since 0.1.0
 */
export type Success<E extends Any> = E extends Endpoint<any, infer A, infer _> ? A : never

/**
 * What can go wrong at an endpoint.
 *
 * @category utility types
 * @since 0.1.0
 */
export type Errors<E extends Any> = E extends Endpoint<any, any, infer Declared> ? Declared | ApiError.Common : never

/**
 * Tests whether a value is an endpoint.
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
 * What a declaration has to say; the rest has a default.
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
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE"
  readonly path: `/${string}`
  readonly params?: Params
  readonly query?: Query
  readonly body?: Body
  readonly rules?: ReadonlyArray<Rule<NoInfer<Request>>>
  readonly success: Success
  readonly errors: Errors
  readonly limit?: (request: NoInfer<Request>) => RateLimiter.Target | undefined
  readonly longPoll?: (request: NoInfer<Request>) => Duration.Duration | undefined
  /** Unless told, all but a POST. */
  readonly idempotent?: boolean
  readonly section?: string
}

const none = () => undefined

const lazy = <A>(make: () => A): (() => A) => {
  let made: { readonly value: A } | undefined
  return () => (made ??= { value: make() }).value
}

/**
 * Makes an endpoint. The thunk runs at the first call, never at import. Annotate the constant with its
 * {@link Endpoint} type: that pins the error channel, so that a missing or an extra error does not compile.
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
  const declaration = lazy((): Declaration<Request, Success["Type"], InstanceType<Errors[number]>> => {
    const given = options()
    return {
      params: {},
      query: {},
      body: {},
      rules: [],
      limit: none,
      longPoll: none,
      idempotent: given.method !== "POST",
      section: `${given.method} ${given.path}`,
      ...given
    } as never
  })
  const self = (request: Request) => BotApi.use((api) => api.execute(self as never, request))
  Object.defineProperty(self, "name", { value: endpoint })
  Object.defineProperty(self, "declaration", { get: declaration, enumerable: true })
  return Object.assign(self, { [TypeId]: TypeId, endpoint }) as never
}
