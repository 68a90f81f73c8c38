/** The signature and the header of a PNG image. */
export const png = (width: number, height: number): Uint8Array<ArrayBuffer> => {
  const bytes = new Uint8Array(33)
  bytes.set([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52])
  const view = new DataView(bytes.buffer)
  view.setUint32(16, width)
  view.setUint32(20, height)
  bytes.set([8, 6], 24)
  return bytes
}

type Write = (view: DataView, put: (at: number, text: string) => void) => void

const makeFile = (size: number, write: Write): Uint8Array<ArrayBuffer> => {
  const bytes = new Uint8Array(size)
  write(new DataView(bytes.buffer), (at, text) => bytes.set(new TextEncoder().encode(text), at))
  return bytes
}

/** A WAV file with 100 samples of one byte per second. */
export const wav = (seconds: number) =>
  makeFile(44 + seconds * 100, (view, put) => {
    put(0, "RIFF")
    view.setUint32(4, 36 + seconds * 100, true)
    put(8, "WAVEfmt ")
    view.setUint32(16, 16, true)
    view.setUint16(20, 1, true)
    view.setUint16(22, 1, true)
    view.setUint32(24, 100, true)
    view.setUint32(28, 100, true)
    view.setUint16(32, 1, true)
    view.setUint16(34, 8, true)
    put(36, "data")
    view.setUint32(40, seconds * 100, true)
  })

/** An MP3 file with a tag of 200 bytes and frames of 26 bytes, at 8 kbit/s. */
export const mp3 = (seconds: number) =>
  makeFile(210 + seconds * 1000, (view, put) => {
    put(0, "ID3")
    view.setUint16(8, 0x0148)
    view.setUint8(3, 3)
    for (let at = 210; at + 26 <= view.byteLength; at += 26) view.setUint32(at, 0xfff31000)
  })

/** An MP3 file with a variable bit rate and frames of 1,152 samples, at 44.1 kHz. */
export const variableMp3 = (frames: number) =>
  makeFile(1000, (view, put) => {
    view.setUint32(0, 0xfffb9000)
    put(36, "Xing")
    view.setUint32(40, 1)
    view.setUint32(44, frames)
  })

export const m4a = (seconds: number) =>
  makeFile(200, (view, put) => {
    view.setUint32(0, 24)
    put(4, "ftypM4A ")
    view.setUint32(24, 176)
    put(28, "moov")
    view.setUint32(32, 108)
    put(36, "mvhd")
    view.setUint32(52, 1000)
    view.setUint32(56, seconds * 1000)
  })

/** A video with its `moov` box at the end of the file, as cameras write it. */
export const moovLast = (video: Uint8Array<ArrayBuffer>, dataSize: number) => {
  const moov = video.subarray(24, 348)
  const bytes = new Uint8Array(24 + 16 + dataSize + moov.byteLength)
  bytes.set(video.subarray(0, 24))
  const view = new DataView(bytes.buffer)
  view.setUint32(24, 1)
  bytes.set(new TextEncoder().encode("mdat"), 28)
  view.setBigUint64(32, BigInt(16 + dataSize))
  bytes.set(moov, 40 + dataSize)
  return bytes
}

/** An MP4 file with a video track of this size and duration, and an audio track. */
export const mp4 = (width: number, height: number, seconds: number) =>
  makeFile(400, (view, put) => {
    const box = (at: number, size: number, name: string) => {
      view.setUint32(at, size)
      put(at + 4, name)
    }
    box(0, 24, "ftypmp42")
    box(24, 324, "moov")
    box(32, 108, "mvhd")
    view.setUint32(52, 600)
    view.setUint32(56, seconds * 600)
    box(140, 100, "trak")
    box(148, 92, "tkhd")
    box(240, 108, "trak")
    box(248, 92, "tkhd")
    view.setUint16(332, width)
    view.setUint16(336, height)
  })
