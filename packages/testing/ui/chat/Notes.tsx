import { Button } from "../parts/Button.tsx"
import type { Note } from "../chatLog.ts"
import { nameOf } from "../store.ts"
import type { EventOf } from "../types.ts"

const changes: Readonly<Record<string, string>> = {
  title: "renamed the chat",
  icon: "changed the picture of the chat",
  stopped: "stopped the bot"
}

const changeText = ({ change, message_id, payload }: EventOf<"chat">): string => {
  if (change === "pin") return message_id === undefined ? "removed the pin" : "pinned a message"
  if (change === "started") return `started the bot${payload === undefined ? "" : ` with the payload “${payload}”`}`
  return changes[change] ?? `changed the ${change}`
}

const textOf = (note: Note): string => {
  const name = nameOf(note.user_id)
  if (note.type === "chat") return note.change === "closed" ? "The chat was closed" : `${name} ${changeText(note)}`
  const isAdded = note.change === "added"
  if (note.by === undefined || note.by === note.user_id) return `${name} ${isAdded ? "joined" : "left"}`
  return `${nameOf(note.by)} ${isAdded ? "added" : "removed"} ${name}`
}

interface Props {
  readonly notes: ReadonlyArray<Note>
  readonly onJump: (mid: string) => void
}

/** Lines about changes of the chat. The line of a pin leads to the pinned message. */
export const Notes = ({ notes, onJump }: Props) => (
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
