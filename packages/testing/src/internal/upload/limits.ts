import type { UploadType } from "@colloquy/core/Uploads"
import { Refusal } from "../http/refusal.ts"

/** An error response in the shape of the upload hosts. */
export const hostError = (
  status: number,
  error_code: string,
  error_data: string,
  headers: Readonly<Record<string, string>> = {}
) => new Refusal({ status, body: { error_code, error_data }, headers })

const mebibyte = 2 ** 20

/** @assumption C The megabytes and gigabytes of the upload limits are powers of two. */
export const maxBytes: Readonly<Record<UploadType, number>> = {
  image: 50 * mebibyte,
  video: 250 * mebibyte,
  audio: 256 * mebibyte,
  file: 4096 * mebibyte
}

export const maxAudioSeconds = 60 * 60

/** The maximum width and height of an image, in pixels. */
export const maxImageSide = 7680

/**
 * The extensions that each host accepts. A file without an extension is accepted by every host.
 *
 * @assumption C The "others" of audio are these; the host for files takes every extension.
 */
const extensions: Readonly<Record<UploadType, ReadonlySet<string> | undefined>> = {
  image: new Set(["jpg", "jpeg", "png", "gif", "tiff", "bmp", "heic"]),
  video: new Set(["mp4", "mov", "mkv", "webm"]),
  audio: new Set(["mp3", "wav", "m4a", "aac", "aiff", "flac", "oga", "ogg", "opus", "wma"]),
  file: undefined
}

/** @assumption C A forbidden extension is answered with 415. */
export const checkExtension = (type: UploadType, filename: string | undefined): Refusal | undefined => {
  const extension = /\.([^./\\]+)$/.exec(filename ?? "")?.[1]
  const accepted = extensions[type]
  return extension === undefined || accepted === undefined || accepted.has(extension.toLowerCase())
    ? undefined
    : hostError(
        415,
        "upload.extension",
        `The extension ${extension} is not accepted for ${type} uploads: use one of ${[...accepted].join(", ")}`
      )
}

/** @assumption C A file that is too large is answered with 413, as soon as that is known. */
export const checkSize = (type: UploadType, size: number): Refusal | undefined =>
  size > maxBytes[type]
    ? hostError(413, "upload.too.large", `An upload of type ${type} must not be larger than ${maxBytes[type]} bytes`, {
        connection: "close"
      })
    : undefined
