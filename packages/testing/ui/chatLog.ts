import { type Signal, signal } from "@preact/signals"
import { call } from "./api.ts"
import type { EmulatorEvent, EventOf, Message, Shown } from "./types.ts"

/** Some consecutive messages. A change of a message renders only its chunk. */
export interface Chunk {
  readonly id: number
  readonly items: Signal<ReadonlyArray<Shown>>
}

const chunkSize = 40

export const midOf = (message: Message): string => message.body?.mid ?? ""

/** The position of a message, which the last 16 digits of its id contain. */
const orderOf = (mid: string): string => mid.slice(-16)

const byOrder = (a: Shown, b: Shown): number => (orderOf(a.mid) < orderOf(b.mid) ? -1 : 1)

/** Maximum number of lines about changes of a chat. */
const maxNotes = 1000

/** Maximum number of messages that are read when a chat is opened. */
export const maxMessages = 20_000

/** A change of a chat, which leaves a line between the messages. */
export type Note = EventOf<"chat" | "member">

const noted = ["pin", "title", "description", "icon", "closed", "started", "stopped", "added", "removed"]

const isNote = (event: EmulatorEvent): event is Note =>
  (event.type === "chat" || event.type === "member") && noted.includes(event.change)

let lastChunk = 0

/** The messages of one chat, in chunks, oldest first. */
export class ChatLog {
  readonly chat_id: number
  readonly chunks = signal<ReadonlyArray<Chunk>>([])
  readonly status = signal<"new" | "loading" | "loaded" | "failed">("new")
  /** The changes of the chat, oldest first. */
  readonly notes = signal<ReadonlyArray<Note>>([])
  readonly commentCounts = signal<ReadonlyMap<string, number>>(new Map())
  readonly #chunkOf = new Map<string, Chunk>()
  #early: Array<EmulatorEvent> = []
  /** Whether there are older messages than the messages that were read. */
  readonly isCut = signal(false)
  /** The number of the last messages that are read. */
  #most = maxMessages
  /** The edits that were seen before the messages were read. */
  readonly #edits = new Map<string, Shown["edits"]>()

  constructor(chat_id: number) {
    this.chat_id = chat_id
  }

  async load(): Promise<void> {
    if (this.status.value === "loading" || this.status.value === "loaded") return
    this.status.value = "loading"
    try {
      const { comment_counts, messages, removed } = await call("listMessages", {
        chat_id: this.chat_id as never,
        count: this.#most
      })
      const shown = [
        ...messages.map((message) => this.#shown(message, false)),
        ...removed.map((message) => this.#shown(message, true))
      ].sort(byOrder)
      this.isCut.value = messages.length === this.#most
      this.#replace(shown)
      this.commentCounts.value = new Map(Object.entries(comment_counts))
      this.status.value = "loaded"
      for (const event of this.#early) this.apply(event, false)
    } catch {
      this.status.value = "failed"
    }
    this.#early = []
  }

  /** Removes all messages. A log that is shown is read again. */
  discard(count: number): void {
    this.#most = count
    this.#replace([])
    this.forgetPast()
    this.status.value = "new"
  }

  /** Removes what only events tell: the edits, and the changes of the chat. */
  forgetPast(): void {
    this.#edits.clear()
    this.notes.value = []
  }

  find(mid: string): Shown | undefined {
    return this.#chunkOf.get(mid)?.items.value.find((item) => item.mid === mid)
  }

  /** The last messages, oldest first. */
  last(count: number): ReadonlyArray<Shown> {
    const { value: chunks } = this.chunks
    return chunks
      .slice(-1 - Math.ceil(count / chunkSize))
      .flatMap(({ items }) => items.value)
      .slice(-count)
  }

  indexOfChunk(mid: string): number {
    const chunk = this.#chunkOf.get(mid)
    return chunk === undefined ? -1 : this.chunks.value.indexOf(chunk)
  }

  /** Applies an event. `isPast`: the messages that are read contain the change already. */
  apply(event: EmulatorEvent, isPast: boolean): void {
    if (isNote(event) && event.id > (this.notes.value.at(-1)?.id ?? -1))
      this.notes.value = [...this.notes.value.slice(1 - maxNotes), event]
    if (event.type === "edited") this.#addEdit(event.message, event.previous, event.at)
    if (isPast || this.status.value === "new" || this.status.value === "failed") return
    if (this.status.value === "loading") return void this.#early.push(event)
    if (event.type === "message") this.#add(event.message)
    else if (event.type === "edited")
      this.#change(midOf(event.message), (item) => ({ ...item, message: event.message }))
    else if (event.type === "removed") this.#change(event.message_id, (item) => ({ ...item, isRemoved: true }))
    else if (event.type === "comment") this.#count(event.comment.recipient.post_id, 1)
    else if (event.type === "comment_removed") this.#count(event.message_id, -1)
  }

  #shown(message: Message, isRemoved: boolean): Shown {
    const mid = midOf(message)
    return { mid, message, isRemoved, edits: this.#edits.get(mid) ?? [] }
  }

  #addEdit(message: Message, before: Message, at: number): void {
    const mid = midOf(message)
    const known = this.#edits.get(mid) ?? []
    if (known.some((edit) => edit.at === at && edit.before.body?.text === before.body?.text)) return
    const edits = [...known, { at, before }]
    this.#edits.set(mid, edits)
    this.#change(mid, (item) => ({ ...item, edits }))
  }

  #replace(shown: ReadonlyArray<Shown>): void {
    this.#chunkOf.clear()
    const chunks: Array<Chunk> = []
    for (let start = 0; start < shown.length; start += chunkSize) {
      const chunk = { id: ++lastChunk, items: signal<ReadonlyArray<Shown>>(shown.slice(start, start + chunkSize)) }
      for (const { mid } of chunk.items.value) this.#chunkOf.set(mid, chunk)
      chunks.push(chunk)
    }
    this.chunks.value = chunks
  }

  #add(message: Message): void {
    const item = this.#shown(message, false)
    if (this.#chunkOf.has(item.mid)) return this.#change(item.mid, () => item)
    const last = this.chunks.value.at(-1)
    const newest = last?.items.value.at(-1)
    // In the same process, the answer of a bot can arrive before the event of the answered message.
    const isLate = newest !== undefined && byOrder(item, newest) < 0
    if (last !== undefined && (isLate || last.items.value.length < chunkSize)) {
      this.#chunkOf.set(item.mid, last)
      last.items.value = isLate ? [...last.items.value, item].sort(byOrder) : [...last.items.value, item]
      return
    }
    const chunk = { id: ++lastChunk, items: signal<ReadonlyArray<Shown>>([item]) }
    this.#chunkOf.set(item.mid, chunk)
    this.chunks.value = [...this.chunks.value, chunk]
  }

  #change(mid: string, change: (item: Shown) => Shown): void {
    const chunk = this.#chunkOf.get(mid)
    if (chunk === undefined) return
    chunk.items.value = chunk.items.value.map((item) => (item.mid === mid ? change(item) : item))
  }

  #count(mid: string | null | undefined, by: number): void {
    if (mid == null) return
    const counts = new Map(this.commentCounts.value)
    counts.set(mid, Math.max(0, (counts.get(mid) ?? 0) + by))
    this.commentCounts.value = counts
  }
}
