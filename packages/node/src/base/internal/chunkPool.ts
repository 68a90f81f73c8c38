import { getDefaultHighWaterMark } from "node:stream"

// Fresh memory for each chunk would cost more CPU than the rest of an upload, because the garbage collector would run every
// few megabytes. The benchmark `upload-cpu` shows it.

export const chunkSize = 2 ** 18

/** At most 4 MiB of memory is kept for reuse. */
const maxFree = 16

const inUse = new WeakSet<ArrayBufferLike>()
const free: Array<Buffer<ArrayBuffer>> = []

/** Returns memory for a chunk. The caller owns the memory until `release`. */
export const acquire = (): Buffer<ArrayBuffer> => {
  const chunk = free.pop() ?? Buffer.allocUnsafeSlow(chunkSize)
  inUse.add(chunk.buffer)
  return chunk
}

/**
 * Releases a chunk that was written to a socket. Memory that is not from this pool is ignored.
 *
 * A socket accepts the next chunk before a chunk below its high-water mark is sent, so only whole chunks are reused.
 */
export const release = (bytes: Uint8Array): void => {
  const isWhole = bytes.byteLength === chunkSize && chunkSize >= getDefaultHighWaterMark(false)
  if (isWhole && free.length < maxFree && inUse.delete(bytes.buffer))
    free.push(Buffer.from(bytes.buffer as ArrayBuffer))
}
