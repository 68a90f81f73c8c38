import type * as Endpoint from "@colloquy/core/Endpoint"
import * as Endpoints from "@colloquy/core/Endpoints"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { Call } from "./call.ts"
import { handlerOf } from "./handlers/index.ts"
import type { Bot } from "./model.ts"
import * as refusal from "./refusal.ts"
import * as requestReader from "./requestReader.ts"
import * as router from "./router.ts"
import { receive } from "./uploadHost.ts"
import { type Exchange, type Lost, type Request, respond, type Response, type Serve } from "./wire.ts"
import type { World } from "./world.ts"

type Refusable<A> = Effect.Effect<A, refusal.Refusal>

type Answerer = (parts: requestReader.Parts, call: Call) => Refusable<Response>

const refused = ({ body, headers, status }: refusal.Refusal): Response => respond(status, body, headers)

/** Where the document wants a bad request answered with 200 and `success: false`. */
const answersWithSuccessFalse = new Set(["Subscriptions.subscribe"])

const makeAnswerer = (endpoint: Endpoint.Any): Answerer => {
  const handler = handlerOf(endpoint)
  const read = requestReader.make(endpoint.declaration)
  const encode = Schema.encodeUnknownEffect(endpoint.declaration.success)
  const invalid = answersWithSuccessFalse.has(endpoint.endpoint)
    ? (problem: string) => refusal.rejected(problem)
    : refusal.invalidPayload
  return (parts, call) =>
    Effect.gen(function* () {
      const request = read(parts)
      if (Result.isFailure(request)) return yield* invalid(request.failure)
      const success = yield* handler(request.success, call)
      return respond(200, yield* Effect.orDie(encode(success)))
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
    const bot = world.bots.get(token)
    return bot === undefined ? refusal.unauthorized("Invalid access token") : Effect.succeed(bot)
  })

const maxBody = 2 ** 20

const readBody = ({ body, headers }: Request): Refusable<string> =>
  Number(headers["content-length"] ?? 0) > maxBody
    ? refusal.tooLarge(maxBody)
    : body.text.pipe(
        Effect.mapError(() => refusal.invalidPayload("The body could not be read to its end")),
        Effect.filterOrFail(
          (text) => text.length <= maxBody,
          () => refusal.tooLarge(maxBody)
        )
      )

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
  const answerers = new Map(Endpoints.all.map((endpoint) => [endpoint, makeAnswerer(endpoint)]))

  const answerApi = (request: Request, exchange: Journaled): Refusable<Response> =>
    Effect.gen(function* () {
      const { entrance, method, path, query } = request
      const match = find(method, path)
      if (match._tag === "NoSuchPath") return yield* refusal.notFound(`Path ${path}`)
      if (match._tag === "OtherMethods") {
        if (method === "OPTIONS") return { status: 204, headers: { allow: match.methods.join(", ") }, body: "" }
        return yield* refusal.methodNotAllowed(`${method} ${path} is not allowed`, match.methods)
      }
      const { endpoint, params } = match
      exchange.endpoint = endpoint.endpoint
      const bot = yield* authenticate(world, request)
      const hasBody = Object.keys(endpoint.declaration.body).length > 0
      const body = hasBody ? (exchange.body = yield* readBody(request)) : undefined
      return yield* answerers.get(endpoint)!({ params, query, body }, { world, bot, entrance })
    })

  const answer = (request: Request, exchange: Journaled): Effect.Effect<Response> =>
    (request.entrance.at === "api" ? answerApi(request, exchange) : receive(world, request)).pipe(
      Effect.catch((refusal) => Effect.succeed(refused(refusal))),
      Effect.catchDefect((defect) =>
        Effect.as(Effect.logError("The emulator could not answer", defect), refused(refusal.internalError()))
      ),
      Effect.map((response) => (request.method === "HEAD" ? { ...response, body: "" } : response))
    )

  return (request) =>
    Effect.suspend(() => {
      const exchange = open(world, request)
      const answered: Effect.Effect<Response, Lost> = world.intercepts.reduce(
        (next, intercept) => Effect.suspend(() => intercept(request, next)),
        answer(request, exchange) as Effect.Effect<Response, Lost>
      )
      return answered.pipe(
        Effect.tap((response) =>
          Effect.sync(() => {
            exchange.status = response.status
            exchange.answer = response.body
          })
        ),
        Effect.ensuring(Effect.sync(() => world.exchanges.append(exchange)))
      )
    })
}
