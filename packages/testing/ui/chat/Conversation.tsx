import { useState } from "preact/hooks"
import { Button, IconButton } from "../parts/Button.tsx"
import { actionOf } from "./actions.ts"
import { CopyTest } from "./CopyTest.tsx"
import { Avatar } from "../parts/Avatar.tsx"
import { focusMessage } from "../parts/focusMessage.ts"
import { Icon } from "../parts/Icon.tsx"
import { Menu } from "../parts/Menu.tsx"
import { act, chats, hasRight, logOf, nameOf, notification, openChat, type Pane, type Seen, titleOf } from "../store.ts"
import type { ChatView } from "../types.ts"
import { ChatInfo } from "./ChatInfo.tsx"
import { Comments } from "./Comments.tsx"
import { Composer } from "./Composer.tsx"
import { Messages } from "./Messages.tsx"
import { Welcome } from "./Welcome.tsx"

const subtitleOf = ({ chat, is_closed, is_stopped, members }: ChatView): string => {
  if (is_closed) return "closed"
  if (chat.type === "dialog") return is_stopped ? "stopped by the person" : "bot"
  return `${chat.type === "channel" ? "channel" : "group"}, ${members.length} member${members.length === 1 ? "" : "s"}`
}

/** Why a person cannot write in a chat, or `undefined`. */
export const problemOf = (view: ChatView, person: number): string | undefined => {
  if (view.is_closed) return "The chat is closed."
  const { type } = view.chat
  return type === "channel" && !hasRight(view, person, "write")
    ? "Only administrators with the right “write” can post."
    : undefined
}

const Header = ({ pane, person, view }: Seen) => {
  const [isMenuOpen, setMenuOpen] = useState(false)
  const [dialog, setDialog] = useState<"info" | "test" | undefined>()
  const close = () => setDialog(undefined)
  const { chat, is_stopped, members } = view
  const { chat_id, type } = chat
  const title = titleOf(view, person)
  const action = actionOf(view)
  const bot = members.find(({ is_bot }) => is_bot)
  const other = members.find(({ user_id }) => user_id !== person)
  const ids = { user_id: person as never, ...(bot === undefined ? {} : { bot_id: bot.user_id }) }
  const items = [
    { label: "Copy as test", run: () => setDialog("test") },
    { label: type === "dialog" ? "Information" : "Members and rights", run: () => setDialog("info") },
    ...(type === "dialog"
      ? [
          is_stopped
            ? { label: "Start the bot again", run: () => void act("start", ids) }
            : { label: "Stop the bot", isDangerous: true, run: () => void act("stop", ids) },
          { label: "Clear the dialog", isDangerous: true, run: () => void act("clearDialog", ids) }
        ]
      : [{ label: "Leave", isDangerous: true, run: () => void act("leave", { ...ids, chat_id }) }])
  ]
  return (
    <header class="chat-header">
      <IconButton icon="back" class="quiet back" label="Back to the chats" onClick={() => openChat(pane, undefined)} />
      <Avatar id={type === "dialog" ? (other?.user_id ?? 0) : chat_id} name={title} isBot={type === "dialog"} />
      <Button class="chat-title" onClick={() => setDialog("info")}>
        <bdi class="title">{title}</bdi>
        <small aria-live="polite">
          {action === undefined ? (
            subtitleOf(view)
          ) : (
            <span class="acting">
              {type === "dialog" ? action : `${nameOf(bot?.user_id)} is ${action}`}
              <span class="dots" aria-hidden="true">
                <i />
                <i />
                <i />
              </span>
            </span>
          )}
        </small>
      </Button>
      <Button class="outline copy-test" onClick={() => setDialog("test")}>
        Copy as test
      </Button>
      <div class="menu-anchor end">
        <IconButton icon="more" label="Chat menu" aria-haspopup="menu" onClick={() => setMenuOpen(true)} />
        {isMenuOpen ? <Menu label="Chat" items={items} onClose={() => setMenuOpen(false)} /> : null}
      </div>
      {dialog === "info" ? <ChatInfo view={view} person={person} onClose={close} /> : null}
      {dialog === "test" ? <CopyTest view={view} onClose={close} /> : null}
    </header>
  )
}

const Pinned = ({ view }: { readonly view: ChatView }) => {
  const log = logOf(view.chat.chat_id)
  const isRead = log.status.value === "loaded"
  const pinned = view.pinned === null || !isRead ? undefined : log.find(view.pinned)
  if (pinned === undefined) return null
  return (
    <Button class="pinned" onClick={() => focusMessage(pinned.mid)}>
      <Icon name="pin" />
      <span>
        <b>Pinned message</b>
        <bdi>{pinned.message.body?.text || "attachment"}</bdi>
      </span>
    </Button>
  )
}

/** The chat of a pane. */
export const Conversation = ({ pane }: { readonly pane: Pane }) => {
  const person = pane.person.value
  const view = pane.chat.value === undefined ? undefined : chats.value.get(pane.chat.value)
  if (person === undefined || view === undefined) {
    return (
      <section class="conversation" aria-label="Conversation">
        <Welcome pane={pane} person={person} />
      </section>
    )
  }
  const { chat_id } = view.chat
  const problem = problemOf(view, person)
  const shown = notification.value
  const isShown = shown?.chat_id === chat_id && shown.user_id === person
  if (pane.post.value !== undefined) return <Comments pane={pane} view={view} person={person} mid={pane.post.value} />
  return (
    <section class="conversation" aria-label={`Conversation: ${titleOf(view, person)}, as ${nameOf(person)}`}>
      <Header pane={pane} person={person} view={view} />
      <Pinned view={view} />
      {isShown ? (
        <Button class="notification" onClick={() => (notification.value = undefined)}>
          <bdi>{shown.notification}</bdi>
        </Button>
      ) : null}
      <Messages key={chat_id} log={logOf(chat_id)} pane={pane} person={person} />
      {problem === undefined ? (
        <Composer key={`${chat_id} ${person}`} pane={pane} person={person} view={view} />
      ) : (
        <p class="composer-note">{problem}</p>
      )}
    </section>
  )
}
