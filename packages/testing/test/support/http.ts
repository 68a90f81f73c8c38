import { Json } from "@colloquy/core"
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { raw } from "./raw.ts"

type Method = Parameters<typeof raw>[0]

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly text: string
  /** Returns the value at a path of keys in the body, such as `messages.0.body.text`. */
  readonly at: (path: string) => unknown
}

const valueAt = (value: unknown, path: string): unknown =>
  path
    .split(".")
    .reduce<unknown>(
      (inner, key) =>
        typeof inner === "object" && inner !== null ? (inner as Record<string, unknown>)[key] : undefined,
      value
    )

const parse = (text: string): unknown => (text.startsWith("{") || text.startsWith("[") ? Json.parse(text) : undefined)

const http =
  (method: Method) =>
  (
    path: string,
    body?: unknown,
    options: Parameters<typeof raw>[2] = {}
  ): Effect.Effect<Answer, Effect.Error<ReturnType<typeof raw>>, Effect.Services<ReturnType<typeof raw>>> =>
    Effect.map(
      raw(method, path, {
        ...options,
        ...(body === undefined ? {} : { body: typeof body === "string" ? body : Json.stringify(body) })
      }),
      ({ headers, status, text }) => {
        const json = parse(text)
        return { status, headers, text, at: (path) => valueAt(json, path) }
      }
    )

/** Sends a request. A body that is a string is sent without changes. */
export const GET = http("GET")
export const POST = http("POST")
export const PUT = http("PUT")
export const PATCH = http("PATCH")
export const DELETE = http("DELETE")
export const HEAD = http("HEAD")
export const OPTIONS = http("OPTIONS")

type Call<E, R> = Effect.Effect<Answer, E, R>

const check = <E, R>(call: Call<E, R>, assertion: (answer: Answer) => void): Call<E, R> =>
  Effect.tap(call, (answer) => Effect.sync(() => assertion(answer)))

/** Asserts that the response is an error with this status and code. */
export const failsWith = <E, R>(call: Call<E, R>, status: number, code: string): Call<E, R> =>
  check(call, (answer) => {
    assert.deepStrictEqual([answer.status, answer.at("code"), typeof answer.at("message")], [status, code, "string"])
  })

/** Asserts that the request is rejected as invalid. */
export const invalid = <E, R>(call: Call<E, R>): Call<E, R> => failsWith(call, 400, "proto.payload")

export const denied = <E, R>(call: Call<E, R>): Call<E, R> => failsWith(call, 403, "chat.denied")

export const messageNotFound = <E, R>(call: Call<E, R>): Call<E, R> => failsWith(call, 404, "message.not.found")

export const succeeds = <E, R>(call: Call<E, R>): Call<E, R> =>
  check(call, ({ status, text }) => assert.strictEqual(status, 200, text))

/** Asserts that the status is 200 and that the body has `success`, with a message if it is false. */
export const hasSuccess = <E, R>(call: Call<E, R>, success: boolean): Call<E, R> =>
  check(call, (answer) => {
    assert.deepStrictEqual([answer.status, answer.at("success")], [200, success], answer.text)
    if (!success) assert.isString(answer.at("message"))
  })

/** Returns the value at a path in each element of a list in the body. */
export const valuesAt = (answer: Answer, list: string, path: string): ReadonlyArray<unknown> =>
  (answer.at(list) as ReadonlyArray<unknown>).map((element) => valueAt(element, path))
