import { ApiError, type BotApi, type Endpoint, Json, RetryPolicy } from "@colloquy/core"
import * as Endpoints from "@colloquy/core/endpoints/Endpoints"
import { Emulator, EmulatorHttp } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { handlerOf } from "../../../src/emulator/internal/endpoints/index.ts"
import * as requestReader from "../../../src/emulator/internal/http/requestReader.ts"
import * as router from "../../../src/emulator/internal/http/router.ts"
import { requestFor } from "../../support/scene.ts"
import { successes } from "../../support/successes.ts"

const layer = Emulator.layerBot()

const { all } = Endpoints

const find = router.make(all)

type Call = Effect.Effect<unknown, ApiError.ApiError, BotApi.BotApi>

const callOnce = (endpoint: Endpoint.Any, request: unknown): Call =>
  RetryPolicy.override(endpoint(request) as Call, RetryPolicy.none)

type Answer = readonly [status: number, body: unknown, headers?: Readonly<Record<string, string>>]

/** Calls an endpoint that receives a given response. */
const answeredWith = (endpoint: Endpoint.Any, ...answer: Answer) =>
  Effect.gen(function* () {
    const request = yield* requestFor(endpoint)
    yield* Emulator.intercept(() => Effect.succeed(EmulatorHttp.respond(...answer)))
    return yield* callOnce(endpoint, request)
  })

const failureOf = (endpoint: Endpoint.Any, ...answer: Answer) => Effect.flip(answeredWith(endpoint, ...answer))

const failedUsers = [{ error_code: "add.participant.privacy", user_ids: [7] }]

/** The responses by which an error is recognized. */
const answersOf = ({ matcher }: ApiError.ErrorClass<unknown>): ReadonlyArray<Answer> => [
  ...matcher.codes.map((code) => [418, { code, message: "no" }] as const),
  ...[matcher.status, matcher.statusWithoutCode]
    .filter((status) => status !== undefined)
    .map((status) => [status, ""] as const),
  ...[
    { success: false, message: "no" },
    { success: false, failed_user_details: failedUsers },
    { success: false, failed_user_ids: [7] }
  ]
    .filter((body) => matcher.matches?.(body, 200) === true)
    .map((body) => [200, body] as const)
]

const common = [ApiError.Unauthorized, ApiError.RateLimited]

/** Returns the error of a response: the first of the endpoint that matches it. */
const expected = (endpoint: Endpoint.Any, error: ApiError.ErrorClass<unknown>, status: number, body: unknown) =>
  endpoint.declaration.errors.find(({ matcher }) => matcher.matches?.(body, status) === true) ?? error

describe("the declarations of all endpoints", () => {
  it("have distinct names, and distinct methods and paths", () => {
    const names = all.map(({ endpoint }) => endpoint)
    const routes = all.map(({ declaration }) => `${declaration.method} ${declaration.path.replace(/\{\w+\}/g, "{}")}`)
    assert.strictEqual(all.length, 33)
    assert.strictEqual(new Set(names).size, all.length)
    assert.strictEqual(new Set(routes).size, all.length)
  })

  it("have exactly the keys of `params` in the path", () => {
    for (const { declaration, endpoint } of all) {
      const match = find(declaration.method, declaration.path.replace(/\{\w+\}/g, "1"))
      const params = match._tag === "Found" ? Object.keys(match.params) : undefined
      assert.deepStrictEqual(params, Object.keys(declaration.params), endpoint)
    }
  })
})

describe.each(all.map((endpoint) => [endpoint.endpoint, endpoint] as const))("%s", (name, endpoint) => {
  const { method, path } = endpoint.declaration

  it("has a route and a handler in the emulator", () => {
    const match = find(method, path.replace(/\{\w+\}/g, "1"))
    assert.strictEqual(match._tag === "Found" ? match.endpoint : undefined, endpoint)
    assert.strictEqual(typeof handlerOf(endpoint), "function")
  })

  it.effect("arrives at the server as the request that was sent", () =>
    Effect.gen(function* () {
      const read = requestReader.make(endpoint.declaration)
      const request = yield* requestFor(endpoint)
      const seen: Array<unknown> = []
      yield* Emulator.intercept((request, next) =>
        Effect.gen(function* () {
          const match = find(request.method, request.path)
          const params = match._tag === "Found" ? match.params : {}
          const body = yield* Effect.orDie(request.body.text)
          seen.push(read({ params, query: request.query, body }))
          return yield* next
        })
      )
      yield* callOnce(endpoint, request)
      assert.deepStrictEqual(seen, [Result.succeed(request)])
    }).pipe(Effect.provide(layer))
  )

  it.effect("returns the success value of the response", () =>
    Effect.gen(function* () {
      assert.isTrue(name in successes)
      const body = yield* Schema.encodeUnknownEffect(endpoint.declaration.success)(successes[name])
      assert.deepStrictEqual(yield* answeredWith(endpoint, 200, body), successes[name])
    }).pipe(Effect.provide(layer))
  )

  it.effect("succeeds on the emulator", () =>
    Effect.gen(function* () {
      const request = yield* requestFor(endpoint)
      const success = yield* callOnce(endpoint, request)
      const { answer, endpoint: called, status } = (yield* Emulator.requests).at(-1)!
      assert.deepStrictEqual([called, status], [name, 200])
      const encoded = yield* Schema.encodeUnknownEffect(endpoint.declaration.success)(success)
      assert.deepStrictEqual(Json.parse(Json.stringify(encoded)), Json.parse(answer!))
    }).pipe(Effect.provide(layer))
  )

  const errors: ReadonlyArray<ApiError.ErrorClass<unknown>> = [...endpoint.declaration.errors, ...common]
  const cases = errors.flatMap((error) =>
    answersOf(error).map(([status, body]) => {
      const looks = body === "" ? `status ${status}` : `${status} ${Json.stringify(body)}`
      return [looks, status, body, expected(endpoint, error, status, body)] as const
    })
  )

  it.effect.each(cases)("fails with the declared error for %s", ([, status, body, error]) =>
    Effect.gen(function* () {
      const failure = yield* failureOf(endpoint, status, body)
      assert.instanceOf(failure, error)
      assert.strictEqual((failure as { readonly endpoint: string }).endpoint, name)
    }).pipe(Effect.provide(layer))
  )

  const malformed = [
    ["JSON of another shape", "[5]"],
    ["truncated JSON", '{"success": tr'],
    ["nothing", ""]
  ] as const

  it.effect.each(malformed)("keeps the body of a response that is %s", ([, body]) =>
    Effect.gen(function* () {
      const failure = yield* failureOf(endpoint, 200, body)
      assert.strictEqual(failure._tag, "RequestFailed")
      const reason = failure._tag === "RequestFailed" ? failure.reason : undefined
      assert.deepInclude(reason, { _tag: "InvalidResponse", status: 200, body })
    }).pipe(Effect.provide(layer))
  )

  it.effect("keeps the error page of a gateway", () =>
    Effect.gen(function* () {
      const body = "<html><h1>502 Bad Gateway</h1></html>"
      const failure = yield* failureOf(endpoint, 502, body, { "content-type": "text/html" })
      const reason = failure._tag === "RequestFailed" ? failure.reason : undefined
      assert.deepInclude(reason, { _tag: "UnexpectedStatus", status: 502, body })
    }).pipe(Effect.provide(layer))
  )

  it.effect.each(["connectionRefused", "connectionReset"] as const)("reports a lost connection: %s", (kind) =>
    Effect.gen(function* () {
      const request = yield* requestFor(endpoint)
      yield* Emulator.intercept(() => EmulatorHttp[kind])
      const failure = yield* Effect.flip(callOnce(endpoint, request))
      const reason = failure._tag === "RequestFailed" ? failure.reason : undefined
      const [wanted, isSent] = kind === "connectionRefused" ? (["Refused", false] as const) : (["Reset", true] as const)
      assert.deepInclude(reason, { _tag: "Transport", kind: wanted, isSent })
    }).pipe(Effect.provide(layer))
  )
})
