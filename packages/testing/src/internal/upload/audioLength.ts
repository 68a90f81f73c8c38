import { textAt, viewOf } from "./mp4.ts"

const ofWav = (view: DataView, size: number): number | undefined => {
  let bytesPerSecond: number | undefined
  let next: number
  for (let at = 12; at + 8 <= view.byteLength; at = next) {
    const length = view.getUint32(at + 4, true)
    next = at + 8 + length + (length % 2)
    const chunk = textAt(view, at)
    if (chunk === "fmt " && at + 20 <= view.byteLength) bytesPerSecond = view.getUint32(at + 16, true)
    if (chunk === "data") return bytesPerSecond ? (size - at - 8) / bytesPerSecond : undefined
  }
  return undefined
}

const kilobits = {
  first: [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  later: [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160]
}

const samplesPerSecond = [44_100, 48_000, 32_000]

/** A tag of the size that its last four bytes say, seven bits in each. */
const afterTag = (view: DataView): number =>
  textAt(view, 0).startsWith("ID3") && view.byteLength >= 10
    ? 10 + [6, 7, 8, 9].reduce((size, at) => size * 128 + (view.getUint8(at) & 127), 0)
    : 0

/** The first frame tells the rate; where rates vary, it tells the number of frames instead. */
const ofMp3 = (view: DataView, size: number): number | undefined => {
  const at = afterTag(view)
  if (at + 48 > view.byteLength) return undefined
  const header = view.getUint32(at)
  const version = (header >>> 19) & 3
  if (header >>> 21 !== 0x7ff || version === 1 || ((header >>> 17) & 3) !== 1) return undefined
  const isFirst = version === 3
  const rate = kilobits[isFirst ? "first" : "later"][(header >>> 12) & 15]
  const samples = samplesPerSecond[(header >>> 10) & 3]
  if (rate === undefined || rate === 0 || samples === undefined) return undefined
  const isMono = ((header >>> 6) & 3) === 3
  const tag = at + 4 + (isFirst ? (isMono ? 17 : 32) : isMono ? 9 : 17)
  const isCounted = ["Xing", "Info"].includes(textAt(view, tag)) && (view.getUint8(tag + 7) & 1) === 1
  if (!isCounted) return ((size - at) * 8) / (rate * 1000)
  const frames = view.getUint32(tag + 8)
  return isFirst ? (frames * 1152) / samples : (frames * 576) / (samples / (version === 2 ? 2 : 4))
}

/** How many seconds a WAV or an MP3 file of that size plays, as its beginning tells. */
export const secondsOf = (head: Uint8Array, size: number): number | undefined => {
  const view = viewOf(head)
  return textAt(view, 0) === "RIFF" && textAt(view, 8) === "WAVE" ? ofWav(view, size) : ofMp3(view, size)
}
