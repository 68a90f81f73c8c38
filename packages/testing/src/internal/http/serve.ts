import type * as Endpoint from "@colloquy/core/Endpoint"
import * as Endpoints from "@colloquy/core/Endpoints"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { Call } from "../endpoints/call.ts"
import { faulty, type Found } from "../platform/faults.ts"
import { handlerOf } from "../endpoints/index.ts"
import type { Bot } from "../platform/model.ts"
import { readText } from "./readText.ts"
import * as refusal from "./refusal.ts"
import * as requestReader from "./requestReader.ts"
import * as router from "./router.ts"
import { toResponse } from "./shape.ts"
import { targetOf } from "../platform/target.ts"
import { serveUploadHost } from "../upload/host.ts"
import { allow, asHead, type Exchange, type Lost, type Request, respond, type Response, type Serve } from "./wire.ts"
import type { World } from "../platform/world.ts"

type Refusable<A> = Effect.Effect<A, refusal.Refusal>

type Answerer = (parts: requestReader.Parts, call: Call) => Refusable<Response>

/** Where the document wants a bad request answered with 200 and `success: false`, and the handler judges the address. */
const subscribe: Endpoints.Name = "Subscriptions.subscribe"

/** The handler judges the address of a webhook: a switch lets more of them pass than the client sends. */
const asThePlatformReads = ({ declaration, endpoint }: Endpoint.Any): Endpoint.Any["declaration"] =>
  endpoint === subscribe ? { ...declaration, body: { ...declaration.body, url: Schema.String } } : declaration

const makeAnswerer = (endpoint: Endpoint.Any): Answerer => {
  const handler = handlerOf(endpoint)
  const read = requestReader.make(asThePlatformReads(endpoint))
  const encode = Schema.encodeUnknownResult(endpoint.declaration.success)
  const invalid =
    endpoint.endpoint === subscribe ? (problem: string) => refusal.rejected(problem) : refusal.invalidPayload
  return Effect.fnUntraced(function* (parts, call) {
    const request = read(parts)
    if (Result.isFailure(request)) return yield* invalid(request.failure)
    const success = yield* handler(request.success, call)
    return respond(200, Result.getOrThrow(encode(success)))
  })
}

const authenticate = (world: World, { headers, query }: Request): Refusable<Bot> =>
  Effect.suspend(() => {
    const token = headers["authorization"]
    if (token === undefined || token === "") {
      const inQuery = new URLSearchParams(query).has("access_token")
      return refusal.unauthorized(
        inQuery ? "The token is not taken from the query: send the header Authorization" : "No access token"
      )
    }
    const revocation = world.revoked.get(token)
    if (revocation !== undefined) return refusal.tokenOfNoUse(revocation)
    const bot = world.bots.get(token)
    return bot === undefined ? refusal.unauthorized("Invalid access token") : Effect.succeed(bot)
  })

const maxBody = 2 ** 20

type Journaled = { -readonly [K in keyof Exchange]: Exchange[K] }

const open = (world: World, { headers, method, path, query }: Request): Journaled => ({
  at: world.now,
  method,
  path,
  query,
  headers,
  endpoint: undefined,
  body: undefined,
  status: undefined,
  answer: undefined
})

/** Answers requests from the state of the platform, by the declarations that the client is made of. */
export const serving = (world: World): Serve => {
  const find = router.make(Endpoints.all)
  const methods = router.allowedMethods(new Set(Endpoints.all.map(({ declaration }) => declaration.method)))
  const answerers = new Map(Endpoints.all.map((endpoint) => [endpoint, makeAnswerer(endpoint)]))

  const answerApi = Effect.fnUntraced(function* (request: Request, exchange: Journaled) {
    const { entrance, method, path, query } = request
    const match = find(method, path)
    if (method === "OPTIONS" && path === "*") return allow(methods)
    if (match._tag === "NotFound") return yield* refusal.notFound(`Path ${path}`)
    if (match._tag === "MethodNotAllowed") {
      if (method === "OPTIONS") return allow(match.allowed)
      return yield* refusal.methodNotAllowed(`${method} ${path} is not allowed`, match.allowed)
    }
    const { endpoint, params } = match
    exchange.endpoint = endpoint.endpoint
    const bot = yield* authenticate(world, request)
    if (world.limiter !== undefined) {
      yield* world.limiter.admit(endpoint, bot, targetOf(world, bot, params, query), world.now)
    }
    const isRead = world.isStrict || Object.keys(endpoint.declaration.body).length > 0
    const body = isRead ? (exchange.body = yield* readText(request, maxBody)) : undefined
    world.imageOrigins.bot = entrance.uploads.image
    return yield* answerers.get(endpoint)!({ params, query, body, isStrict: world.isStrict }, { world, bot, entrance })
  })

  const found = ({ entrance, method, path }: Request): Found => {
    const match = find(method, path)
    return entrance.at === "api" && match._tag === "Found"
      ? { endpoint: match.endpoint.endpoint, params: match.params }
      : { endpoint: undefined, params: {} }
  }

  const answer = (request: Request, exchange: Journaled): Effect.Effect<Response> =>
    (request.entrance.at === "api" ? answerApi(request, exchange) : serveUploadHost(world, request)).pipe(
      Effect.catch((refusal) => Effect.succeed(toResponse(refusal))),
      Effect.catchDefect((defect) =>
        Effect.as(
          Effect.logError("The emulator could not answer", defect),
          toResponse(refusal.internalError(), request.entrance.at)
        )
      ),
      request.method === "HEAD" ? Effect.map(asHead) : identity
    )

  return (request) =>
    Effect.suspend(() => {
      const exchange = open(world, request)
      const answered: Effect.Effect<Response, Lost> = world.intercepts.reduce(
        (next, intercept) => Effect.suspend(() => intercept(request, next)),
        Effect.suspend(() => faulty(world, request, found, answer(request, exchange)))
      )
      return Effect.onExit(answered, (exit) =>
        Effect.sync(() => {
          if (Exit.isSuccess(exit)) {
            exchange.status = exit.value.status
            exchange.answer = exit.value.body
          }
          world.exchanges.append(exchange)
        })
      )
    })
}
