import { KeptMap } from "./keptMap.ts"

/** An uploaded image. */
export interface Image {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly contentType: string
}

/** Maximum total size of the uploaded images, in bytes. The oldest images are removed first. */
const maxBytes = 64 * 2 ** 20

/** Maximum total length of the addresses of images that were not uploaded. */
const maxUrlLength = 2 ** 24

/** The images that can be downloaded, by their `photo_id`. */
export class ImageStore {
  readonly #uploaded = new KeptMap<string, Image>({ weight: maxBytes, weigh: ({ bytes }) => bytes.byteLength })
  readonly #linked = new KeptMap<string, string>({ weight: maxUrlLength, weigh: ({ length }) => length })

  /** Registers an image that was not uploaded: its link redirects to `url`. */
  link(photo_id: bigint, url: string): void {
    this.#linked.set(String(photo_id), url)
  }

  urlOf(photo_id: string): string | undefined {
    return this.#linked.get(photo_id)
  }

  add(photo_id: bigint, image: Image): void {
    this.#uploaded.set(String(photo_id), image)
  }

  get(photo_id: string): Image | undefined {
    return this.#uploaded.get(photo_id)
  }

  clear(): void {
    this.#uploaded.clear()
    this.#linked.clear()
  }
}
