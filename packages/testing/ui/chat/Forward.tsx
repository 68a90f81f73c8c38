import { Button } from "../parts/Button.tsx"
import { Modal } from "../parts/Modal.tsx"
import { act, chats, isChatMember, titleOf, toast } from "../store.ts"
import { problemOf } from "./Conversation.tsx"
import { forwarding } from "./forwarding.ts"

/** Lets a person choose the chat to which a message is forwarded. */
export const Forward = () => {
  const chosen = forwarding.value
  const person = chosen?.pane.person.value
  if (chosen === undefined || person === undefined) return null
  const close = () => void (forwarding.value = undefined)
  const targets = [...chats.value.values()].filter(
    (view) => isChatMember(view, person) && problemOf(view, person) === undefined
  )
  return (
    <Modal title="Forward to" onClose={close}>
      <ul class="chat-list">
        {targets.map((view) => (
          <li key={view.chat.chat_id}>
            <Button
              class="chat-row"
              onClick={() => {
                const link = { type: "forward" as const, mid: chosen.mid as never }
                close()
                void act("sendMessage", { user_id: person as never, chat_id: view.chat.chat_id, link }).then(
                  (sent) => sent !== undefined && toast(`Forwarded to ${titleOf(view, person)}`)
                )
              }}
            >
              <bdi class="title">{titleOf(view, person)}</bdi>
            </Button>
          </li>
        ))}
      </ul>
    </Modal>
  )
}
