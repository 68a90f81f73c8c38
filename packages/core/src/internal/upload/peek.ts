import * as Effect from "effect/Effect"
import * as Pull from "effect/Pull"
import * as Stream from "effect/Stream"
import type { Opened } from "../../UploadSource.ts"

/** The beginning of a source that is read from its beginning only, and the source with its beginning put back. */
export const peek = Effect.fnUntraced(function* (opened: Opened, length: number) {
  const pull = yield* Stream.toPull(opened.read(0, Infinity))
  const more = Pull.catchDone(pull, () => Effect.succeed(undefined))
  const head: Array<Uint8Array> = []
  let size = 0
  let pieces = yield* more
  while (pieces !== undefined) {
    head.push(...pieces)
    size = head.reduce((sum, piece) => sum + piece.byteLength, 0)
    if (size >= length) break
    pieces = yield* more
  }
  const rest = pieces === undefined ? Stream.empty : Stream.fromPull(Effect.succeed(pull))
  return { head, size, opened: { ...opened, read: () => Stream.concat(Stream.fromArray(head), rest) } }
})
