import { useState } from "preact/hooks"
import { call, mediaUrl } from "../api.ts"
import { memoize } from "../memoize.ts"
import { ExternalLink } from "../parts/ExternalLink.tsx"
import { durationOf, sizeOf } from "../parts/format.ts"
import { Icon } from "../parts/Icon.tsx"
import { useRead } from "../parts/useRead.ts"
import type { AttachmentOf, MediaInfo } from "../types.ts"

/** Reads the name and the size of a file once. */
const readInfo = memoize((token: string) => call("describeMedia", { token }).catch(() => undefined))

const useInfo = (token: string | undefined): MediaInfo | undefined =>
  useRead(() => (token === undefined ? Promise.resolve(undefined) : readInfo(token)), [token])

/** An uploaded image. The page requests nothing from other hosts, so an image by its URL is a picture with a link. */
export const Image = ({ attachment }: { readonly attachment: AttachmentOf<"image"> }) => {
  const [isMissing, setMissing] = useState(false)
  const { token, url } = attachment.payload
  if (!isMissing)
    return <img class="photo" src={mediaUrl(token)} alt="Photo" loading="lazy" onError={() => setMissing(true)} />
  return (
    <div class="photo drawn" role="group" aria-label="Photo">
      <svg viewBox="0 0 160 100" aria-hidden="true" preserveAspectRatio="xMidYMid slice">
        <circle cx="122" cy="26" r="11" />
        <path d="M0 100 52 38l34 42 18-20 56 40z" />
      </svg>
      <ExternalLink url={url} label="Open the image" />
    </div>
  )
}

/** The name, the size and other properties of a file, as far as they are known. */
const labelOf = (kind: string, info: MediaInfo | undefined, ...more: ReadonlyArray<string | undefined>): string =>
  [info?.filename ?? kind, info === undefined || info.size === 0 ? undefined : sizeOf(info.size), ...more]
    .filter((part) => part !== undefined)
    .join(" · ")

const videoLabel = ({ duration, height, width }: AttachmentOf<"video">, info: MediaInfo | undefined): string => {
  const size = width == null || height == null ? undefined : `${width} × ${height}`
  return labelOf("Video", info, size, duration == null ? undefined : durationOf(duration * 1000))
}

/** A video or audio file, which is played if the emulator keeps its content and the browser knows its format. */
export const Player = ({ attachment }: { readonly attachment: AttachmentOf<"video" | "audio"> }) => {
  const { payload, type: Tag } = attachment
  const info = useInfo(payload?.token)
  const [unplayable, setUnplayable] = useState<string | undefined>()
  const label = attachment.type === "video" ? videoLabel(attachment, info) : labelOf("Audio", info)
  return (
    <figure class="media">
      {info?.is_kept === true && payload?.token !== undefined && payload.token !== unplayable ? (
        <Tag
          controls
          preload="metadata"
          src={mediaUrl(payload.token)}
          aria-label={label}
          onError={() => setUnplayable(payload.token)}
        />
      ) : Tag === "video" ? (
        <div class="video" title={payload?.token}>
          <span class="play">
            <Icon name="play" />
          </span>
        </div>
      ) : (
        <div class="card audio" title={payload?.token}>
          <span class="card-icon round">
            <Icon name="play" />
          </span>
          <span class="wave" aria-hidden="true" />
        </div>
      )}
      <figcaption>
        <bdi>{label}</bdi>
        {attachment.type === "audio" && attachment.transcription != null ? <bdi>{attachment.transcription}</bdi> : null}
      </figcaption>
    </figure>
  )
}
