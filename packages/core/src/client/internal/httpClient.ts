import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Headers from "effect/http/Headers"
import * as HttpBody from "effect/http/HttpBody"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as UrlParams from "effect/http/UrlParams"
import * as Option from "effect/Option"
import * as ClientResponse from "../ClientResponse.ts"
import { ConfirmPermit, PermitExpired } from "../RateLimiter.ts"
import type { Received } from "./classify.ts"
import type { Request, Transport } from "./exchange.ts"
import { readText } from "./responseText.ts"

// The span of the call has more attributes than the span of the HTTP client, and trace headers must not reach the platform.
const withoutTracing = () => true

/** The cause of a failure of an HTTP client. */
const causeOf = (error: unknown): unknown => {
  const reason = HttpClientError.isHttpClientError(error) ? error.reason : undefined
  return reason?._tag === "TransportError" ? reason.cause : error
}

/** Fails with the causes that say more than that a response is missing, instead of the error of the HTTP client. */
const unwrap = (error: unknown): Effect.Effect<never, unknown> => {
  const cause = causeOf(error)
  return Effect.fail(cause instanceof PermitExpired || cause instanceof ClientResponse.ResponseTooLarge ? cause : error)
}

/** Sends requests by an HTTP client. */
export const make =
  (client: HttpClient.HttpClient): Transport =>
  (record) => {
    const headers = Headers.fromInput(record)
    const toHttpRequest = ({ body, method, url }: Request): HttpClientRequest.HttpClientRequest => {
      const request = HttpClientRequest.makeWith(method, url, UrlParams.empty, Option.none(), headers, HttpBody.empty)
      return body === undefined ? request : HttpClientRequest.setBody(request, HttpBody.text(body, "application/json"))
    }
    return (request) => {
      const { confirmPermit, maxResponseSize } = request
      const received: Effect.Effect<Received, unknown> = Effect.flatMap(
        client.execute(toHttpRequest(request)),
        (response) =>
          Effect.map(readText(response, maxResponseSize), (text): Received => ({
            status: response.status,
            headers: response.headers,
            text
          }))
      )
      const failing: Effect.Effect<Received, unknown> = Effect.catch(received, unwrap)
      return Effect.updateContext(failing, (context: Context.Context<never>) =>
        context.pipe(
          Context.add(HttpClient.TracerDisabledWhen, withoutTracing),
          Context.add(ConfirmPermit, confirmPermit),
          Context.add(ClientResponse.MaxSize, maxResponseSize)
        )
      )
    }
  }
