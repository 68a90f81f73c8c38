import * as Effect from "effect/Effect"
import * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Stream from "effect/Stream"
import { ClientResponse, ResponseTooLarge } from "../ClientResponse.ts"

const isEmpty = (error: unknown): boolean =>
  HttpClientError.isHttpClientError(error) && error.reason._tag === "EmptyBodyError"

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
    let size = 0
    return response.stream.pipe(
      Stream.catchIf(isEmpty, () => Stream.empty),
      Stream.mapEffect((bytes) => {
        size += bytes.byteLength
        return size > limit
          ? Effect.fail(new ResponseTooLarge({ status: response.status, limit }))
          : Effect.succeed(bytes)
      }),
      Stream.decodeText,
      Stream.mkString
    )
  })
}
