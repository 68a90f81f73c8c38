import { ClientResponse } from "@colloquy/core/client/ClientResponse"
import * as Effect from "effect/Effect"
import * as Headers from "effect/http/Headers"
import type { HttpClientRequest } from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Option from "effect/Option"
import { type RawHeaders, webHeadersOf } from "../../base/internal/webHeaders.ts"

const decoder = new TextDecoder()

const hasNoBody = (status: number): boolean => status === 204 || status === 205 || status === 304

// The names are in lower case. A header that was sent several times is a list.
export const toHeaders = (headers: RawHeaders): Headers.Headers => {
  for (const name in headers) if (typeof headers[name] !== "string") return Headers.fromInput(headers)
  return Headers.fromRecordUnsafe(headers as Record<string, string>)
}

/** A response that has been read to its end. */
export class BufferedResponse extends ClientResponse {
  readonly #url: string
  readonly #headers: RawHeaders
  readonly #body: Buffer

  constructor(request: HttpClientRequest, url: string, status: number, headers: RawHeaders, body: Buffer) {
    super(request, status)
    this.#url = url
    this.#headers = headers
    this.#body = body
  }

  override get url() {
    return this.#url
  }

  override get remoteAddress() {
    return Option.none<string>()
  }

  override get headers(): Headers.Headers {
    return toHeaders(this.#headers)
  }

  override get text() {
    return Effect.succeed(decoder.decode(this.#body))
  }

  protected override makeWeb() {
    const { status } = this
    const headers = webHeadersOf(this.#headers)
    const body = hasNoBody(status) ? null : new Uint8Array(this.#body)
    return HttpClientResponse.fromWeb(this.request, new Response(body, { status, headers }))
  }
}
