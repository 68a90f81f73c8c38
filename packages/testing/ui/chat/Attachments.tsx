import type { ComponentType } from "preact"
import { CardText } from "../parts/CardText.tsx"
import { ExternalLink } from "../parts/ExternalLink.tsx"
import { sizeOf } from "../parts/format.ts"
import { Icon } from "../parts/Icon.tsx"
import type { Attachment, AttachmentOf as Of } from "../types.ts"
import { Image, Player } from "./Media.tsx"

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
      <CardText name={name} note={phone ?? "no phone number"} />
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
    {title == null ? null : <b>{title}</b>}
    {description == null ? null : <span>{description}</span>}
    <ExternalLink url={payload?.url} label={payload?.url ?? "Shared"} />
  </div>
)

/** The picture of a sticker is on another host, so the page shows its code: an emoji, or a name. */
const Sticker = ({ attachment: { payload } }: { readonly attachment: Of<"sticker"> }) => {
  const code = payload?.code ?? "?"
  const isEmoji = /^\p{Extended_Pictographic}/u.test(code)
  return (
    <div class={isEmoji ? "sticker" : "sticker named"} role="img" aria-label={`Sticker ${code}`}>
      <bdi>{code}</bdi>
    </div>
  )
}

const views: { readonly [T in Attachment["type"]]?: ComponentType<{ readonly attachment: Of<T> }> } = {
  image: Image,
  video: Player,
  audio: Player,
  file: File,
  sticker: Sticker,
  contact: Contact,
  location: Place,
  share: Share
}

const One = ({ attachment }: { readonly attachment: Attachment }) => {
  if (!Object.hasOwn(views, attachment.type))
    return <div class="card">Attachment of the type {String(attachment.type)}</div>
  const View = views[attachment.type] as ComponentType<{ readonly attachment: Attachment }>
  return <View attachment={attachment} />
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
