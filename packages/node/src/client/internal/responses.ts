import { ClientResponse } from "@colloquy/core/client/ClientResponse"
import * as NodeStream from "@effect/platform-node-shared/NodeStream"
import * as Effect from "effect/Effect"
import * as Headers from "effect/http/Headers"
import * as HttpClientError from "effect/http/HttpClientError"
import type { HttpClientRequest } from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Option from "effect/Option"
import { Readable } from "node:stream"
import type { Dispatcher } from "undici/index.js"
import { type RawHeaders, webHeadersOf } from "../../base/internal/webHeaders.ts"

/** A response of undici. */
abstract class UndiciResponse extends ClientResponse {
  readonly #url: string
  readonly #headers: RawHeaders

  constructor(request: HttpClientRequest, url: string, status: number, headers: RawHeaders) {
    super(request, status)
    this.#url = url
    this.#headers = headers
  }

  override get url() {
    return this.#url
  }

  override get remoteAddress() {
    return Option.none<string>()
  }

  // The names are in lower case. A header that was sent several times is a list.
  override get headers(): Headers.Headers {
    const headers = this.#headers
    for (const name in headers) if (typeof headers[name] !== "string") return Headers.fromInput(headers)
    return Headers.fromRecordUnsafe(headers as Record<string, string>)
  }

  protected toWeb(body: ReadableStream | Uint8Array<ArrayBuffer> | null, status = 200) {
    const web = new Response(body, { status, headers: webHeadersOf(this.#headers) })
    return HttpClientResponse.fromWeb(this.request, web)
  }
}

const decoder = new TextDecoder()

const hasNoBody = (status: number): boolean => status === 204 || status === 205 || status === 304

/** A response that has been read to its end. */
export class BufferedResponse extends UndiciResponse {
  readonly #body: Buffer

  constructor(request: HttpClientRequest, url: string, status: number, headers: RawHeaders, body: Buffer) {
    super(request, url, status, headers)
    this.#body = body
  }

  override get text() {
    return Effect.succeed(decoder.decode(this.#body))
  }

  protected override makeWeb() {
    return this.toWeb(hasNoBody(this.status) ? null : new Uint8Array(this.#body), this.status)
  }
}

/** A response whose body is read while it arrives. */
export class StreamedResponse extends UndiciResponse {
  readonly #body: Readable

  constructor(request: HttpClientRequest, url: string, { body, headers, statusCode }: Dispatcher.ResponseData) {
    super(request, url, statusCode, headers)
    this.#body = body
    // A body that nobody reads may fail.
    body.on("error", () => {})
  }

  override get text() {
    return this.web.text
  }

  override get stream(): HttpClientResponse.HttpClientResponse["stream"] {
    return NodeStream.fromReadable({
      evaluate: () => this.#body,
      onError: (cause) =>
        new HttpClientError.HttpClientError({
          reason: new HttpClientError.DecodeError({ request: this.request, response: this, cause })
        })
    })
  }

  // A web response refuses some statuses. The client reads the status of this response only.
  protected override makeWeb() {
    return this.toWeb(Readable.toWeb(this.#body) as ReadableStream)
  }
}
