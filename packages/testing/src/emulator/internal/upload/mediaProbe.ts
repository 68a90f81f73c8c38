import type { UploadType } from "@colloquy/core/endpoints/Upload"
import * as Bytes from "effect/Bytes"
import { copyMp4, infoOf, makeMp4, type Mp4State, textAt, viewOf, writeMp4 } from "./mp4.ts"

const wavSeconds = (view: DataView, fileBytes: number): number | undefined => {
  let bytesPerSecond: number | undefined
  let next: number
  for (let at = 12; at + 8 <= view.byteLength; at = next) {
    const length = view.getUint32(at + 4, true)
    next = at + 8 + length + (length % 2)
    const chunk = textAt(view, at)
    if (chunk === "fmt " && at + 20 <= view.byteLength) bytesPerSecond = view.getUint32(at + 16, true)
    if (chunk === "data") return bytesPerSecond ? (fileBytes - at - 8) / bytesPerSecond : undefined
  }
  return undefined
}

const kilobitsPerSecond = {
  mpeg1: [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  mpeg2: [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160]
}

const samplesPerSecond = [44_100, 48_000, 32_000]

/** The size of an ID3 tag is in its last four header bytes, seven bits in each. */
const id3Bytes = (view: DataView): number =>
  textAt(view, 0).startsWith("ID3") && view.byteLength >= 10
    ? 10 + [6, 7, 8, 9].reduce((size, at) => size * 128 + (view.getUint8(at) & 127), 0)
    : 0

/** Reads the first frame: its bit rate, or the number of frames where the bit rate is variable. */
const mp3Seconds = (view: DataView, fileBytes: number): number | undefined => {
  const at = id3Bytes(view)
  if (at + 48 > view.byteLength) return undefined
  const header = view.getUint32(at)
  const version = (header >>> 19) & 3
  if (header >>> 21 !== 0x7ff || version === 1 || ((header >>> 17) & 3) !== 1) return undefined
  const isMpeg1 = version === 3
  const rate = kilobitsPerSecond[isMpeg1 ? "mpeg1" : "mpeg2"][(header >>> 12) & 15]
  const samples = samplesPerSecond[(header >>> 10) & 3]
  if (rate === undefined || rate === 0 || samples === undefined) return undefined
  const isMono = ((header >>> 6) & 3) === 3
  const xing = at + 4 + (isMpeg1 ? (isMono ? 17 : 32) : isMono ? 9 : 17)
  const hasFrameCount = ["Xing", "Info"].includes(textAt(view, xing)) && (view.getUint8(xing + 7) & 1) === 1
  if (!hasFrameCount) return ((fileBytes - at) * 8) / (rate * 1000)
  const frames = view.getUint32(xing + 8)
  return isMpeg1 ? (frames * 1152) / samples : (frames * 576) / (samples / (version === 2 ? 2 : 4))
}

const audioSeconds = (head: Uint8Array, fileBytes: number): number | undefined => {
  const view = viewOf(head)
  return textAt(view, 0) === "RIFF" && textAt(view, 8) === "WAVE"
    ? wavSeconds(view, fileBytes)
    : mp3Seconds(view, fileBytes)
}

/** How many bytes at the beginning of an audio file are kept to read its duration. */
const audioHeadBytes = 2 ** 18

/** The parts of a file that are kept during its upload: whole images, and only the headers of other media. */
export interface MediaProbe {
  readonly type: UploadType
  readonly mp4: Mp4State
  readonly kept: Array<Uint8Array>
  /** The number of bytes received. */
  size: number
}

export const makeProbe = (type: UploadType): MediaProbe => ({ type, mp4: makeMp4(), kept: [], size: 0 })

export const copyProbe = (probe: MediaProbe): MediaProbe => ({
  ...probe,
  mp4: copyMp4(probe.mp4),
  kept: [...probe.kept]
})

/** Returns `true` if the probe keeps the chunk. */
export const writeTo = (probe: MediaProbe, chunk: Uint8Array): boolean => {
  const isKept = probe.type === "image" || (probe.type === "audio" && probe.size < audioHeadBytes)
  if (isKept) probe.kept.push(chunk)
  if (probe.type === "video" || probe.type === "audio") writeMp4(probe.mp4, chunk)
  probe.size += chunk.byteLength
  return isKept
}

export const bytesOf = ({ kept }: MediaProbe): Uint8Array<ArrayBuffer> => Bytes.concat(kept)

/** @assumption audioWithoutDuration */
export const secondsOf = (probe: MediaProbe): number | undefined =>
  infoOf(probe.mp4)?.seconds ?? audioSeconds(bytesOf(probe), probe.size)
