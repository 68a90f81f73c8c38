import { type Film, readMoov, textAt, viewOf } from "./mp4.ts"
import * as Bytes from "effect/Bytes"

/** No film has so much to say of itself. */
const longestMoov = 2 ** 24

/**
 * Picks the box `moov` out of an MP4 file as it goes by: where the file was not made for playing at once, it stands
 * behind the pictures.
 */
export class MoovFinder {
  /** The header of a box as far as it went by: 4 bytes of size, 4 of name, and 8 more of size where the first tell 1. */
  #header: ReadonlyArray<number> = []
  /** How much of a box is still to come. */
  #rest = 0
  #isFirst = true
  #isMoov = false
  #moov: Array<Uint8Array> = []

  /** Another one that has seen the same so far. */
  fork(): MoovFinder {
    const fork = new MoovFinder()
    fork.#header = this.#header
    fork.#rest = this.#rest
    fork.#isFirst = this.#isFirst
    fork.#isMoov = this.#isMoov
    fork.#moov = [...this.#moov]
    return fork
  }

  take(chunk: Uint8Array): void {
    let at = 0
    while (at < chunk.byteLength) {
      if (this.#rest === 0) {
        this.#read(chunk[at++])
        continue
      }
      const end = Math.min(at + this.#rest, chunk.byteLength)
      // A copy, also of a `Buffer`, whose `slice` is none: the chunk itself is given back.
      if (this.#isMoov) this.#moov.push(new Uint8Array(chunk.subarray(at, end)))
      this.#rest -= end - at
      at = end
    }
  }

  get film(): Film | undefined {
    return readMoov(viewOf(Bytes.concat(this.#moov)))
  }

  #read(byte: number): void {
    this.#header = [...this.#header, byte]
    const { length } = this.#header
    if (length < 8) return
    const view = viewOf(Uint8Array.from(this.#header))
    const isLong = view.getUint32(0) === 1
    if (isLong && length < 16) return
    const size = isLong ? Number(view.getBigUint64(8)) : view.getUint32(0)
    this.#enter(textAt(view, 4), size - length)
  }

  #enter(name: string, rest: number): void {
    const isForeign = rest < 0 || (this.#isFirst && name !== "ftyp")
    this.#isMoov = name === "moov" && !isForeign && rest <= longestMoov
    this.#rest = isForeign ? Infinity : rest
    this.#isFirst = false
    this.#header = []
  }
}
