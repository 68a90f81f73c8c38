import * as Effect from "effect/Effect"
import { ResponseTooLarge } from "../ClientResponse.ts"
import type { Received } from "./classify.ts"
import type { Transport } from "./exchange.ts"

// Every runtime has them, but the library is compiled without the types of any runtime.
declare const AbortController: new () => { readonly signal: object; readonly abort: () => void }
declare const TextDecoder: new () => {
  readonly decode: (bytes?: Uint8Array, options?: { readonly stream: boolean }) => string
}
interface WebResponse {
  readonly status: number
  readonly headers: Iterable<readonly [string, string]>
  readonly body: { readonly getReader: () => Reader } | null
}
interface Reader {
  readonly read: () => Promise<{ readonly done: boolean; readonly value?: Uint8Array }>
}

export type Fetch = (url: string, init: object) => Promise<WebResponse>

const promised = <A>(evaluate: () => Promise<A>): Effect.Effect<A, unknown> =>
  Effect.mapError(Effect.tryPromise(evaluate), ({ cause }) => cause)

/** Reads a body as text. Fails with `ResponseTooLarge` as soon as the body has more than `limit` bytes. */
const readText = (reader: Reader, status: number, limit: number): Effect.Effect<string, unknown> => {
  const decoder = new TextDecoder()
  let text = ""
  let size = 0
  const next: Effect.Effect<string, unknown> = Effect.flatMap(
    promised(() => reader.read()),
    ({ done, value }) => {
      if (done) return Effect.succeed(text + decoder.decode())
      size += value!.byteLength
      if (size > limit) return Effect.fail(new ResponseTooLarge({ status, limit }))
      text += decoder.decode(value, { stream: true })
      return next
    }
  )
  return next
}

/** Sends requests by a function such as the global `fetch`. */
export const make =
  (fetch: Fetch): Transport =>
  (headers) => {
    const headersOfJson = { ...headers, "content-type": "application/json" }
    return ({ body, maxResponseSize, method, url }) =>
      Effect.suspend(() => {
        const controller = new AbortController()
        const init = { method, headers: body === undefined ? headers : headersOfJson, body, signal: controller.signal }
        const received = Effect.flatMap(
          promised(() => fetch(url, init)),
          ({ body, headers, status }) =>
            Effect.map(
              body === null ? Effect.succeed("") : readText(body.getReader(), status, maxResponseSize),
              (text): Received => ({ status, headers: Object.fromEntries(headers), text })
            )
        )
        return Effect.onError(received, () => Effect.sync(() => controller.abort()))
      })
  }
