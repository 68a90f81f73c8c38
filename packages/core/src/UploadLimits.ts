/**
 * What can be uploaded as what: sizes, extensions, sides of pictures, length of audio. They are checked before a byte is
 * sent.
 *
 * API: Limits.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import type { UploadType } from "./Uploads.ts"

/**
 * The limits of one type. `size` is in bytes, `side` in pixels; what is left out is not checked. A name without an
 * extension passes.
 *
 * @category models
 * @since 0.1.0
 */
export interface Limits {
  readonly maxSize: number
  readonly extensions?: ReadonlyArray<string>
  readonly maxSide?: number
  readonly maxDuration?: Duration.Duration
}

const mebibyte = 2 ** 20

/**
 * The limits of the API document. It leaves open what else may be audio and what is a file, so any extension is both.
 *
 * @assumption C The megabytes and gigabytes of the upload limits are powers of two.
 * @category limits
 * @since 0.1.0
 */
export const defaults: Readonly<Record<UploadType, Limits>> = {
  image: {
    maxSize: 50 * mebibyte,
    extensions: ["jpg", "jpeg", "png", "gif", "tiff", "bmp", "heic"],
    maxSide: 7680
  },
  video: { maxSize: 250 * mebibyte, extensions: ["mp4", "mov", "mkv", "webm"] },
  audio: { maxSize: 256 * mebibyte, maxDuration: Duration.hours(1) },
  file: { maxSize: 4096 * mebibyte }
}

/**
 * The limits in force.
 *
 * **Example** (for a platform that allows more than it documents)
 *
 * ```ts
 * import { UploadLimits, Uploads, UploadSource } from "@colloquy/core"
 * import { Effect } from "effect"
 *
 * const source = UploadSource.bytes(new Uint8Array(1000))
 * const attachment = Uploads.upload({ type: "image", source, name: "a.webp" }).pipe(
 *   Effect.provideService(UploadLimits.UploadLimits, {
 *     ...UploadLimits.defaults,
 *     image: { size: 100 * 2 ** 20 }
 *   })
 * )
 * ```
 *
 * @category references
 * @since 0.1.0
 */
export const UploadLimits = Context.Reference<Readonly<Record<UploadType, Limits>>>("@colloquy/core/UploadLimits", {
  defaultValue: () => defaults
})
