import * as Effect from "effect/Effect"
import * as Headers from "effect/http/Headers"
import type * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as HttpIncomingMessage from "effect/http/HttpIncomingMessage"
import * as Inspectable from "effect/Inspectable"
import { pipeArguments } from "effect/Pipeable"
import type { Response } from "../../EmulatorHttp.ts"
import { headersOf, mayHaveBody } from "./wire.ts"

const decoder = new TextDecoder()
const encoder = new TextEncoder()

/** A body that ends with its connection. */
const breaking = (beginning: string | Uint8Array<ArrayBuffer>): ReadableStream<Uint8Array<ArrayBuffer>> => {
  const bytes = typeof beginning === "string" ? encoder.encode(beginning) : beginning
  const pieces = bytes.byteLength === 0 ? [] : [bytes]
  return new ReadableStream({
    pull: (controller) => {
      const piece = pieces.pop()
      if (piece === undefined) controller.error(Object.assign(new Error("aborted"), { code: "ECONNRESET" }))
      else controller.enqueue(piece)
    }
  })
}

/** An answer as an HTTP client gives it. What is hardly ever asked for is asked of a `Response` of the web. */
export class ClientResponse extends Inspectable.Class implements HttpClientResponse.HttpClientResponse {
  readonly [HttpIncomingMessage.TypeId]: typeof HttpIncomingMessage.TypeId = HttpIncomingMessage.TypeId
  readonly [HttpClientResponse.TypeId]: typeof HttpClientResponse.TypeId = HttpClientResponse.TypeId
  readonly request: HttpClientRequest.HttpClientRequest
  readonly status: number
  readonly headers: Headers.Headers
  readonly #response: Response
  #web: HttpClientResponse.HttpClientResponse | undefined

  constructor(request: HttpClientRequest.HttpClientRequest, response: Response) {
    super()
    this.request = request
    this.status = response.status
    this.headers = Headers.fromInput(headersOf(response))
    this.#response = response
  }

  get text(): Effect.Effect<string, HttpClientError.HttpClientError> {
    const { body, bytes, promised } = this.#response
    if (!this.#hasBody) return Effect.succeed("")
    if (promised !== undefined) return this.#ofWeb.text
    return bytes === undefined ? Effect.succeed(body) : Effect.sync(() => decoder.decode(bytes))
  }

  get url() {
    return this.#ofWeb.url
  }

  get cookies() {
    return this.#ofWeb.cookies
  }

  get remoteAddress() {
    return this.#ofWeb.remoteAddress
  }

  get json() {
    return this.#ofWeb.json
  }

  get arrayBuffer() {
    return this.#ofWeb.arrayBuffer
  }

  get urlParamsBody() {
    return this.#ofWeb.urlParamsBody
  }

  get formData() {
    return this.#ofWeb.formData
  }

  get stream() {
    return this.#ofWeb.stream
  }

  get upgrade() {
    return this.#ofWeb.upgrade
  }

  pipe() {
    return pipeArguments(this, arguments)
  }

  toJSON(): unknown {
    return this.#ofWeb.toJSON()
  }

  get #hasBody(): boolean {
    return this.request.method !== "HEAD" && mayHaveBody(this.status)
  }

  get #ofWeb(): HttpClientResponse.HttpClientResponse {
    const { body, bytes = body, promised, status } = this.#response
    const content = promised === undefined ? bytes : breaking(bytes)
    return (this.#web ??= HttpClientResponse.fromWeb(
      this.request,
      new globalThis.Response(this.#hasBody ? content : null, { status, headers: this.headers })
    ))
  }
}
