import { Json } from "@colloquy/core"
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { raw } from "./raw.ts"

type Method = Parameters<typeof raw>[0]

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly text: string
  /** What stands in the body at a path of keys, such as `messages.0.body.text`. */
  readonly at: (path: string) => unknown
}

const look = (value: unknown, path: string): unknown =>
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
        return { status, headers, text, at: (path) => look(json, path) }
      }
    )

/** A request as any client would make it: a body that is a text goes out as it is. */
export const GET = http("GET")
export const POST = http("POST")
export const PUT = http("PUT")
export const PATCH = http("PATCH")
export const DELETE = http("DELETE")
export const HEAD = http("HEAD")
export const OPTIONS = http("OPTIONS")

type Call<E, R> = Effect.Effect<Answer, E, R>

const seeing = <E, R>(call: Call<E, R>, look: (answer: Answer) => void): Call<E, R> =>
  Effect.tap(call, (answer) => Effect.sync(() => look(answer)))

/** The answer has this status and code in the platform's shape. */
export const refused = <E, R>(call: Call<E, R>, status: number, code: string): Call<E, R> =>
  seeing(call, (answer) => {
    assert.deepStrictEqual([answer.status, answer.at("code"), typeof answer.at("message")], [status, code, "string"])
  })

/** The request is bad, and the body says why. */
export const invalid = <E, R>(call: Call<E, R>): Call<E, R> => refused(call, 400, "proto.payload")

export const denied = <E, R>(call: Call<E, R>): Call<E, R> => refused(call, 403, "chat.denied")

export const noMessage = <E, R>(call: Call<E, R>): Call<E, R> => refused(call, 404, "message.not.found")

export const succeeds = <E, R>(call: Call<E, R>): Call<E, R> =>
  seeing(call, ({ status, text }) => assert.strictEqual(status, 200, text))

/** 200, and `success` with a text where it is false. */
export const tells = <E, R>(call: Call<E, R>, success: boolean): Call<E, R> =>
  seeing(call, (answer) => {
    assert.deepStrictEqual([answer.status, answer.at("success")], [200, success], answer.text)
    if (!success) assert.isString(answer.at("message"))
  })

/** What stands at a path in each element of a list in a body. */
export const each = (answer: Answer, list: string, path: string): ReadonlyArray<unknown> =>
  (answer.at(list) as ReadonlyArray<unknown>).map((element) => look(element, path))
