import * as Bytes from "effect/Bytes"
import * as Effect from "effect/Effect"
import * as Multipart from "effect/http/Multipart"
import type { MultipartError } from "effect/http/MultipartParser"
import * as Stream from "effect/Stream"
import type { Body, Request, Unreadable } from "../../EmulatorHttp.ts"
import * as refusal from "./refusal.ts"

const decoder = new TextDecoder()

/** Reads a body up to just beyond the limit, because a longer body is rejected. */
export const readBytes = (bytes: Body["bytes"], most: number): Effect.Effect<Uint8Array<ArrayBuffer>, Unreadable> =>
  Effect.suspend(() => {
    const chunks: Array<Uint8Array> = []
    let size = 0
    const isEnough = (chunk: Uint8Array) => {
      chunks.push(chunk)
      size += chunk.byteLength
      return size > most
    }
    return Effect.map(Stream.runDrain(Stream.takeUntil(bytes, isEnough)), () => Bytes.concat(chunks))
  })

const readChunked = ({ body }: Request, maxBytes: number): refusal.Refusable<string> =>
  readBytes(body.bytes, maxBytes).pipe(
    Effect.mapError(refusal.unreadable),
    Effect.filterOrFail(
      ({ byteLength }) => byteLength <= maxBytes,
      () => refusal.tooLarge(maxBytes)
    ),
    Effect.map((bytes) => decoder.decode(bytes))
  )

/** Reads the body of a request as text. Fails as soon as the size exceeds the maximum. */
export const readText = (request: Request, maxBytes: number): refusal.Refusable<string> => {
  const length = request.headers["content-length"]
  if (length === undefined) return readChunked(request, maxBytes)
  return Number(length) > maxBytes
    ? refusal.tooLarge(maxBytes)
    : Effect.mapErrorEager(request.body.text, refusal.unreadable)
}

const headerProblems = {
  TooManyHeaders: "has too many headers",
  HeaderTooLarge: "has headers that are too large",
  InvalidHeaderName: "has a malformed header",
  InvalidHeaderValue: "has a malformed header"
}

const describeMultipartError = (error: MultipartError): string => {
  switch (error._tag) {
    case "InvalidBoundary":
      return "The form's content-type has no boundary"
    case "BadHeaders":
      return `A part of the form ${headerProblems[error.error.reason]}`
    case "InvalidDisposition":
      return "A part of the form has no content-disposition with a name"
    case "ReachedLimit":
      return "A field of the form is too large"
    case "EndNotReached":
      return "The form ends before its last boundary"
  }
}

/** Describes why a multipart form is malformed. Returns `undefined` for any other error. */
export const formProblem = (error: unknown): string | undefined =>
  Multipart.isMultipartError(error) && error.reason._tag !== "InternalError"
    ? describeMultipartError(error.reason.cause as MultipartError)
    : undefined
