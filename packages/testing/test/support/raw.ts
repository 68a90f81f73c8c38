import { Emulator } from "@colloquy/testing"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"

interface Options {
  readonly token?: string | null
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Sends a request, which may be invalid, and returns the response as text. */
export const raw = (
  method: Parameters<typeof HttpClientRequest.make>[0],
  path: string,
  { body, headers = {}, token = "emulator-token" }: Options = {}
) => {
  const request = HttpClientRequest.make(method)(Emulator.baseUrl + path, {
    headers: { ...(token === null ? {} : { authorization: token }), ...headers }
  })
  return HttpClient.execute(
    body === undefined ? request : HttpClientRequest.bodyText(request, body, "application/json")
  ).pipe(
    Effect.flatMap((response) =>
      Effect.map(response.text, (text) => ({ status: response.status, headers: response.headers, text }))
    )
  )
}
