import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { LimitExceeded } from "../../UploadError.ts"
import type { Limits } from "../../UploadLimits.ts"

/** How much of the beginning of a source is looked at. */
export const headLength = 2 ** 18

/** Gives a range of the source, or as much of it as there is. */
type ReadRange = (from: number, to: number) => Effect.Effect<Uint8Array, unknown>

const units = ["bytes", "KB", "MB", "GB"]

const inUnits = (bytes: number): string => {
  const power = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(bytes, 1)) / 10))
  const exact = power === 0 ? "" : ` (${bytes} bytes)`
  return `${Number((bytes / 1024 ** power).toFixed(1))} ${units[power]}${exact}`
}

export const checkSize = ({ maxSize: largest }: Limits, size: number): LimitExceeded | undefined =>
  size > largest
    ? new LimitExceeded({ limit: "size", allowed: `at most ${inUnits(largest)}`, found: inUnits(size) })
    : undefined

export const checkName = ({ extensions }: Limits, name: string): LimitExceeded | undefined => {
  const extension = /\.([^./\\]+)$/.exec(name)?.[1]
  return extension === undefined || extensions === undefined || extensions.includes(extension.toLowerCase())
    ? undefined
    : new LimitExceeded({ limit: "extension", allowed: `one of ${extensions.join(", ")}`, found: extension })
}

const checkSides = Effect.fnUntraced(function* (side: number, range: ReadRange) {
  const { imageSize } = yield* Effect.tryPromise(() => import("image-size"))
  const head = yield* range(0, headLength)
  const { width, height } = yield* Effect.try(() => imageSize(head))
  return width > side || height > side
    ? new LimitExceeded({
        limit: "dimensions",
        allowed: `at most ${side} x ${side} px`,
        found: `${width} x ${height} px`
      })
    : undefined
})

const blockLength = 2 ** 16

/** Some files tell their length only to those who read all of them: so much is read, and no more. */
const mostBlocks = 256

/**
 * The source in the shape of a web `Blob`, from which the reader of audio takes what it needs: a few bytes here and there,
 * often near each other.
 */
const asBlob = Effect.fnUntraced(function* (size: number, range: ReadRange) {
  const run = Effect.runPromiseWith(yield* Effect.context<never>())
  let known = { from: 0, bytes: new Uint8Array() }
  let blocks = 0
  const read = Effect.fnUntraced(function* (from: number, to: number) {
    if (from < known.from || to > known.from + known.bytes.byteLength) {
      const start = from - (from % blockLength)
      const end = Math.min(size, Math.max(to, start + blockLength))
      blocks += Math.ceil((end - start) / blockLength)
      if (blocks > mostBlocks) return yield* Effect.fail("The header is not at hand")
      known = { from: start, bytes: new Uint8Array(yield* range(start, end)) }
    }
    return known.bytes.slice(from - known.from, to - known.from).buffer
  })
  return {
    size,
    type: "",
    slice: (from: number, to: number) => ({ arrayBuffer: () => run(read(from, to)) })
  }
})

const checkDuration = Effect.fnUntraced(function* (longest: Duration.Duration, size: number, range: ReadRange) {
  const { parseBlob } = yield* Effect.tryPromise(() => import("music-metadata"))
  const blob = yield* asBlob(size, range)
  const { format } = yield* Effect.tryPromise(() => parseBlob(blob as never, { duration: false, skipCovers: true }))
  const { duration = 0 } = format
  return duration > Duration.toSeconds(longest)
    ? new LimitExceeded({
        limit: "duration",
        allowed: `at most ${Duration.format(longest)}`,
        found: Duration.format(Duration.seconds(Math.round(duration)))
      })
    : undefined
})

/** What the headers inside the file tell. What cannot be read passes: the upload host has the last word. */
export const checkContent = (
  { maxDuration: duration, maxSide: side }: Limits,
  size: number,
  range: ReadRange
): Effect.Effect<LimitExceeded | undefined> =>
  Effect.orElseSucceed(
    side !== undefined
      ? checkSides(side, range)
      : duration !== undefined
        ? checkDuration(duration, size, range)
        : Effect.succeed(undefined),
    () => undefined
  )
