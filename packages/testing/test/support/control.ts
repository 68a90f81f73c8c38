import { Json as Exact } from "@colloquy/core"
import { Emulator } from "@colloquy/testing"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"

/** Any answer, as a client in another language sees it. */
export type Json = ReturnType<typeof JSON.parse>

/** A call under `/_emulator`, or of the bot where `token` is given: status and parsed body. */
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
