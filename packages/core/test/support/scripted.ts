import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as BotApi from "../../src/client/BotApi.ts"
import * as Json from "../../src/base/Json.ts"
import * as RateLimiter from "../../src/client/RateLimiter.ts"

export const token = "s3cret.Token/With+Signs=="
export const baseUrl = "https://api.example/v1"

/** The response of the platform to one request. */
export type Reply = Outcome & { readonly delay?: number }

type Outcome =
  | {
      readonly _tag: "Answer"
      readonly status: number
      readonly headers: Readonly<Record<string, string>>
      readonly body: string
    }
  | { readonly _tag: "Lost"; readonly cause: unknown; readonly whileReading: boolean }
  | { readonly _tag: "Never" }

export const text = (status: number, body: string, headers: Readonly<Record<string, string>> = {}): Reply => ({
  _tag: "Answer",
  status,
  headers,
  body
})

export const answer = (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Reply =>
  text(status, Json.stringify(body), { "content-type": "application/json", ...headers })

export const ok = (body: unknown): Reply => answer(200, body)

/** An error like those of Node and undici: the innermost cause has the code. */
export const nodeError = (code: string, message: string = code): Error =>
  new TypeError("fetch failed", { cause: Object.assign(new Error(message), { code }) })

export const lost = (cause: unknown): Reply => ({ _tag: "Lost", cause, whileReading: false })

/** A response whose body ends with an error after the head. */
export const brokenOff = (cause: unknown): Reply => ({ _tag: "Lost", cause, whileReading: true })

/** A reply a number of milliseconds after the request. */
export const slow = (delay: number, reply: Reply): Reply => ({ ...reply, delay })

export const never: Reply = { _tag: "Never" }

/** A request that the platform received. */
export interface Entry {
  readonly method: string
  readonly url: string
  readonly body: unknown
  readonly at: number
  readonly headers: Readonly<Record<string, string | undefined>>
}

const bodyOf = (request: HttpClientRequest.HttpClientRequest): string | undefined =>
  request.body._tag === "Uint8Array" ? new TextDecoder().decode(request.body.body) : undefined

export interface Options extends Partial<BotApi.Options> {
  readonly limits?: RateLimiter.Options
}

/** A reply, or a function that creates it from the request. */
export type Step = Reply | ((request: Entry) => Reply)

/** A platform that answers each request with the next reply of a list. A request without a reply is a defect. */
export const scripted = (...script: ReadonlyArray<Step>) => {
  const journal: Array<Entry> = []
  const client = HttpClient.make(
    Effect.fnUntraced(function* (request) {
      const broken = (cause: unknown) =>
        new HttpClientError.HttpClientError({ reason: new HttpClientError.TransportError({ request, cause }) })
      const body = bodyOf(request)
      const entry: Entry = {
        method: request.method,
        url: request.url.startsWith(baseUrl) ? request.url.slice(baseUrl.length) : request.url,
        body: body === undefined ? undefined : Json.parse(body),
        at: yield* Clock.currentTimeMillis,
        headers: request.headers
      }
      const next = script[journal.length]
      journal.push(entry)
      if (next === undefined) return yield* Effect.die(new Error(`not in the script: ${entry.method} ${entry.url}`))
      const reply = typeof next === "function" ? next(entry) : next
      if (reply.delay !== undefined) yield* Effect.sleep(reply.delay)
      if (reply._tag === "Never") return yield* Effect.never
      if (reply._tag === "Lost" && !reply.whileReading) return yield* broken(reply.cause)
      const response = HttpClientResponse.fromWeb(
        request,
        new Response(null, reply._tag === "Answer" ? { headers: reply.headers } : {})
      )
      // The body is available at once: the test clock would advance before a promise resolves.
      return Object.defineProperties(
        response,
        reply._tag === "Answer"
          ? { status: { value: reply.status }, stream: { value: Stream.make(new TextEncoder().encode(reply.body)) } }
          : { stream: { value: Stream.fail(broken(reply.cause)) } }
      )
    })
  )
  const layer = ({ limits, ...options }: Options = {}) =>
    BotApi.layer({ token: Redacted.make(token), baseUrl, ...options }).pipe(
      Layer.provideMerge(RateLimiter.layerMemory(limits)),
      Layer.provide(Layer.succeed(HttpClient.HttpClient, client))
    )
  return { journal, layer, client }
}

export const repeat = (times: number, reply: Reply): ReadonlyArray<Reply> => Array.from({ length: times }, () => reply)

/** Limits that no test reaches by accident. */
export const unlimited: RateLimiter.Options = {
  ...RateLimiter.unlimited,
  host: { count: 10_000, window: 1 },
  messages: { count: 10_000, window: 1 },
  answers: { count: 10_000, window: 1 },
  polling: { count: 10_000, window: 1 }
}
