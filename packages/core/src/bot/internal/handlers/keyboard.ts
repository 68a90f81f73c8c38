import type { Attachment } from "../../../model/Attachment.ts"
import type { AttachmentRequest } from "../../../model/AttachmentRequest.ts"
import type { Message } from "../../../model/Message.ts"

/** The request that attaches an attachment of a message again. There is none for contacts and for unknown kinds. */
const attachAgain = (attachment: Attachment): AttachmentRequest | undefined => {
  switch (attachment.type) {
    case "image":
      return { type: "image", payload: { token: attachment.payload.token } }
    case "video":
    case "audio":
    case "file":
      return { type: attachment.type, payload: { token: attachment.payload.token } }
    case "sticker":
      return { type: "sticker", payload: { code: attachment.payload.code } }
    case "location":
      return { type: "location", latitude: attachment.latitude, longitude: attachment.longitude }
    case "share": {
      const { token, url } = attachment.payload ?? {}
      if (token != null) return { type: "share", payload: { token } }
      return url == null ? undefined : { type: "share", payload: { url } }
    }
  }
  return undefined
}

/**
 * The edit that removes the keyboard of a message and keeps its other attachments, or `undefined` if an attachment cannot be kept, or
 * the message would have no content.
 */
export const withoutKeyboard = (
  message: Message | null | undefined
): { readonly attachments: ReadonlyArray<AttachmentRequest> } | undefined => {
  const others = (message?.body?.attachments ?? []).filter(({ type }) => type !== "inline_keyboard")
  const attachments = others.flatMap((attachment) => attachAgain(attachment) ?? [])
  const hasContent = attachments.length > 0 || Boolean(message?.body?.text)
  return hasContent && attachments.length === others.length ? { attachments } : undefined
}
