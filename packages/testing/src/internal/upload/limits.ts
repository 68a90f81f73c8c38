import type { UploadType } from "@colloquy/core/Uploads"
import { Refusal } from "../http/refusal.ts"

/** The upload hosts' "no": they have a shape of their own. */
export const failure = (
  status: number,
  error_code: string,
  error_data: string,
  headers: Readonly<Record<string, string>> = {}
) => new Refusal({ status, body: { error_code, error_data }, headers })

const mebibyte = 2 ** 20

/** @assumption C The megabytes and gigabytes of the upload limits are powers of two. */
export const largest: Readonly<Record<UploadType, number>> = {
  image: 50 * mebibyte,
  video: 250 * mebibyte,
  audio: 256 * mebibyte,
  file: 4096 * mebibyte
}

/** Audio plays an hour at the most. */
export const longestAudio = 60 * 60

/** Both sides of a picture. */
export const longestSide = 7680

/**
 * The extensions that each host takes; where there is none in the name, any content is taken.
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
export const refuseName = (type: UploadType, filename: string | undefined): Refusal | undefined => {
  const extension = /\.([^./\\]+)$/.exec(filename ?? "")?.[1]
  const known = extensions[type]
  return extension === undefined || known === undefined || known.has(extension.toLowerCase())
    ? undefined
    : failure(415, "upload.extension", `${extension} is not taken as ${type}: ${[...known].join(", ")} are`)
}

/** @assumption C A file that is too large is answered with 413, as soon as that is known. */
export const refuseSize = (type: UploadType, size: number): Refusal | undefined =>
  size > largest[type]
    ? failure(413, "upload.too.large", `The largest ${type} that is taken has ${largest[type]} bytes`, {
        connection: "close"
      })
    : undefined
