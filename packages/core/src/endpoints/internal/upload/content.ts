import * as Bytes from "effect/Bytes"
import * as Digest from "effect/crypto/Digest"
import * as Effect from "effect/Effect"
import * as Pull from "effect/Pull"
import * as Stream from "effect/Stream"

/** The part of `UploadSource.Opened` that is read here. `UploadSource` itself imports this file. */
interface Readable {
  readonly read: (from: number, to: number) => Stream.Stream<Uint8Array, unknown>
}

/** Sources are read in chunks of this size. */
export const chunkSize = 2 ** 18

const splitRange = function* (from: number, to: number): Generator<readonly [from: number, to: number]> {
  for (let at = from; at < to; at += chunkSize) yield [at, Math.min(at + chunkSize, to)]
}

/** Splits a range into the ranges of its chunks. */
export const chunkRanges = (from: number, to: number) =>
  Stream.suspend(() => Stream.fromIterable(splitRange(from, to), { chunkSize: 1 }))

/** Reads a range of a source with random access into memory. */
export const readRange = ({ read }: Readable, from: number, to: number) =>
  Effect.map(Stream.runCollect(read(from, to)), Bytes.concat)

/**
 * Reads at least `length` bytes from the beginning of a source without random access. Returns them and a
 * source whose `read` still returns the whole content.
 */
export const readHead = Effect.fnUntraced(function* <A extends Readable>(opened: A, length: number) {
  const pull = yield* Stream.toPull(opened.read(0, Infinity))
  const nextChunks = Pull.catchDone(pull, () => Effect.succeed(undefined))
  const head: Array<Uint8Array> = []
  let size = 0
  let chunks = yield* nextChunks
  while (chunks !== undefined) {
    head.push(...chunks)
    size += chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0)
    if (size >= length) break
    chunks = yield* nextChunks
  }
  const rest = chunks === undefined ? Stream.empty : Stream.fromPull(Effect.succeed(pull))
  return {
    head: Bytes.concat(head),
    opened: { ...opened, read: () => Stream.concat(Stream.fromArray(head), rest) }
  }
})

const hex = (content: Uint8Array) => Digest.Digest.use(({ digestHex }) => digestHex(Digest.sha256, content))

const withWebCrypto = Effect.provide(Digest.layerWebCrypto)

export const digest = (content: Uint8Array): Effect.Effect<string> => withWebCrypto(hex(content))

const endSize = 2 ** 16

/** Returns a digest of the first and the last 64 KiB. */
export const digestEnds = (readable: Readable, size: number) =>
  Effect.all([
    readRange(readable, 0, Math.min(endSize, size)),
    readRange(readable, Math.max(0, size - endSize), size)
  ]).pipe(Effect.flatMap((ends) => digest(Bytes.concat(ends))))

const blockSize = 2 ** 22

/**
 * Returns a digest of the whole content, in constant memory. Web crypto cannot digest incrementally, so this is the digest
 * of the digests of all blocks.
 */
export const digestBlocks = (readable: Readable, size: number): Effect.Effect<string, unknown> =>
  withWebCrypto(
    Effect.gen(function* () {
      const { digest } = yield* Digest.Digest
      const blocks = Array.from({ length: Math.ceil(size / blockSize) }, (_, block) => block * blockSize)
      const digests = yield* Effect.forEach(blocks, (from) =>
        Effect.flatMap(readRange(readable, from, Math.min(from + blockSize, size)), (block) =>
          digest(Digest.sha256, block)
        )
      )
      return yield* hex(Bytes.concat(digests))
    })
  )
