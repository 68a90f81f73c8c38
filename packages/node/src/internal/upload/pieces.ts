import { getDefaultHighWaterMark } from "node:stream"

/** The length of a piece of a file. */
export const pieceSize = 2 ** 18

/** So much memory is kept, 4 MB. */
const kept = 16

const taken = new WeakSet<ArrayBufferLike>()
const free: Array<Buffer<ArrayBuffer>> = []

/** Memory for a piece. It belongs to whoever has it, until it is given back. */
export const take = (): Buffer<ArrayBuffer> => {
  const piece = free.pop() ?? Buffer.allocUnsafeSlow(pieceSize)
  taken.add(piece.buffer)
  return piece
}

/**
 * Takes back the memory of bytes that a socket was given and that it let more follow after. Fresh memory for each piece
 * would cost more than all the rest of an upload: the collector runs for every few megabytes of it.
 *
 * A socket that is given less than its high-water mark lets more follow while it still holds on to it: only whole pieces
 * come back.
 */
export const giveBack = (bytes: Uint8Array): void => {
  const isWhole = bytes.byteLength === pieceSize && pieceSize >= getDefaultHighWaterMark(false)
  if (isWhole && free.length < kept && taken.delete(bytes.buffer)) free.push(Buffer.from(bytes.buffer as ArrayBuffer))
}
