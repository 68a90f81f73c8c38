import * as Effect from "effect/Effect"
import type * as Headers from "effect/http/Headers"
import * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Stream from "effect/Stream"
import { ClientResponse, ResponseTooLarge } from "../ClientResponse.ts"

// Every runtime has it, but the library is compiled without the types of any runtime.
declare const TextDecoder: new () => {
  readonly decode: (bytes?: Uint8Array, options?: { readonly stream: boolean }) => string
}

/** Whether a response has no body. */
export const isEmpty = (error: unknown): boolean =>
  HttpClientError.isHttpClientError(error) && error.reason._tag === "EmptyBodyError"

/** The length of the body that a response states. An encoded body has another length. */
export const lengthOf = (headers: Headers.Headers): number | undefined => {
  const length = headers["content-length"]
  return length !== undefined && /^\d{1,15}$/.test(length) && headers["content-encoding"] === undefined
    ? Number(length)
    : undefined
}

/**
 * Reads the body of a response as text. Fails with `ResponseTooLarge` as soon as the body has more than `limit` bytes. A
 * `ClientResponse` was read by its HTTP client, which knows the limit.
 */
export const readText = (
  response: HttpClientResponse.HttpClientResponse,
  limit: number
): Effect.Effect<string, HttpClientError.HttpClientError | ResponseTooLarge> => {
  if (response instanceof ClientResponse) return response.text
  return Effect.suspend(() => {
    const decoder = new TextDecoder()
    let text = ""
    let size = 0
    return response.stream.pipe(
      Stream.runForEachArray((chunks) => {
        for (const bytes of chunks) {
          size += bytes.byteLength
          if (size > limit) return Effect.fail(new ResponseTooLarge({ status: response.status, limit }))
          text += decoder.decode(bytes, { stream: true })
        }
        return Effect.void
      }),
      Effect.catchIf(isEmpty, () => Effect.void),
      Effect.map(() => text + decoder.decode())
    )
  })
}
