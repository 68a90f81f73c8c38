import * as Platform from "@colloquy/core/base/Platform"
import type { UploadType } from "@colloquy/core/endpoints/Upload"
import * as Effect from "effect/Effect"
import * as refusal from "../http/refusal.ts"

/**
 * The extensions that each host accepts. A file without an extension is accepted by every host.
 */
const extensions: Readonly<Record<UploadType, ReadonlySet<string> | undefined>> = {
  image: new Set(Platform.imageExtensions),
  video: new Set(Platform.videoExtensions),
  audio: new Set(Platform.audioExtensions),
  file: undefined
}

/** @assumption forbiddenExtension */
export const checkExtension = (type: UploadType, name: string | undefined): refusal.Refusable<void> => {
  const extension = /\.([^./\\]+)$/.exec(name ?? "")?.[1]
  const accepted = extensions[type]
  return extension === undefined || accepted === undefined || accepted.has(extension.toLowerCase())
    ? Effect.void
    : refusal.of(
        415,
        "upload.extension",
        `The extension ${extension} is not accepted for ${type} uploads: use one of ${[...accepted].join(", ")}`
      )
}

/** @assumption uploadTooLarge */
export const checkSize = (type: UploadType, size: number): refusal.Refusable<void> =>
  size > Platform.maxUploadSize[type]
    ? refusal.of(
        413,
        "upload.too.large",
        `An upload of type ${type} must not be larger than ${Platform.maxUploadSize[type]} bytes`,
        { connection: "close" }
      )
    : Effect.void
