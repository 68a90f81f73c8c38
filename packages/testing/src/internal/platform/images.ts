/** An uploaded image. */
export interface Image {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly contentType: string
}

/** Maximum total size of the uploaded images, in bytes. The oldest images are removed first. */
const maxBytes = 64 * 2 ** 20

/** The images that can be downloaded, by their `photo_id`. */
export class ImageStore {
  readonly #uploaded = new Map<string, Image>()
  readonly #linked = new Map<string, string>()
  #size = 0

  /** Registers an image that was not uploaded: its link redirects to `url`. */
  link(photo_id: bigint, url: string): void {
    this.#linked.set(String(photo_id), url)
  }

  urlOf(photo_id: string): string | undefined {
    return this.#linked.get(photo_id)
  }

  add(photo_id: bigint, image: Image): void {
    this.#uploaded.set(String(photo_id), image)
    this.#size += image.bytes.byteLength
    for (const [oldest, { bytes }] of this.#uploaded) {
      if (this.#size <= maxBytes) return
      this.#uploaded.delete(oldest)
      this.#size -= bytes.byteLength
    }
  }

  get(photo_id: string): Image | undefined {
    return this.#uploaded.get(photo_id)
  }

  clear(): void {
    this.#uploaded.clear()
    this.#linked.clear()
    this.#size = 0
  }
}
