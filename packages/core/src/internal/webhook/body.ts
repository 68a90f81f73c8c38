import * as Base64 from "effect/encoding/Base64"
import * as Bytes from "effect/Bytes"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import type { Received } from "../../Inbox.ts"
import { MalformedUpdate, parse } from "../../Update.ts"
import { bodyLimit } from "./http.ts"

// Every platform has them, and the compiler is told of none.
declare const TextDecoder: new (
  encoding: "utf-8",
  options: { readonly fatal: true }
) => { readonly decode: (bytes: Uint8Array) => string }
declare const Blob: new (parts: ReadonlyArray<Uint8Array>) => {
  readonly stream: () => { readonly pipeThrough: (transform: object) => object }
}
declare const DecompressionStream: (new (format: "gzip" | "deflate") => object) | undefined

/** Why a body was not read. */
export class BodyRefused extends Data.TaggedError("BodyRefused")<{
  readonly reason: "TooLarge" | "TooSlow" | "BrokenOff" | "AlreadyRead"
}> {}

/** The bytes of a body, as long as there are not too many. */
export const collect = <E>(body: Stream.Stream<Uint8Array, E>): Effect.Effect<Uint8Array, E | BodyRefused> =>
  Effect.suspend(() => {
    const chunks: Array<Uint8Array> = []
    let size = 0
    return body.pipe(
      Stream.runForEach((chunk) => {
        size += chunk.length
        if (size > bodyLimit) return new BodyRefused({ reason: "TooLarge" })
        chunks.push(chunk)
        return Effect.void
      }),
      Effect.map(() => Bytes.concat(chunks))
    )
  })

const formats: Readonly<Record<string, "gzip" | "deflate">> = { gzip: "gzip", "x-gzip": "gzip", deflate: "deflate" }

/** The format that a body is packed in, "none" without one, `undefined` for one that cannot be unpacked here. */
export const packingOf = (encoding: string | undefined): "gzip" | "deflate" | "none" | undefined => {
  const named = encoding?.trim().toLowerCase()
  if (named === undefined || named === "" || named === "identity") return "none"
  return typeof DecompressionStream === "undefined" ? undefined : formats[named]
}

class Damaged extends Data.TaggedError("Damaged")<{ readonly cause: unknown }> {}

const unpack = (format: "gzip" | "deflate", packed: Uint8Array): Effect.Effect<Uint8Array, Damaged | BodyRefused> =>
  collect(
    Stream.fromReadableStream<Uint8Array, Damaged>({
      evaluate: () => new Blob([packed]).stream().pipeThrough(new DecompressionStream!(format)) as never,
      onError: (cause) => new Damaged({ cause })
    })
  )

const decoder = new TextDecoder("utf-8", { fatal: true })

/** What is no text is kept as Base64, which loses nothing. */
const unreadable = (bytes: Uint8Array, why: string): Received => {
  const text = Base64.encode(bytes)
  return { decoded: Result.fail(new MalformedUpdate({ problem: `${why}, so it is kept as Base64`, raw: text })), text }
}

/** Reads the update in a body. What cannot be read is told with all its bytes. */
export const read = (bytes: Uint8Array): Received => {
  const text = Result.try(() => decoder.decode(bytes))
  if (Result.isFailure(text)) return unreadable(bytes, "it is not UTF-8")
  return { decoded: parse(text.success), text: text.success }
}

/** Reads the update in a body that is packed. */
export const readPacked = (format: "gzip" | "deflate", bytes: Uint8Array): Effect.Effect<Received, BodyRefused> =>
  unpack(format, bytes).pipe(
    Effect.map(read),
    Effect.catchTag("Damaged", () => Effect.succeed(unreadable(bytes, `it is not ${format}, or is cut short`)))
  )
