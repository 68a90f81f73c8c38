/**
 * The limits on uploaded files: sizes, extensions, image dimensions and audio duration. The limits are checked before
 * the first byte is sent.
 *
 * API: Limits.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Platform from "../base/Platform.ts"
import type { UploadType } from "./Upload.ts"

/**
 * The limits on files of one type.
 *
 * @category models
 * @since 0.1.0
 */
export interface Limits {
  /** Maximum size of the file, in bytes. */
  readonly maxSize: number
  /** The allowed extensions, in lower case. A file name without an extension is always allowed. Default: any extension. */
  readonly extensions?: ReadonlyArray<string>
  /** Maximum width and height of the image, in pixels. Default: not checked. */
  readonly maxSide?: number
  /** Maximum duration of the audio. Default: not checked. */
  readonly maxDuration?: Duration.Duration
}

/**
 * The limits of the API document, from `Platform`. Audio may have any extension, because the document lists only some:
 *
 * | type    | size    | extensions                               | other                |
 * | ------- | ------- | ---------------------------------------- | -------------------- |
 * | `image` | 50 MiB  | jpg, jpeg, png, gif, tiff, tif, bmp, heic | at most 7680 x 7680 px |
 * | `video` | 250 MiB | mp4, mov, mkv, webm                      |                      |
 * | `audio` | 256 MiB | any                                      | at most 1 hour       |
 * | `file`  | 4 GiB   | any                                      |                      |
 *
 * API: Limits.
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
 * The limits that uploads are checked against. Default: {@link defaults}.
 *
 * **Example** (A platform that allows larger images of any extension)
 *
 * ```ts
 * import { UploadLimits, Uploads, UploadSource } from "@colloquy/core"
 * import { Effect } from "effect"
 *
 * const source = UploadSource.bytes(new Uint8Array(1000))
 * const attachment = Uploads.upload({ type: "image", source, name: "a.webp" }).pipe(
 *   Effect.provideService(UploadLimits.UploadLimits, {
 *     ...UploadLimits.defaults,
 *     image: { maxSize: 100 * 2 ** 20 }
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
