import { Json as Exact } from "@colloquy/core"
import { Emulator, type EmulatorOptions } from "@colloquy/testing"
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"

/** A parsed body. Its types are not checked, as in a client in another language. */
export type Json = ReturnType<typeof JSON.parse>

/** Sends a request and returns the status and the parsed body. A request of a bot has a `token`. */
export const call = (
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE",
  path: string,
  body?: unknown,
  { baseUrl = Emulator.baseUrl, token }: { readonly baseUrl?: string; readonly token?: string } = {}
): Effect.Effect<{ readonly status: number; readonly body: Json }, never, HttpClient.HttpClient> => {
  const request = HttpClientRequest.make(method)(baseUrl + path, {
    headers: token === undefined ? {} : { authorization: token }
  })
  const text = typeof body === "string" ? body : Exact.stringify(body)
  return HttpClient.execute(
    body === undefined ? request : HttpClientRequest.bodyText(request, text, "application/json")
  ).pipe(
    Effect.flatMap((response) =>
      Effect.map(response.text, (text) => ({
        status: response.status,
        body: text === "" ? undefined : (Exact.parse(text) as Json)
      }))
    ),
    Effect.orDie
  )
}

export const inEmulator = <A, E, R>(effect: Effect.Effect<A, E, R>, options: EmulatorOptions.Options = {}) =>
  Effect.provide(effect, Emulator.layer(options))

export const token = "emulator-token"

export const asBot = (method: Parameters<typeof call>[0], path: string, body?: unknown) =>
  call(method, path, body, { token })

export const post = (path: string, body: unknown) => call("POST", `/_emulator${path}`, body)

export const get = (path: string) => call("GET", `/_emulator${path}`)

const expectOk = ({ body, status }: { readonly status: number; readonly body: Json }): Json => {
  assert.strictEqual(status, 200, Exact.stringify(body))
  return body
}

/** Sends a request to the control API, asserts that it succeeds, and returns the body. */
export const postOk = (path: string, body: unknown = {}) => Effect.map(post(path, body), expectOk)

export const getOk = (path: string) => Effect.map(get(path), expectOk)

/** Sends a request that fails, and returns the status, the code and the message of the error. */
export const postError = (path: string, body: unknown) =>
  Effect.map(post(path, body), ({ body, status }) => [status, body.code, body.message] as const)

export const typesOf = ({ updates }: Json): ReadonlyArray<string> => updates.map(({ update_type }: Json) => update_type)
