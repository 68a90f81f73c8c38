import type { ChatId } from "@colloquy/core/model/Chat"
import type * as Endpoint from "@colloquy/core/client/Endpoint"
import * as Endpoints from "@colloquy/core/endpoints/Endpoints"
import type { MessageId } from "@colloquy/core/model/Message"
import * as Platform from "@colloquy/core/base/Platform"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { type ConnectionLost, type Exchange, type Handler, type Request, type Response } from "../../EmulatorHttp.ts"
import type { Rule } from "../../Faults.ts"
import type { Call } from "../endpoints/call.ts"
import { handlerOf } from "../endpoints/index.ts"
import type { EmulatorContext } from "../platform/context.ts"
import { type BotState, now, type PlatformState } from "../platform/state.ts"
import { idOf } from "../platform/users.ts"
import { serveUploadHost } from "../upload/host.ts"
import { withFaults } from "./faultInjection.ts"
import * as refusal from "./refusal.ts"
import { readText } from "./requestBody.ts"
import * as requestReader from "./requestReader.ts"
import { requestedChat, requestedChats } from "./requestedChats.ts"
import * as router from "./router.ts"
import { makeWriter } from "./successes.ts"
import { allow, textBody } from "./wire.ts"

type Answering = Effect.Effect<Response, ConnectionLost>

/** The API document specifies a response with 200 and `success: false` for invalid requests of this endpoint. */
const subscribe: Endpoints.Name = "Subscriptions.subscribe"

/** The handler checks the URL and the secret of a webhook, because options of the emulator accept more than the client sends. */
const withoutWebhookChecks = ({ declaration, endpoint }: Endpoint.Any): Endpoint.Any["declaration"] =>
  endpoint === subscribe
    ? { ...declaration, body: { ...declaration.body, url: Schema.String, secret: Schema.optional(Schema.String) } }
    : declaration

type MutableExchange = { -readonly [K in keyof Exchange]: Exchange[K] }

interface Linked {
  readonly body?: { readonly mid?: MessageId } | null
  readonly message_id?: MessageId
  readonly comment_id?: MessageId
  readonly callback_id?: string
  readonly chat_id?: ChatId
}

/** Links an exchange to the message or comment that its request or its success names. */
const link = (exchange: MutableExchange, { bot, state }: Call, value: unknown): void => {
  if (typeof value !== "object" || value === null) return
  const { body, callback_id, chat_id, comment_id, message_id } = value as Linked
  const pressed = callback_id === undefined ? undefined : bot.callbacks.get(callback_id)?.message.mid
  const mid = body?.mid ?? comment_id ?? message_id ?? pressed
  const message = mid === undefined ? undefined : (state.messages.get(mid) ?? state.comments.get(mid)?.message)
  if (mid !== undefined) exchange.message_id = mid
  if (message !== undefined) exchange.chat_id = message.chat.chat_id
  else if (typeof chat_id === "number") exchange.chat_id = chat_id
}

const makeEndpointHandler = (endpoint: Endpoint.Any) => {
  const handler = handlerOf(endpoint)
  const read = requestReader.make(withoutWebhookChecks(endpoint))
  const write = makeWriter(endpoint)
  const invalid =
    endpoint.endpoint === subscribe ? (problem: string) => refusal.rejected(problem) : refusal.invalidPayload
  return Effect.fnUntracedEager(function* (parts: requestReader.Parts, call: Call, exchange: MutableExchange) {
    const request = read(parts)
    if (Result.isFailure(request)) return yield* invalid(request.failure)
    link(exchange, call, request.success)
    const success = yield* handler(request.success, call)
    link(exchange, call, success)
    return write(success)
  })
}

/** The bot of a request whose token works. */
const botOf = (state: PlatformState, { headers }: Request): BotState | undefined => {
  const token = headers["authorization"]
  return token === undefined || state.revokedTokens.has(token) ? undefined : state.bots.get(token)
}

const authenticate = (
  state: PlatformState,
  { headers, query }: Request,
  bot: BotState | undefined
): refusal.Refusable<BotState> => {
  if (bot !== undefined) return Effect.succeed(bot)
  const token = headers["authorization"]
  if (token === undefined || token === "") {
    const inQuery = new URLSearchParams(query).has("access_token")
    return refusal.unauthorized(
      inQuery ? "The token is not taken from the query: send the header Authorization" : "No access token"
    )
  }
  const revocation = state.revokedTokens.get(token)
  return revocation === undefined ? refusal.unauthorized("Invalid access token") : refusal.tokenRevoked(revocation)
}

const noLimits: Exchange["limits"] = []

const open = (
  state: PlatformState,
  { headers, method, path, query }: Request,
  match: router.Match | undefined,
  bot: BotState | undefined
): MutableExchange => ({
  at: now(state),
  method,
  path,
  query,
  headers,
  endpoint: match?._tag === "Found" ? match.endpoint.endpoint : undefined,
  number: state.exchanges.end,
  took: 0,
  bot_id: bot === undefined ? undefined : idOf(bot.user),
  chat_id: undefined,
  message_id: undefined,
  limits: noLimits,
  fault: undefined,
  body: undefined,
  status: undefined,
  answer: undefined
})

/** Reads the body for the journal. */
const keepBody = (request: Request, exchange: MutableExchange) =>
  Effect.map(readText(request, Platform.maxRequestSize), (text) => (exchange.body = text))

/** A request before its handling, with its bot and its endpoint. */
interface Incoming {
  readonly request: Request
  /** `undefined` on an upload host. */
  readonly match: router.Match | undefined
  /** `undefined` without a token that works. */
  readonly bot: BotState | undefined
  readonly exchange: MutableExchange
}

/**
 * Answers requests from the state of the platform. Requests are decoded by the same declarations as in the client.
 * Synchronous steps run eagerly: a request whose body is available takes one step of its fiber (benchmarks
 * `emulator-over-bare` and `virtual-flood-cpu-us`).
 */
export const makeServe = (context: EmulatorContext): Handler => {
  const { interceptors, isStrict, limiter, state } = context
  const find = router.make(Endpoints.all)
  const methods = router.allowedMethods(new Set(Endpoints.all.map(({ declaration }) => declaration.method)))
  const handlers = new Map(Endpoints.all.map((endpoint) => [endpoint, makeEndpointHandler(endpoint)]))

  const handleApi = Effect.fnUntracedEager(function* ({ bot: known, exchange, match, request }: Incoming) {
    const { listener, method, path, query } = request
    if (method === "OPTIONS" && path === "*") return allow(methods)
    if (match?._tag !== "Found") return yield* router.unmatched(match, request)
    const { endpoint, params } = match
    const bot = yield* authenticate(state, request, known)
    const isRead = isStrict || Object.keys(endpoint.declaration.body).length > 0
    if (limiter !== undefined) {
      const chat = requestedChat(state, bot, params, query)
      exchange.chat_id = chat?.chat_id
      const admitted = limiter.admit(endpoint, bot, chat, now(state))
      exchange.limits = limiter.use(endpoint, bot, chat, now(state))
      // The journal keeps the body of a refused request, which can be sent again.
      yield* Effect.catchEager(admitted, (refused) =>
        Effect.andThen(isRead ? Effect.ignore(keepBody(request, exchange)) : Effect.void, Effect.fail(refused))
      )
    }
    const body = isRead ? (exchange.body = yield* readText(request, Platform.maxRequestSize)) : undefined
    state.fileOrigins.bot = listener.uploads
    return yield* handlers.get(endpoint)!(
      { params, query, body, isStrict },
      { state, context, bot, listener },
      exchange
    )
  })

  const answer = (incoming: Incoming): Effect.Effect<Response> => {
    const { request } = incoming
    const answering = request.listener.kind === "api" ? handleApi(incoming) : serveUploadHost(state, request)
    return refusal.toAnswer(request, answering, "The emulator could not answer")
  }

  /** A fault may answer without reading the body, which the journal keeps all the same. */
  const withBody = (incoming: Incoming): refusal.Refusable<Incoming> => {
    const { exchange, match, request } = incoming
    if (match?._tag !== "Found" || Object.keys(match.endpoint.declaration.body).length === 0)
      return Effect.succeed(incoming)
    return Effect.map(keepBody(request, exchange), (text) => ({
      ...incoming,
      request: { ...request, body: textBody(text) }
    }))
  }

  /** Without faults, the request is answered at once. A fault may prevent the answer. */
  const underFaults = (incoming: Incoming): Answering => {
    const { bot, exchange, match, request } = incoming
    const { endpoint } = exchange
    const onApplied = (rule: Rule): void => {
      exchange.fault ??= rule
    }
    if (state.faults.length === 0)
      return withFaults(state, request, { endpoint, bot, chats: [], onApplied }, answer(incoming))
    const params = match?._tag === "Found" ? match.params : {}
    const chats = requestedChats(state, bot, params, request.query).map(({ chat_id }) => chat_id)
    exchange.chat_id = chats[0]
    return Effect.matchEffect(withBody(incoming), {
      onFailure: (error) => Effect.succeed(refusal.toResponse(error)),
      onSuccess: (read) =>
        withFaults(
          state,
          request,
          { endpoint, bot, chats, onApplied },
          Effect.suspend(() => answer(read))
        )
    })
  }

  const underInterceptors = (incoming: Incoming): Answering =>
    interceptors.reduce(
      (next, intercept): Answering => Effect.suspend(() => intercept(incoming.request, next)),
      Effect.suspend(() => underFaults(incoming))
    )

  return (request) =>
    Effect.suspend(() => {
      const match = request.listener.kind === "api" ? find(request.method, request.path) : undefined
      const bot = botOf(state, request)
      const exchange = open(state, request, match, bot)
      const close = (exit: Exit.Exit<Response, ConnectionLost>): void => {
        if (Exit.isSuccess(exit)) {
          exchange.status = exit.value.status
          exchange.answer = exit.value.body
        }
        exchange.number = state.exchanges.end
        exchange.took = now(state) - exchange.at
        state.exchanges.append(exchange)
        state.events.append({ type: "request", at: now(state), exchange })
      }
      const incoming = { request, match, bot, exchange }
      const answered = interceptors.length === 0 ? underFaults(incoming) : underInterceptors(incoming)
      if (!refusal.isSettled(answered)) return Effect.onExit(answered, (exit) => Effect.sync(() => close(exit)))
      close(answered)
      return answered
    })
}
