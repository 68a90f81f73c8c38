import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { LimitExceeded } from "../../UploadError.ts"
import type { Limits } from "../../Upload.ts"

/** The number of bytes of a source without random access that are read for the check of its content. */
export const headSize = 2 ** 18

/** Reads a range of the content, or the known part of the range. */
type ReadRange = (from: number, to: number) => Effect.Effect<Uint8Array, unknown>

const units = ["bytes", "KiB", "MiB", "GiB"]

const formatSize = (bytes: number): string => {
  const power = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(bytes, 1)) / 10))
  const exact = power === 0 ? "" : ` (${bytes} bytes)`
  return `${Number((bytes / 1024 ** power).toFixed(1))} ${units[power]}${exact}`
}

export const checkSize = ({ maxSize }: Limits, size: number): LimitExceeded | undefined =>
  size > maxSize
    ? new LimitExceeded({ limit: "size", allowed: `at most ${formatSize(maxSize)}`, found: formatSize(size) })
    : undefined

export const checkName = ({ extensions }: Limits, name: string): LimitExceeded | undefined => {
  const extension = /\.([^./\\]+)$/.exec(name)?.[1]
  return extension === undefined || extensions === undefined || extensions.includes(extension.toLowerCase())
    ? undefined
    : new LimitExceeded({ limit: "extension", allowed: `one of ${extensions.join(", ")}`, found: extension })
}

const checkDimensions = Effect.fnUntraced(function* (maxSide: number, readRange: ReadRange) {
  const { imageSize } = yield* Effect.tryPromise(() => import("image-size"))
  const head = yield* readRange(0, headSize)
  const { width, height } = yield* Effect.try(() => imageSize(head))
  return width > maxSide || height > maxSide
    ? new LimitExceeded({
        limit: "dimensions",
        allowed: `at most ${maxSide} x ${maxSide} px`,
        found: `${width} x ${height} px`
      })
    : undefined
})

const blockSize = 2 ** 16

/** Some formats state their duration only at the end of a scan of the whole file, so the number of reads is bounded. */
const maxBlocks = 256

/** Presents the content as a web `Blob`. The parser reads a few bytes at a time, so a block around them is kept. */
const makeBlob = Effect.fnUntraced(function* (size: number, readRange: ReadRange) {
  const run = Effect.runPromiseWith(yield* Effect.context<never>())
  let block = { from: 0, bytes: new Uint8Array() }
  let blocks = 0
  const read = Effect.fnUntraced(function* (from: number, to: number) {
    if (from < block.from || to > block.from + block.bytes.byteLength) {
      const start = from - (from % blockSize)
      const end = Math.min(size, Math.max(to, start + blockSize))
      blocks += Math.ceil((end - start) / blockSize)
      if (blocks > maxBlocks) return yield* Effect.fail("The header of the audio is too large to be read")
      block = { from: start, bytes: new Uint8Array(yield* readRange(start, end)) }
    }
    return block.bytes.slice(from - block.from, to - block.from).buffer
  })
  return {
    size,
    type: "",
    slice: (from: number, to: number) => ({ arrayBuffer: () => run(read(from, to)) })
  }
})

const checkDuration = Effect.fnUntraced(function* (maxDuration: Duration.Duration, size: number, readRange: ReadRange) {
  const { parseBlob } = yield* Effect.tryPromise(() => import("music-metadata"))
  const blob = yield* makeBlob(size, readRange)
  const { format } = yield* Effect.tryPromise(() =>
    parseBlob(blob as Parameters<typeof parseBlob>[0], { duration: false, skipCovers: true })
  )
  const { duration = 0 } = format
  return duration > Duration.toSeconds(maxDuration)
    ? new LimitExceeded({
        limit: "duration",
        allowed: `at most ${Duration.format(maxDuration)}`,
        found: Duration.format(Duration.seconds(Math.round(duration)))
      })
    : undefined
})

/** Whether the limits apply to the content of the file. */
export const limitsContent = ({ maxDuration, maxSide }: Limits): boolean =>
  maxSide !== undefined || maxDuration !== undefined

/** Checks the headers inside the file. A file that cannot be parsed is allowed: the upload host decides. */
export const checkContent = (
  { maxDuration, maxSide }: Limits,
  size: number,
  readRange: ReadRange
): Effect.Effect<LimitExceeded | undefined> =>
  Effect.orElseSucceed(
    maxSide !== undefined
      ? checkDimensions(maxSide, readRange)
      : maxDuration !== undefined
        ? checkDuration(maxDuration, size, readRange)
        : Effect.succeed(undefined),
    () => undefined
  )
