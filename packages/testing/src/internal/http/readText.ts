import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Bytes from "effect/Bytes"
import * as refusal from "./refusal.ts"
import type { Request } from "../../EmulatorHttp.ts"

const decoder = new TextDecoder()

/** Reads a body of unknown length no further than to the limit. */
const readWithin = ({ body }: Request, most: number): Effect.Effect<string, refusal.Refusal> =>
  Effect.suspend(() => {
    const chunks: Array<Uint8Array> = []
    let size = 0
    return body.bytes.pipe(
      Stream.mapError(() => refusal.unreadable()),
      Stream.runForEach((chunk) => {
        size += chunk.byteLength
        if (size > most) return refusal.tooLarge(most)
        chunks.push(chunk)
        return Effect.void
      }),
      Effect.map(() => decoder.decode(Bytes.concat(chunks)))
    )
  })

/** The body of a request as a text. One that is too large is refused as soon as that is known. */
export const readText = (request: Request, most: number): Effect.Effect<string, refusal.Refusal> => {
  const length = request.headers["content-length"]
  if (length === undefined) return readWithin(request, most)
  return Number(length) > most ? refusal.tooLarge(most) : Effect.mapError(request.body.text, refusal.unreadable)
}
