import { useComputed, useSignal } from "@preact/signals"
import { memo } from "preact/compat"
import { useEffect, useLayoutEffect, useRef } from "preact/hooks"
import { Button } from "../parts/Button.tsx"
import type { ChatLog, Chunk } from "../chatLog.ts"
import { focusMessage } from "../parts/focusMessage.ts"
import { dayOf } from "../parts/format.ts"
import { Icon } from "../parts/Icon.tsx"
import { act, chats, type Pane } from "../store.ts"
import type { Shown } from "../types.ts"
import { Bubble } from "./Bubble.tsx"
import { Notes } from "./Notes.tsx"

/** The assumed height of a message that was not rendered yet, in pixels. */
const assumedHeight = 68

const isSameAuthor = (a: Shown | undefined, b: Shown): boolean =>
  a !== undefined &&
  a.message.sender?.user_id === b.message.sender?.user_id &&
  b.message.timestamp - a.message.timestamp < 300_000 &&
  dayOf(a.message.timestamp) === dayOf(b.message.timestamp)

interface ChunkProps {
  readonly chunk: Chunk
  readonly previous: Chunk | undefined
  readonly next: Chunk | undefined
  readonly isLast: boolean
  readonly log: ChatLog
  readonly pane: Pane
  readonly person: number
  readonly onJump: (mid: string) => void
}

/** Renders its messages only near the screen. Elsewhere, an empty element has their last height. */
const ChunkView = memo(({ chunk, isLast, log, next, onJump, pane, person, previous }: ChunkProps) => {
  const element = useRef<HTMLDivElement>(null)
  const isNear = useSignal(isLast)
  const height = useRef(0)
  useEffect(() => {
    const observer = new IntersectionObserver(
      ([entry]) => {
        if (!entry.isIntersecting && element.current !== null && isNear.value)
          height.current = element.current.offsetHeight
        isNear.value = entry.isIntersecting
      },
      { root: element.current?.closest(".messages") ?? null, rootMargin: "1500px 0px" }
    )
    observer.observe(element.current!)
    return () => observer.disconnect()
  }, [])
  const items = chunk.items.value
  if (!isNear.value && !isLast) {
    const reserved = height.current || items.length * assumedHeight
    return <div ref={element} class="chunk" style={{ height: `${reserved}px` }} />
  }
  const pinned = chats.value.get(log.chat_id)?.pinned
  const before = previous?.items.value.at(-1)
  const after = next?.items.value[0]
  const notes = log.notes.value
  const notesBetween = (a: Shown | undefined, b: Shown | undefined) =>
    notes.filter(({ at }) => at >= (a?.message.timestamp ?? 0) && at < (b?.message.timestamp ?? Infinity))
  return (
    <div ref={element} class="chunk">
      {before === undefined ? <Notes notes={notesBetween(undefined, items[0])} onJump={onJump} /> : null}
      {items.map((item, index) => {
        const last = index === 0 ? before : items[index - 1]
        const isNewDay = last === undefined || dayOf(last.message.timestamp) !== dayOf(item.message.timestamp)
        return [
          isNewDay ? (
            <div class="day" key={`day ${item.mid}`}>
              <span>{dayOf(item.message.timestamp)}</span>
            </div>
          ) : null,
          <Bubble
            key={item.mid}
            item={item}
            pane={pane}
            person={person}
            isContinued={isSameAuthor(last, item)}
            isPinned={pinned === item.mid}
            comments={log.commentCounts.value.get(item.mid)}
            onJump={onJump}
          />,
          notes.length === 0 ? null : (
            <Notes key={`notes ${item.mid}`} notes={notesBetween(item, items[index + 1] ?? after)} onJump={onJump} />
          )
        ]
      })}
    </div>
  )
})

/** Tells the emulator once that a person viewed the posts of a channel. */
const viewed = new Set<string>()

const viewPosts = (log: ChatLog, person: number): void => {
  if (chats.value.get(log.chat_id)?.chat.type !== "channel") return
  for (const { isRemoved, mid } of log.chunks.value.at(-1)?.items.value ?? []) {
    const key = `${person} ${mid}`
    if (isRemoved || viewed.has(key)) continue
    viewed.add(key)
    void act("view", { user_id: person as never, message_id: mid as never })
  }
}

/** Moves the focus between messages with the arrow keys. */
const moveFocus = (list: HTMLElement, event: KeyboardEvent): void => {
  if (event.key !== "ArrowUp" && event.key !== "ArrowDown") return
  if (!(event.target instanceof HTMLElement) || event.target.closest(".menu")) return
  const all = [...list.querySelectorAll<HTMLElement>("article.message")]
  const index = all.findIndex((each) => each === event.target || each.contains(event.target as Node))
  const next = index < 0 ? all.at(-1) : all[index + (event.key === "ArrowUp" ? -1 : 1)]
  if (next === undefined) return
  event.preventDefault()
  next.focus({ preventScroll: true })
  next.scrollIntoView({ block: "nearest" })
}

/** The messages of a chat. A list at its end follows new messages. */
export const Messages = ({ log, pane, person }: Pick<ChunkProps, "log" | "pane" | "person">) => {
  const list = useRef<HTMLDivElement>(null)
  const isAtEnd = useSignal(true)
  /** The number of new messages below the visible ones. */
  const missed = useSignal(0)
  const known = useRef<number | undefined>(undefined)
  const total = useComputed(() => log.chunks.value.reduce((sum, { items }) => sum + items.value.length, 0))

  useEffect(() => {
    void log.load()
  }, [log, log.status.value === "new"])

  const toEnd = () => {
    const { current } = list
    if (current !== null) current.scrollTop = current.scrollHeight
  }

  useLayoutEffect(() => {
    const added = known.current === undefined ? 0 : total.value - known.current
    known.current = log.status.value === "loaded" ? total.value : undefined
    const isOwn = ({ message }: Shown) => message.sender?.user_id === person
    if (added > 0 && log.last(added).some(isOwn)) isAtEnd.value = true
    if (isAtEnd.peek()) toEnd()
    else if (added > 0) missed.value += added
    viewPosts(log, person)
  }, [total.value, log, log.status.value, person])

  useLayoutEffect(() => {
    if (isAtEnd.value) missed.value = 0
  }, [isAtEnd.value])

  useLayoutEffect(() => {
    if (isAtEnd.peek()) toEnd()
  }, [log.notes.value])

  // Keyboards, images and edits change the height without a new message.
  useEffect(() => {
    const observer = new ResizeObserver(() => {
      if (isAtEnd.peek()) toEnd()
    })
    if (list.current?.firstElementChild != null) observer.observe(list.current.firstElementChild)
    observer.observe(list.current!)
    return () => observer.disconnect()
  }, [log])

  const jump = (mid: string) => {
    const index = log.indexOfChunk(mid)
    if (index < 0) return
    isAtEnd.value = false
    list.current?.querySelectorAll(".chunk")[index]?.scrollIntoView()
    const show = (tries: number): void => {
      if (!focusMessage(mid, list.current) && tries > 0) requestAnimationFrame(() => show(tries - 1))
    }
    show(20)
  }

  const size = useRef("")
  const onScroll = () => {
    const { clientHeight, clientWidth, scrollHeight, scrollTop } = list.current!
    const now = `${clientWidth} ${clientHeight} ${scrollHeight}`
    // A change of the size scrolls too, which is not the person's doing.
    const isResized = size.current !== now
    size.current = now
    if (isResized && isAtEnd.peek()) return toEnd()
    isAtEnd.value = scrollHeight - scrollTop - clientHeight < 40
  }

  const chunks = log.chunks.value
  return (
    <div class="messages-frame">
      <div
        class="messages"
        ref={list}
        onScroll={onScroll}
        tabIndex={0}
        role="group"
        aria-label="Messages: the arrow keys move, Enter opens the menu of a message"
        onKeyDown={(event) => moveFocus(event.currentTarget, event)}
      >
        <div class="messages-inner">
          {log.status.value === "loading" ? <p class="empty">Reading the messages…</p> : null}
          {log.status.value === "failed" ? (
            <p class="empty">
              The messages cannot be read. <Button onClick={() => void log.load()}>Try again</Button>
            </p>
          ) : null}
          {log.status.value === "loaded" && chunks.length === 0 ? (
            <>
              <Notes notes={log.notes.value} onJump={jump} />
              <p class="empty">There are no messages yet.</p>
            </>
          ) : null}
          {log.isCut.value ? <p class="note">Older messages are not shown.</p> : null}
          {chunks.map((chunk, index) => (
            <ChunkView
              key={chunk.id}
              chunk={chunk}
              previous={chunks[index - 1]}
              next={chunks[index + 1]}
              isLast={index >= chunks.length - 2}
              log={log}
              pane={pane}
              person={person}
              onJump={jump}
            />
          ))}
        </div>
      </div>
      {isAtEnd.value ? null : (
        <Button
          class="to-end"
          aria-label={`Go to the newest message${missed.value === 0 ? "" : `, ${missed.value} new`}`}
          onClick={() => {
            isAtEnd.value = true
            toEnd()
          }}
        >
          <Icon name="down" />
          {missed.value === 0 ? null : <span class="badge">{missed.value}</span>}
        </Button>
      )}
    </div>
  )
}
