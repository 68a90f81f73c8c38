import { type AttachmentRequest, fromAttachment } from "../../../model/AttachmentRequest.ts"
import type { Message } from "../../../model/Message.ts"

/**
 * The edit that removes the keyboard of a message and keeps its other attachments, or `undefined` if an attachment cannot be kept, or
 * the message would have no content.
 */
export const withoutKeyboard = (
  message: Message | null | undefined
): { readonly attachments: ReadonlyArray<AttachmentRequest> } | undefined => {
  const others = (message?.body?.attachments ?? []).filter(({ type }) => type !== "inline_keyboard")
  const attachments = others.flatMap((other) =>
    // A contact that is attached again has its vCard or its user, not both, and no signature.
    other.type === "contact" ? [] : (fromAttachment(other) ?? [])
  )
  const hasContent = attachments.length > 0 || Boolean(message?.body?.text)
  return hasContent && attachments.length === others.length ? { attachments } : undefined
}
