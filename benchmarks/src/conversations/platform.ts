import { BotApi, RateLimiter } from "@colloquy/core"
import { ClientResponse } from "@colloquy/core/client/ClientResponse"
import * as Effect from "effect/Effect"
import * as Headers from "effect/http/Headers"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { sent } from "../sample.ts"

/** The response to a message, without the web `Response` that takes most of the time of a response. */
class Sent extends ClientResponse {
  readonly headers = Headers.fromInput({ "content-type": "application/json" })
  readonly text = Effect.succeed(sent)
  protected makeWeb() {
    return HttpClientResponse.fromWeb(this.request, new Response(sent))
  }
}

/** A client whose platform answers in the same process, so that sockets cost nothing. `count` is called for each request. */
export const layer = (count: () => void = () => undefined): Layer.Layer<BotApi.BotApi, unknown> =>
  BotApi.layer({ token: Redacted.make("token"), baseUrl: "http://127.0.0.1:1" }).pipe(
    Layer.provide(
      Layer.succeed(
        HttpClient.HttpClient,
        HttpClient.make((request) =>
          Effect.sync(() => {
            count()
            return new Sent(request, 200)
          })
        )
      )
    ),
    Layer.provide(RateLimiter.layerMemory(RateLimiter.unlimited))
  )
