import * as Bytes from "effect/Bytes"
import * as Effect from "effect/Effect"
import * as Multipart from "effect/http/Multipart"
import type { MultipartError } from "effect/http/MultipartParser"
import * as Stream from "effect/Stream"
import type { Request } from "../../EmulatorHttp.ts"
import * as refusal from "./refusal.ts"

const decoder = new TextDecoder()

const readChunked = ({ body }: Request, maxBytes: number): Effect.Effect<string, refusal.Refusal> =>
  Effect.suspend(() => {
    const chunks: Array<Uint8Array> = []
    let size = 0
    return body.bytes.pipe(
      Stream.mapError(() => refusal.unreadable()),
      Stream.runForEach((chunk) => {
        size += chunk.byteLength
        if (size > maxBytes) return refusal.tooLarge(maxBytes)
        chunks.push(chunk)
        return Effect.void
      }),
      Effect.map(() => decoder.decode(Bytes.concat(chunks)))
    )
  })

/** Reads the body of a request as text. Fails as soon as the size exceeds the maximum. */
export const readText = (request: Request, maxBytes: number): Effect.Effect<string, refusal.Refusal> => {
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
