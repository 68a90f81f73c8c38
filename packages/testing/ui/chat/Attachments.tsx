import { useState } from "preact/hooks"
import { imageUrl } from "../api.ts"
import { durationOf, safeUrl, sizeOf } from "../parts/format.ts"
import { Icon } from "../parts/Icon.tsx"
import type { Attachment } from "../types.ts"

type Of<T extends Attachment["type"]> = Extract<Attachment, { readonly type: T }>

const ExternalLink = ({ label, url }: { readonly url: string | null | undefined; readonly label: string }) => {
  const href = safeUrl(url)
  return href === undefined ? (
    <span>{label}</span>
  ) : (
    <a href={href} target="_blank" rel="noopener noreferrer">
      {label}
    </a>
  )
}

/** An uploaded image. The page requests nothing from other hosts, so an image by its URL is a link. */
const Image = ({ attachment }: { readonly attachment: Of<"image"> }) => {
  const [isMissing, setMissing] = useState(false)
  const { token, url } = attachment.payload
  if (isMissing) {
    return (
      <div class="card">
        <span class="card-icon">
          <Icon name="file" />
        </span>
        <span>
          <b>Photo</b>
          <ExternalLink url={url} label="Open the image" />
        </span>
      </div>
    )
  }
  return <img class="photo" src={imageUrl(token)} alt="Photo" loading="lazy" onError={() => setMissing(true)} />
}

const Video = ({ attachment }: { readonly attachment: Of<"video"> }) => {
  const { duration, height, payload, width } = attachment
  const size = width == null || height == null ? undefined : `${width} × ${height}`
  const length = duration == null ? undefined : durationOf(duration * 1000)
  return (
    <div class="video" title={payload?.token}>
      <span class="play">
        <Icon name="play" />
      </span>
      <span class="video-label">{["Video", size, length].filter(Boolean).join(" · ")}</span>
    </div>
  )
}

const Audio = ({ attachment: { payload, transcription } }: { readonly attachment: Of<"audio"> }) => (
  <div class="card audio" title={payload?.token}>
    <span class="card-icon round">
      <Icon name="play" />
    </span>
    <span>
      <span class="wave" aria-hidden="true" />
      <small>{transcription ?? "Audio"}</small>
    </span>
  </div>
)

const File = ({ attachment: { filename, size } }: { readonly attachment: Of<"file"> }) => (
  <div class="card">
    <span class="card-icon">
      <Icon name="file" />
    </span>
    <span class="card-text">
      <bdi class="file-name" title={filename ?? ""}>
        {filename}
      </bdi>
      <small>{sizeOf(size ?? 0)}</small>
    </span>
  </div>
)

const vcardValue = (card: string | null | undefined, field: string): string | undefined =>
  new RegExp(`^${field}[^:\\r\\n]*:(.*)$`, "m")
    .exec(card ?? "")?.[1]
    ?.trim()
    .replaceAll(/\\n/g, " ")
    .replaceAll(/\\(.)/g, "$1")

const Contact = ({ attachment: { payload } }: { readonly attachment: Of<"contact"> }) => {
  const user = payload?.max_info
  const name = vcardValue(payload?.vcf_info, "FN") ?? user?.first_name ?? "Contact"
  const phone = vcardValue(payload?.vcf_info, "TEL")
  return (
    <div class="card">
      <span class="card-icon round">
        <Icon name="person" />
      </span>
      <span class="card-text">
        <bdi class="file-name">{name}</bdi>
        {phone === undefined ? <small>no phone number</small> : <small>{phone}</small>}
      </span>
    </div>
  )
}

const Place = ({ attachment: { latitude, longitude } }: { readonly attachment: Of<"location"> }) => (
  <div class="place">
    <span class="map" aria-hidden="true">
      <Icon name="place" />
    </span>
    <ExternalLink
      url={`https://www.openstreetmap.org/?mlat=${latitude}&mlon=${longitude}`}
      label={`${latitude.toFixed(5)}, ${longitude.toFixed(5)}`}
    />
  </div>
)

const Share = ({ attachment: { description, payload, title } }: { readonly attachment: Of<"share"> }) => (
  <div class="share">
    <b>{title ?? payload?.url ?? "Shared"}</b>
    {description == null ? null : <span>{description}</span>}
    <ExternalLink url={payload?.url} label={payload?.url ?? ""} />
  </div>
)

const One = ({ attachment }: { readonly attachment: Attachment }) => {
  switch (attachment.type) {
    case "image":
      return <Image attachment={attachment} />
    case "video":
      return <Video attachment={attachment} />
    case "audio":
      return <Audio attachment={attachment} />
    case "file":
      return <File attachment={attachment} />
    case "sticker":
      return (
        <div class="sticker" role="img" aria-label={`Sticker ${attachment.payload?.code}`}>
          <bdi>{attachment.payload?.code}</bdi>
        </div>
      )
    case "contact":
      return <Contact attachment={attachment} />
    case "location":
      return <Place attachment={attachment} />
    case "share":
      return <Share attachment={attachment} />
    case "inline_keyboard":
      return null
    default:
      return <div class="card">Attachment of the type {String((attachment as { type: unknown }).type)}</div>
  }
}

/** The attachments of a message, without its keyboard. */
export const Attachments = ({ list }: { readonly list: ReadonlyArray<Attachment> }) => {
  const shown = list.filter(({ type }) => type !== "inline_keyboard")
  if (shown.length === 0) return null
  const isAlbum = shown.length > 1 && shown.every(({ type }) => type === "image" || type === "video")
  return (
    <div class={isAlbum ? "attachments album" : "attachments"}>
      {shown.map((attachment, index) => (
        <One key={index} attachment={attachment} />
      ))}
    </div>
  )
}
