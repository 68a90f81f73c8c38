import { ClientResponse } from "@colloquy/core/client/ClientResponse"
import * as NodeStream from "@effect/platform-node-shared/NodeStream"
import * as HttpClientError from "effect/http/HttpClientError"
import type { HttpClientRequest } from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Option from "effect/Option"
import { Readable } from "node:stream"
import type { Dispatcher } from "undici/index.js"
import { webHeadersOf } from "../../base/internal/webHeaders.ts"
import { toHeaders } from "./bufferedResponse.ts"

/** A response whose body is read while it arrives. */
export class StreamedResponse extends ClientResponse {
  readonly #url: string
  readonly #source: Dispatcher.ResponseData

  constructor(request: HttpClientRequest, url: string, source: Dispatcher.ResponseData) {
    super(request, source.statusCode)
    this.#url = url
    this.#source = source
    // A body that nobody reads may fail.
    source.body.on("error", () => {})
  }

  override get url() {
    return this.#url
  }

  override get remoteAddress() {
    return Option.none<string>()
  }

  override get headers() {
    return toHeaders(this.#source.headers)
  }

  override get text() {
    return this.web.text
  }

  override get stream(): HttpClientResponse.HttpClientResponse["stream"] {
    return NodeStream.fromReadable({
      evaluate: () => this.#source.body,
      onError: (cause) =>
        new HttpClientError.HttpClientError({
          reason: new HttpClientError.DecodeError({ request: this.request, response: this, cause })
        })
    })
  }

  // A web response refuses some statuses. The client reads the status of this response only.
  protected override makeWeb() {
    const { body, headers } = this.#source
    const web = new Response(Readable.toWeb(body) as ReadableStream, { headers: webHeadersOf(headers) })
    return HttpClientResponse.fromWeb(this.request, web)
  }
}
