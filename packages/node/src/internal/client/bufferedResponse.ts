import * as Effect from "effect/Effect"
import * as Headers from "effect/http/Headers"
import type { HttpClientRequest } from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as HttpIncomingMessage from "effect/http/HttpIncomingMessage"
import * as Inspectable from "effect/Inspectable"
import * as Option from "effect/Option"
import { pipeArguments } from "effect/Pipeable"

const decoder = new TextDecoder()

const hasNoBody = (status: number): boolean => status === 204 || status === 205 || status === 304

/**
 * A response that has been read to its end. Its status, headers and text are available; anything else comes from a web
 * `Response` that is created when it is first needed.
 */
export class BufferedResponse extends Inspectable.Class implements HttpClientResponse.HttpClientResponse {
  readonly [HttpIncomingMessage.TypeId]: typeof HttpIncomingMessage.TypeId = HttpIncomingMessage.TypeId
  readonly [HttpClientResponse.TypeId]: typeof HttpClientResponse.TypeId = HttpClientResponse.TypeId
  readonly request: HttpClientRequest
  readonly url: string
  readonly status: number
  readonly remoteAddress = Option.none<string>()
  readonly #headers: Record<string, string | ReadonlyArray<string> | undefined>
  readonly #body: Buffer
  #web: HttpClientResponse.HttpClientResponse | undefined

  constructor(
    request: HttpClientRequest,
    url: string,
    status: number,
    headers: Record<string, string | ReadonlyArray<string> | undefined>,
    body: Buffer
  ) {
    super()
    this.request = request
    this.url = url
    this.status = status
    this.#headers = headers
    this.#body = body
  }

  get web(): HttpClientResponse.HttpClientResponse {
    const { status } = this
    const headers = Object.entries(this.#headers).flatMap(([name, value]) =>
      (Array.isArray(value) ? value : [value ?? ""]).map((one: string): [string, string] => [name, one])
    )
    const body = hasNoBody(status) ? null : new Uint8Array(this.#body)
    return (this.#web ??= HttpClientResponse.fromWeb(this.request, new Response(body, { status, headers })))
  }

  get headers(): Headers.Headers {
    return Headers.fromInput(this.#headers)
  }

  get text() {
    return Effect.succeed(decoder.decode(this.#body))
  }

  get json() {
    return this.web.json
  }

  get cookies() {
    return this.web.cookies
  }

  get formData() {
    return this.web.formData
  }

  get urlParamsBody() {
    return this.web.urlParamsBody
  }

  get arrayBuffer() {
    return this.web.arrayBuffer
  }

  get stream() {
    return this.web.stream
  }

  get upgrade() {
    return this.web.upgrade
  }

  pipe() {
    return pipeArguments(this, arguments)
  }

  toJSON(): unknown {
    return HttpIncomingMessage.inspect(this, {
      _id: "HttpClientResponse",
      request: this.request.toJSON(),
      status: this.status
    })
  }
}
