import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Platform from "../../../base/Platform.ts"
import type { Limits, UploadType } from "../../Upload.ts"

export const defaultLimits: Readonly<Record<UploadType, Limits>> = {
  image: {
    maxSize: Platform.maxUploadSize.image,
    extensions: Platform.imageExtensions,
    maxSide: Platform.maxImageSide
  },
  video: { maxSize: Platform.maxUploadSize.video, extensions: Platform.videoExtensions },
  audio: { maxSize: Platform.maxUploadSize.audio, maxDuration: Duration.millis(Platform.maxAudioDuration) },
  file: { maxSize: Platform.maxUploadSize.file }
}

export const UploadLimits = Context.Reference<Readonly<Record<UploadType, Limits>>>("@colloquy/core/UploadLimits", {
  defaultValue: () => defaultLimits
})
