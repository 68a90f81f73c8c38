import type { MenuItem } from "../parts/Menu.tsx"
import { copyText } from "../parts/clipboard.ts"
import { act, chats, hasRight, messageFilter, openTool, type Pane } from "../store.ts"
import { forwarding } from "./forwarding.ts"
import type { Shown } from "../types.ts"

/** The actions of a person on a message. */
export const messageItems = (
  pane: Pane,
  item: Shown,
  person: number,
  showEdits: () => void
): ReadonlyArray<MenuItem> => {
  const { edits, isRemoved, message, mid } = item
  const isOwn = message.sender?.user_id === person
  const chat = chats.value.get(message.recipient.chat_id ?? 0)
  const mayRemove = isOwn || (chat !== undefined && hasRight(chat, person, "delete"))
  const ids = { user_id: person as never, message_id: mid as never }
  const hasChannel = message.recipient.chat_type === "channel"
  return [
    ...(isRemoved || hasChannel ? [] : [{ label: "Reply", run: () => void (pane.replyTo.value = mid) }]),
    ...(isRemoved ? [] : [{ label: "Forward", run: () => void (forwarding.value = { pane, mid }) }]),
    ...(isOwn && !isRemoved ? [{ label: "Edit", run: () => void (pane.editing.value = mid) }] : []),
    ...(hasChannel && !isRemoved ? [{ label: "Comments", run: () => void (pane.post.value = mid) }] : []),
    ...(edits.length > 0 ? [{ label: "Show the edits", run: showEdits }] : []),
    ...(message.body?.text
      ? [{ label: "Copy text", run: () => void copyText(message.body?.text ?? "", "The text") }]
      : []),
    {
      label: "Show what happened",
      run: () => {
        messageFilter.value = mid
        openTool("timeline")
      }
    },
    { label: "Copy message id", run: () => void copyText(mid, "The id") },
    ...(mayRemove && !isRemoved ? [{ label: "Remove", isDangerous: true, run: () => void act("remove", ids) }] : [])
  ]
}
