import * as Digest from "effect/crypto/Digest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { Opened } from "../../UploadSource.ts"

export const join = (pieces: ReadonlyArray<Uint8Array>): Uint8Array => {
  const whole = new Uint8Array(pieces.reduce((size, piece) => size + piece.byteLength, 0))
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.byteLength
  }
  return whole
}

/** A range of a source that can be read anywhere. */
export const readRange = ({ read }: Pick<Opened, "read">, from: number, to: number) =>
  Effect.map(Stream.runCollect(read(from, to)), join)

const hex = (content: Uint8Array) => Digest.Digest.use(({ digestHex }) => digestHex(Digest.sha256, content))

const onWebCrypto = Effect.provide(Digest.layerWebCrypto)

export const digest = (content: Uint8Array): Effect.Effect<string> => onWebCrypto(hex(content))

const endLength = 2 ** 16

/** Tells contents apart by their beginning and their end. */
export const digestEnds = (opened: Pick<Opened, "read">, size: number) =>
  Effect.all([
    readRange(opened, 0, Math.min(endLength, size)),
    readRange(opened, Math.max(0, size - endLength), size)
  ]).pipe(Effect.flatMap((ends) => digest(join(ends))))

const blockSize = 2 ** 22

/**
 * The digest of a content of any size in constant memory: web crypto takes no content in pieces, so this is the digest of
 * the digests of its blocks.
 */
export const digestWhole = (opened: Pick<Opened, "read">, size: number): Effect.Effect<string, unknown> =>
  onWebCrypto(
    Effect.gen(function* () {
      const { digest } = yield* Digest.Digest
      const blocks = Array.from({ length: Math.ceil(size / blockSize) }, (_, block) => block * blockSize)
      const digests = yield* Effect.forEach(blocks, (from) =>
        Effect.flatMap(readRange(opened, from, Math.min(from + blockSize, size)), (block) =>
          digest(Digest.sha256, block)
        )
      )
      return yield* hex(join(digests))
    })
  )
