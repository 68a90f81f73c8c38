/** What the header of an MP4 file tells. The sides are in pixels, without a picture they are 0. */
export interface Film {
  readonly seconds: number
  readonly width: number
  readonly height: number
}

export const viewOf = ({ buffer, byteLength, byteOffset }: Uint8Array): DataView =>
  new DataView(buffer, byteOffset, byteLength)

export const textAt = (view: DataView, at: number): string =>
  at + 4 > view.byteLength ? "" : String.fromCharCode(...[0, 1, 2, 3].map((index) => view.getUint8(at + index)))

const isLong = (view: DataView, at: number): boolean => view.getUint8(at + 8) === 1

const secondsIn = (view: DataView, at: number): number | undefined => {
  if (at + 40 > view.byteLength) return undefined
  const perSecond = view.getUint32(at + (isLong(view, at) ? 28 : 20))
  const length = isLong(view, at) ? Number(view.getBigUint64(at + 32)) : view.getUint32(at + 24)
  return perSecond === 0 ? undefined : length / perSecond
}

/** Sides are numbers of 16 bits before the point and 16 behind it. */
const sidesIn = (view: DataView, at: number): readonly [width: number, height: number] => {
  const place = at + (at + 9 <= view.byteLength && isLong(view, at) ? 96 : 84)
  return place + 8 > view.byteLength ? [0, 0] : [view.getUint16(place), view.getUint16(place + 4)]
}

/** The boxes `mvhd` and `tkhd` inside the box `moov`. Of several tracks the largest picture counts. */
export const readMoov = (view: DataView): Film | undefined => {
  let seconds: number | undefined
  let [width, height] = [0, 0]
  for (let at = 0; at + 8 <= view.byteLength;) {
    const box = textAt(view, at + 4)
    const size = view.getUint32(at)
    if (box === "mvhd") seconds = secondsIn(view, at)
    if (box === "tkhd") {
      const sides = sidesIn(view, at)
      if (sides[0] * sides[1] > width * height) [width, height] = sides
    }
    if (box !== "trak" && size < 8) break
    at += box === "trak" ? 8 : size
  }
  return seconds === undefined ? undefined : { seconds, width, height }
}
