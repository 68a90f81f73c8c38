/**
 * A base class for the responses of HTTP clients that do not use `fetch`.
 *
 * For authors of HTTP clients. An API call needs only the status, the headers and the text of a response. All other
 * parts of an `HttpClientResponse` come from a web `Response`, which is created when first needed.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Headers from "effect/http/Headers"
import type * as HttpClientError from "effect/http/HttpClientError"
import type { HttpClientRequest } from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as HttpIncomingMessage from "effect/http/HttpIncomingMessage"
import * as Inspectable from "effect/Inspectable"
import * as Schema from "effect/Schema"
import { pipeArguments } from "effect/Pipeable"
import { TaggedError } from "../base/TaggedError.ts"

/**
 * Maximum size of the response to the current request, in bytes. The client of the API sets the size. An HTTP client
 * that returns a {@link ClientResponse} stops reading a larger response, and fails with a {@link ResponseTooLarge} as
 * the cause. Default: no limit.
 *
 * @category references
 * @since 0.1.0
 */
export const MaxSize = Context.Reference<number>("@colloquy/core/ClientResponse/MaxSize", {
  defaultValue: () => Infinity
})

/**
 * A response has more bytes than {@link MaxSize}. The rest of the response was not read.
 *
 * @category errors
 * @since 0.1.0
 */
export class ResponseTooLarge extends TaggedError("ResponseTooLarge", () => ({
  /** The HTTP status. */
  status: Schema.Int,
  /** Maximum size in bytes. */
  limit: Schema.Finite
})) {
  override get message(): string {
    return `the response has more than ${this.limit} bytes`
  }
}

/**
 * A response whose status, headers and text are available without a web `Response`.
 *
 * @category models
 * @since 0.1.0
 */
export abstract class ClientResponse extends Inspectable.Class implements HttpClientResponse.HttpClientResponse {
  readonly [HttpIncomingMessage.TypeId]: typeof HttpIncomingMessage.TypeId = HttpIncomingMessage.TypeId
  readonly [HttpClientResponse.TypeId]: typeof HttpClientResponse.TypeId = HttpClientResponse.TypeId
  /** The request. */
  readonly request: HttpClientRequest
  /** The HTTP status. */
  readonly status: number
  #web: HttpClientResponse.HttpClientResponse | undefined

  constructor(request: HttpClientRequest, status: number) {
    super()
    this.request = request
    this.status = status
  }

  /** The headers. */
  abstract get headers(): Headers.Headers

  /** The body as text. */
  abstract get text(): Effect.Effect<string, HttpClientError.HttpClientError>

  /** Creates the web `Response`. Called at most once. */
  protected abstract makeWeb(): HttpClientResponse.HttpClientResponse

  /** The response that {@link makeWeb} creates. */
  protected get web(): HttpClientResponse.HttpClientResponse {
    return (this.#web ??= this.makeWeb())
  }

  get url() {
    return this.web.url
  }

  get remoteAddress() {
    return this.web.remoteAddress
  }

  get cookies() {
    return this.web.cookies
  }

  get json() {
    return this.web.json
  }

  get arrayBuffer() {
    return this.web.arrayBuffer
  }

  get urlParamsBody() {
    return this.web.urlParamsBody
  }

  get formData() {
    return this.web.formData
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
