import * as Bytes from "effect/Bytes"

/** The properties in the header of an MP4 file. The sides are in pixels, and 0 in a file without a picture. */
export interface VideoInfo {
  readonly seconds: number
  readonly width: number
  readonly height: number
}

export const viewOf = ({ buffer, byteLength, byteOffset }: Uint8Array): DataView =>
  new DataView(buffer, byteOffset, byteLength)

export const textAt = (view: DataView, at: number): string =>
  at + 4 > view.byteLength ? "" : String.fromCharCode(...[0, 1, 2, 3].map((index) => view.getUint8(at + index)))

const isVersion1 = (view: DataView, at: number): boolean => view.getUint8(at + 8) === 1

const durationAt = (view: DataView, at: number): number | undefined => {
  if (at + 40 > view.byteLength) return undefined
  const timescale = view.getUint32(at + (isVersion1(view, at) ? 28 : 20))
  const duration = isVersion1(view, at) ? Number(view.getBigUint64(at + 32)) : view.getUint32(at + 24)
  return timescale === 0 ? undefined : duration / timescale
}

/** The sides are fixed-point numbers: 16 bits before the point and 16 bits after it. */
const sizeAt = (view: DataView, at: number): readonly [width: number, height: number] => {
  const offset = at + (at + 9 <= view.byteLength && isVersion1(view, at) ? 96 : 84)
  return offset + 8 > view.byteLength ? [0, 0] : [view.getUint16(offset), view.getUint16(offset + 4)]
}

/** Reads the boxes `mvhd` and `tkhd` of a `moov` box. The size is the size of the largest track. */
const readMoov = (view: DataView): VideoInfo | undefined => {
  let seconds: number | undefined
  let [width, height] = [0, 0]
  for (let at = 0; at + 8 <= view.byteLength;) {
    const box = textAt(view, at + 4)
    const size = view.getUint32(at)
    if (box === "mvhd") seconds = durationAt(view, at)
    if (box === "tkhd") {
      const track = sizeAt(view, at)
      if (track[0] * track[1] > width * height) [width, height] = track
    }
    if (box !== "trak" && size < 8) break
    at += box === "trak" ? 8 : size
  }
  return seconds === undefined ? undefined : { seconds, width, height }
}

const maxMoovBytes = 2 ** 24

/** How far an MP4 file was read, and its `moov` box. */
export interface Mp4State {
  /** The bytes of an incomplete box header: 4 of size, 4 of name, and 8 of size where the first size is 1. */
  header: ReadonlyArray<number>
  remainingInBox: number
  isFirstBox: boolean
  isMoov: boolean
  readonly moov: Array<Uint8Array>
}

export const makeMp4 = (): Mp4State => ({ header: [], remainingInBox: 0, isFirstBox: true, isMoov: false, moov: [] })

export const copyMp4 = (mp4: Mp4State): Mp4State => ({ ...mp4, moov: [...mp4.moov] })

const enterBox = (mp4: Mp4State, name: string, contentBytes: number): void => {
  const isNotMp4 = contentBytes < 0 || (mp4.isFirstBox && name !== "ftyp")
  mp4.isMoov = name === "moov" && !isNotMp4 && contentBytes <= maxMoovBytes
  mp4.remainingInBox = isNotMp4 ? Infinity : contentBytes
  mp4.isFirstBox = false
  mp4.header = []
}

const writeHeader = (mp4: Mp4State, byte: number): void => {
  mp4.header = [...mp4.header, byte]
  const { length } = mp4.header
  if (length < 8) return
  const view = viewOf(Uint8Array.from(mp4.header))
  const hasLargeSize = view.getUint32(0) === 1
  if (hasLargeSize && length < 16) return
  const size = hasLargeSize ? Number(view.getBigUint64(8)) : view.getUint32(0)
  enterBox(mp4, textAt(view, 4), size - length)
}

/**
 * Extracts the `moov` box from an MP4 file chunk by chunk. The box is at the end of a file that was not prepared for
 * streaming, so the whole file is read and only this box is kept.
 */
export const writeMp4 = (mp4: Mp4State, chunk: Uint8Array): void => {
  let at = 0
  while (at < chunk.byteLength) {
    if (mp4.remainingInBox === 0) {
      writeHeader(mp4, chunk[at++])
      continue
    }
    const end = Math.min(at + mp4.remainingInBox, chunk.byteLength)
    // `Buffer.slice` does not copy, and the memory of the chunk is released after this call.
    if (mp4.isMoov) mp4.moov.push(new Uint8Array(chunk.subarray(at, end)))
    mp4.remainingInBox -= end - at
    at = end
  }
}

export const infoOf = ({ moov }: Mp4State): VideoInfo | undefined => readMoov(viewOf(Bytes.concat(moov)))
