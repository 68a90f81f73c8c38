import type { UploadType } from "@colloquy/core/endpoints/Upload"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { Body, Request, Response } from "../../EmulatorHttp.ts"

/** The base URL of the API for the in-process client. */
export const apiOrigin = "https://api.emulator.test"

/** The base URLs of the upload hosts for the in-process client. */
export const uploadOrigins: Readonly<Record<UploadType, string>> = {
  image: "https://image.uploads.emulator.test",
  video: "https://video.uploads.emulator.test",
  audio: "https://audio.uploads.emulator.test",
  file: "https://file.uploads.emulator.test"
}

const encoder = new TextEncoder()

const decoder = new TextDecoder()

/** A class, because a literal with a getter takes ten times as long: its properties are in a table (`virtual-flood-cpu-us`). */
class BytesBody implements Body {
  readonly #bytes: Uint8Array
  readonly text: Body["text"]

  constructor(bytes: Uint8Array, text: () => string) {
    this.#bytes = bytes
    this.text = Effect.sync(text)
  }

  get bytes(): Body["bytes"] {
    return Stream.succeed(this.#bytes)
  }
}

export const bytesBody = (bytes: Uint8Array, text = () => decoder.decode(bytes)): Body => new BytesBody(bytes, text)

export const textBody = (text: string): Body => bytesBody(encoder.encode(text), () => text)

/** The headers that a request has. */
export const headersIn = ({ headers }: Pick<Request, "headers">): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(headers).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])))

const withoutBody = new Set([204, 205, 304])

export const mayHaveBody = (status: number): boolean => !withoutBody.has(status)

const isLowerCase = (headers: Response["headers"]): boolean => {
  for (const name in headers) if (name !== name.toLowerCase()) return false
  return true
}

/** The headers of a response with lower-case names. A text body without a content type is plain text. */
export const headersOf = ({ body, bytes, headers: given, status }: Response): Response["headers"] => {
  const headers = isLowerCase(given)
    ? given
    : Object.fromEntries(Object.entries(given).map(([name, value]) => [name.toLowerCase(), value]))
  return bytes !== undefined || body === "" || headers["content-type"] !== undefined || !mayHaveBody(status)
    ? headers
    : { "content-type": "text/plain; charset=utf-8", ...headers }
}

/** The response of HEAD: the response of GET without the body. */
export const asHead = (response: Response): Response => {
  const { body, bytes = encoder.encode(body), status } = response
  const length = mayHaveBody(status) ? { "content-length": String(bytes.byteLength) } : {}
  return { status, headers: { ...headersOf(response), ...length }, body: "" }
}

/** The response of OPTIONS. */
export const allow = (methods: ReadonlyArray<string>): Response => ({
  status: 204,
  headers: { allow: methods.join(", ") },
  body: ""
})
