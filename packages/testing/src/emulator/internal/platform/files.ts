import { KeptMap } from "./keptMap.ts"

/** A file whose content is kept. */
export interface StoredFile {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly contentType: string
}

/** Maximum total size of the files, in bytes. The oldest files are removed first. */
const maxBytes = 64 * 2 ** 20

/** Maximum total length of the addresses of images that were not uploaded. */
const maxUrlLength = 2 ** 24

/** The files that can be downloaded, by their `photo_id`. */
export class FileStore {
  readonly #stored = new KeptMap<string, StoredFile>({ weight: maxBytes, weigh: ({ bytes }) => bytes.byteLength })
  readonly #linked = new KeptMap<string, string>({ weight: maxUrlLength, weigh: ({ length }) => length })

  /** Registers an image that was not uploaded: its link redirects to `url`. */
  link(photo_id: bigint, url: string): void {
    this.#linked.set(String(photo_id), url)
  }

  urlOf(photo_id: string): string | undefined {
    return this.#linked.get(photo_id)
  }

  add(photo_id: bigint, file: StoredFile): void {
    this.#stored.set(String(photo_id), file)
  }

  get(photo_id: string): StoredFile | undefined {
    return this.#stored.get(photo_id)
  }

  clear(): void {
    this.#stored.clear()
    this.#linked.clear()
  }
}
