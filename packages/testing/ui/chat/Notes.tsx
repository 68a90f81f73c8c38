import { Button } from "../parts/Button.tsx"
import type { Note } from "../chatLog.ts"
import { nameOf } from "../store.ts"
import type { EventOf } from "../types.ts"

const changeText = ({ change, message_id, payload }: EventOf<"chat">): string => {
  switch (change) {
    case "pin":
      return message_id === undefined ? "removed the pin" : "pinned a message"
    case "title":
      return "renamed the chat"
    case "icon":
      return "changed the picture of the chat"
    case "started":
      return payload === undefined ? "started the bot" : `started the bot with the payload “${payload}”`
    case "stopped":
      return "stopped the bot"
    default:
      return `changed the ${change}`
  }
}

const textOf = (note: Note): string => {
  const name = nameOf(note.user_id)
  if (note.type === "chat") return note.change === "closed" ? "The chat was closed" : `${name} ${changeText(note)}`
  const isAdded = note.change === "added"
  if (note.by === undefined || note.by === note.user_id) return `${name} ${isAdded ? "joined" : "left"}`
  return `${nameOf(note.by)} ${isAdded ? "added" : "removed"} ${name}`
}

/** Lines about changes of the chat. The line of a pin leads to the pinned message. */
export const Notes = ({
  notes,
  onJump
}: {
  readonly notes: ReadonlyArray<Note>
  readonly onJump: (mid: string) => void
}) => (
  <>
    {notes.map((note) => {
      const pinned = note.type === "chat" ? note.message_id : undefined
      return (
        <div class="day" key={note.id}>
          {pinned === undefined ? (
            <bdi class="service">{textOf(note)}</bdi>
          ) : (
            <Button class="service" onClick={() => onJump(pinned)}>
              <bdi>{textOf(note)}</bdi>
            </Button>
          )}
        </div>
      )
    })}
  </>
)
