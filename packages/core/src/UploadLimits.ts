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
import * as Platform from "./Platform.ts"
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

/**
 * The limits of the API document. It leaves open what else may be audio and what is a file, so any extension is both.
 *
 * @category limits
 * @since 0.1.0
 */
export const defaults: Readonly<Record<UploadType, Limits>> = {
  image: {
    maxSize: Platform.maxUploadSize.image,
    extensions: Platform.imageExtensions,
    maxSide: Platform.maxImageSide
  },
  video: { maxSize: Platform.maxUploadSize.video, extensions: Platform.videoExtensions },
  audio: { maxSize: Platform.maxUploadSize.audio, maxDuration: Duration.millis(Platform.maxAudioDuration) },
  file: { maxSize: Platform.maxUploadSize.file }
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
