import type { UploadType } from "@colloquy/core/Uploads"
import { secondsOf } from "./audioLength.ts"
import { MoovFinder } from "./moovFinder.ts"
import type { Film } from "./mp4.ts"
import * as Bytes from "effect/Bytes"

/** How much of the beginning of audio is looked at. */
const headLength = 2 ** 18

/** What the platform sees of a file as it comes in: all of a picture, and of what is played as much as tells its length. */
export class Look {
  readonly #type: UploadType
  #moov = new MoovFinder()
  #pieces: Array<Uint8Array> = []
  #size = 0

  constructor(type: UploadType) {
    this.#type = type
  }

  /** Another one that has seen the same so far. */
  fork(): Look {
    const fork = new Look(this.#type)
    fork.#moov = this.#moov.fork()
    fork.#pieces = [...this.#pieces]
    fork.#size = this.#size
    return fork
  }

  /** How many bytes went by. */
  get size(): number {
    return this.#size
  }

  /** Whether the chunk itself is kept. */
  take(chunk: Uint8Array): boolean {
    const isKept = this.#type === "image" || (this.#type === "audio" && this.#size < headLength)
    if (isKept) this.#pieces.push(chunk)
    if (this.#type === "video" || this.#type === "audio") this.#moov.take(chunk)
    this.#size += chunk.byteLength
    return isKept
  }

  get bytes(): Uint8Array<ArrayBuffer> {
    return Bytes.concat(this.#pieces)
  }

  get film(): Film | undefined {
    return this.#moov.film
  }

  /** @assumption C Audio whose header does not tell its length is taken, however long it plays. */
  get seconds(): number | undefined {
    return this.film?.seconds ?? secondsOf(this.bytes, this.#size)
  }
}
