import { Avatar } from "../parts/Avatar.tsx"
import { Button } from "../parts/Button.tsx"
import { shortDate } from "../parts/format.ts"
import { Icon } from "../parts/Icon.tsx"
import { summaryOf } from "../parts/summary.ts"
import { actionOf } from "./actions.ts"
import {
  act,
  bots,
  chats,
  isChatMember,
  lastMessages,
  nameOf,
  openChat,
  type Pane,
  showStart,
  titleOf,
  unread
} from "../store.ts"
import type { ChatView } from "../types.ts"

const kinds: Readonly<Record<string, string>> = { chat: "Group", channel: "Channel", dialog: "Dialog" }

const lastText = ({ chat }: ChatView): string => {
  const last = lastMessages.value.get(chat.chat_id)
  if (last === undefined) return kinds[chat.type] ?? chat.type
  const { sender } = last
  const text = summaryOf(last)
  return chat.type === "dialog" || sender == null ? text : `${nameOf(sender.user_id)}: ${text}`
}

const lastTime = ({ chat }: ChatView): number =>
  Math.max(chat.last_event_time, lastMessages.value.get(chat.chat_id)?.timestamp ?? 0)

const Row = ({ pane, view }: { readonly pane: Pane; readonly view: ChatView }) => {
  const { chat, is_closed, is_stopped, members } = view
  const title = titleOf(view, pane.person.value)
  const other = members.find(({ user_id }) => user_id !== pane.person.value)
  const count = pane.chat.value === chat.chat_id ? 0 : (unread.value.get(chat.chat_id) ?? 0)
  const isDialog = chat.type === "dialog"
  const action = actionOf(view)
  return (
    <li>
      <button
        type="button"
        class="chat-row"
        aria-current={pane.chat.value === chat.chat_id}
        onClick={() => openChat(pane, chat.chat_id)}
      >
        <Avatar id={isDialog ? (other?.user_id ?? 0) : chat.chat_id} name={title} isBot={isDialog} />
        <span class="chat-row-text">
          <bdi class="title">{title}</bdi>
          {action === undefined ? (
            <bdi class="last">{is_closed ? "closed" : is_stopped ? "stopped" : lastText(view)}</bdi>
          ) : (
            <bdi class="last acting">{action}…</bdi>
          )}
        </span>
        <span class="chat-row-side">
          <small>{shortDate(lastTime(view))}</small>
          {count === 0 ? null : (
            <span class="badge">
              {count}
              <span class="spoken"> new</span>
            </span>
          )}
        </span>
      </button>
    </li>
  )
}

const moveFocus = (event: KeyboardEvent): void => {
  if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return
  const rows = [...(event.currentTarget as HTMLElement).querySelectorAll("button")]
  const index = rows.indexOf(document.activeElement as HTMLButtonElement)
  event.preventDefault()
  rows[(index + (event.key === "ArrowDown" ? 1 : rows.length - 1)) % rows.length]?.focus()
}

/** Opens the dialog of the person with a bot. */
const NewDialog = ({ bot_id, name, pane }: { readonly bot_id: number; readonly name: string; readonly pane: Pane }) => (
  <li>
    <Button class="chat-row" aria-current={pane.starting.value === bot_id} onClick={() => showStart(pane, bot_id)}>
      <Avatar id={bot_id} name={name} isBot />
      <span class="chat-row-text">
        <bdi class="title">{name}</bdi>
        <span class="last">Start a dialog</span>
      </span>
      <Icon name="plus" />
    </Button>
  </li>
)

/** The chats of a person, the newest first, and the bots with which there is no dialog. */
export const ChatList = ({ pane }: { readonly pane: Pane }) => {
  const person = pane.person.value
  if (person === undefined) return <p class="empty">Create a person to begin.</p>
  const own = [...chats.value.values()]
    .filter((view) => isChatMember(view, person))
    .sort((a, b) => lastTime(b) - lastTime(a))
  const others = [...chats.value.values()].filter(
    (view) => view.chat.type !== "dialog" && !view.is_closed && !isChatMember(view, person)
  )
  const newBots = bots.value.filter(
    ({ user }) => !own.some((view) => view.chat.type === "dialog" && isChatMember(view, user.user_id))
  )
  return (
    <nav aria-label={`Chats of ${nameOf(person)}`} onKeyDown={moveFocus}>
      <ul class="chat-list">
        {own.map((view) => (
          <Row key={view.chat.chat_id} pane={pane} view={view} />
        ))}
        {newBots.map(({ user }) => (
          <NewDialog key={user.user_id} bot_id={user.user_id} name={nameOf(user.user_id)} pane={pane} />
        ))}
      </ul>
      {others.length === 0 ? null : (
        <>
          <h3 class="list-heading">Other groups and channels</h3>
          <ul class="chat-list">
            {others.map((view) => (
              <li key={view.chat.chat_id} class="other-chat">
                <bdi>{titleOf(view, person)}</bdi>
                <Button onClick={() => void act("join", { user_id: person as never, chat_id: view.chat.chat_id })}>
                  Join
                </Button>
              </li>
            ))}
          </ul>
        </>
      )}
    </nav>
  )
}
