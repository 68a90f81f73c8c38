import type { VNode } from "preact"
import { memo } from "preact/compat"
import { useState } from "preact/hooks"
import { Avatar, toneOf } from "../parts/Avatar.tsx"
import { preciseTime, timeOf } from "../parts/format.ts"
import { Icon } from "../parts/Icon.tsx"
import { Marked } from "../parts/Markup.tsx"
import { Menu } from "../parts/Menu.tsx"
import { summaryOf } from "../parts/summary.ts"
import { chats, nameOf, type Pane, users } from "../store.ts"
import type { Message, Shown } from "../types.ts"
import { Attachments } from "./Attachments.tsx"
import { messageItems } from "./commands.ts"
import { Keyboard } from "./Keyboard.tsx"

interface LinkedProps {
  readonly message: Message
  readonly pane: Pane
  readonly onJump: (mid: string) => void
}

const Linked = ({ message, onJump, pane }: LinkedProps) => {
  const { link } = message
  if (link == null) return null
  const author = link.sender == null ? "Channel" : nameOf(link.sender.user_id)
  if (link.type === "reply") {
    const mid = link.message?.mid
    return (
      <button type="button" class="reply-to" onClick={() => mid !== undefined && onJump(mid)}>
        <b>{author}</b>
        <bdi>{summaryOf({ body: link.message ?? null })}</bdi>
      </button>
    )
  }
  return (
    <div class="forward">
      <small>
        Forwarded from <b>{chats.value.get(link.chat_id ?? 0)?.chat.title ?? author}</b>
      </small>
      <Attachments list={link.message?.attachments ?? []} />
      {link.message?.text ? <Marked text={link.message.text} markup={link.message.markup} pane={pane} /> : null}
    </div>
  )
}

const Edits = ({ item, pane }: { readonly item: Shown; readonly pane: Pane }) => (
  <ol class="edits" aria-label="What the message was before">
    {item.edits.map(({ at, before }, index) => (
      <li key={index}>
        <small>until {preciseTime(at)}</small>
        <Attachments list={before.body?.attachments ?? []} />
        <Marked text={before.body?.text ?? ""} markup={before.body?.markup} pane={pane} />
      </li>
    ))}
  </ol>
)

interface Props {
  readonly item: Shown
  readonly pane: Pane
  readonly person: number
  /** Whether the message before is of the same author. */
  readonly isContinued: boolean
  readonly isPinned: boolean
  readonly comments: number | undefined
  readonly onJump: (mid: string) => void
}

const Bubble_ = ({ comments, isContinued, isPinned, item, onJump, pane, person }: Props): VNode => {
  const [isMenuOpen, setMenuOpen] = useState(false)
  const [showsEdits, setShowsEdits] = useState(false)
  const { edits, isRemoved, message } = item
  const author = message.sender ?? undefined
  const isOwn = author?.user_id === person
  const isChannel = message.recipient.chat_type === "channel"
  const user = author === undefined ? undefined : users.value.get(author.user_id)
  const isBot = (user ?? author)?.is_bot === true
  const name =
    author === undefined
      ? (chats.value.get(message.recipient.chat_id!)?.chat.title ?? "Channel")
      : nameOf(author.user_id)
  const attachments = message.body?.attachments ?? []
  const shown = attachments.filter(({ type }) => type !== "inline_keyboard")
  const isSticker = shown[0]?.type === "sticker" && !message.body?.text
  const showsName = !isOwn && !isContinued && message.recipient.chat_type !== "dialog"
  return (
    <article
      class={`message${isOwn ? " own" : ""}${isContinued ? " continued" : ""}${isRemoved ? " removed" : ""}`}
      data-mid={item.mid}
      tabIndex={-1}
      aria-label={`${name}, ${timeOf(message.timestamp)}: ${summaryOf(message)}${isRemoved ? ", removed" : ""}`}
      onKeyDown={(event) => {
        if (event.target === event.currentTarget && event.key === "Enter") {
          event.preventDefault()
          setMenuOpen(true)
        }
      }}
      onContextMenu={(event) => {
        if (globalThis.getSelection()?.toString() === "") {
          event.preventDefault()
          setMenuOpen(true)
        }
      }}
    >
      {isOwn || message.recipient.chat_type === "dialog" ? null : (
        <Avatar id={author?.user_id ?? message.recipient.chat_id ?? 0} name={name} isBot={isBot} small />
      )}
      <div class="stack">
        <div class={isSticker ? "bubble bare" : "bubble"}>
          {showsName ? <b class={`author ${toneOf(author?.user_id ?? 0)}`}>{name}</b> : null}
          <Linked message={message} pane={pane} onJump={onJump} />
          <Attachments list={attachments} />
          {message.body?.text ? <Marked text={message.body.text} markup={message.body.markup} pane={pane} /> : null}
          <span class="meta">
            {isPinned ? <Icon name="pin" /> : null}
            {isRemoved ? <span>removed</span> : null}
            {edits.length === 0 ? null : (
              <button
                type="button"
                class="edited"
                aria-expanded={showsEdits}
                onClick={() => setShowsEdits(!showsEdits)}
              >
                edited{edits.length > 1 ? ` ${edits.length}×` : ""}
              </button>
            )}
            {isChannel && message.stat != null ? <span>{message.stat.views} views</span> : null}
            <time dateTime={new Date(message.timestamp).toISOString()} title={preciseTime(message.timestamp)}>
              {timeOf(message.timestamp)}
            </time>
          </span>
          {showsEdits ? <Edits item={item} pane={pane} /> : null}
        </div>
        {isRemoved ? null : <Keyboard attachments={attachments} target={{ mid: item.mid, user_id: person }} />}
        {isChannel && !isRemoved ? (
          <button type="button" class="comments-link" onClick={() => (pane.post.value = item.mid)}>
            {comments === undefined || comments === 0 ? "Comment" : `${comments} comment${comments === 1 ? "" : "s"}`}
          </button>
        ) : null}
      </div>
      <div class="message-menu">
        <button
          type="button"
          class="quiet"
          tabIndex={-1}
          aria-label="What can be done with the message"
          aria-haspopup="menu"
          onClick={() => setMenuOpen(true)}
        >
          <Icon name="more" />
        </button>
        {isMenuOpen ? (
          <Menu
            label="Message"
            items={messageItems(pane, item, person, () => setShowsEdits(true))}
            onClose={() => setMenuOpen(false)}
          />
        ) : null}
      </div>
    </article>
  )
}

/** One message. */
export const Bubble = memo(Bubble_)
