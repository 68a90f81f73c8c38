/** The texts by which a terminal shows what it cannot show. */
import type { Attachment, Message } from "@colloquy/core"

/** Returns the texts of the buttons of a message, row by row. */
export const keyboardOf = (message: Message.Message): ReadonlyArray<ReadonlyArray<string>> =>
  (message.body?.attachments ?? [])
    .flatMap((attachment) => (attachment.type === "inline_keyboard" ? attachment.payload.buttons : []))
    .map((row) => row.flatMap((button) => (button.type === "unknown" ? [] : [button.text])))

/** Returns the texts of all buttons of a message. */
export const buttonsOf = (message: Message.Message): ReadonlyArray<string> => keyboardOf(message).flat()

/** Returns the value of a property of a vCard, such as `FN`. */
const propertyOf = (vCard: string, name: string): string | undefined =>
  new RegExp(`^${name}(?:;[^:\\r\\n]*)?:(.+)$`, "m").exec(vCard)?.[1]?.trim()

const contactOf = ({ payload }: Extract<Attachment.Attachment, { readonly type: "contact" }>) => {
  const vCard = payload?.vcf_info ?? ""
  const { first_name, last_name } = payload?.max_info ?? {}
  const name = first_name === undefined ? propertyOf(vCard, "FN") : [first_name, last_name].join(" ").trim()
  return [name, propertyOf(vCard, "TEL")]
}

const detailsOf = (attachment: Attachment.Attachment): ReadonlyArray<string | number | null | undefined> => {
  switch (attachment.type) {
    case "contact":
      return contactOf(attachment)
    case "file":
      return [attachment.filename, attachment.size == null ? undefined : `${attachment.size} bytes`]
    case "location":
      return [attachment.latitude, attachment.longitude]
    case "share":
      return [attachment.title, attachment.payload?.url]
    case "sticker":
      return [attachment.payload.code]
    case "video":
      return [attachment.duration == null ? undefined : `${attachment.duration} s`]
    default:
      return []
  }
}

/** Returns a text for each attachment except the keyboard, such as `(contact: Ann Smith, +123456789)`. */
export const describeAttachments = (message: Message.Message): ReadonlyArray<string> =>
  (message.body?.attachments ?? [])
    .filter(({ type }) => type !== "inline_keyboard")
    .map((attachment) => {
      const details = detailsOf(attachment).filter((detail) => detail != null && detail !== "")
      return details.length === 0 ? `(${attachment.type})` : `(${attachment.type}: ${details.join(", ")})`
    })
