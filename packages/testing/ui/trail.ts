import type { EmulatorEvent, EventOf } from "./types.ts"

/** The events of conversations, from which a test is written. */
type TrailEvent = EventOf<
  "message" | "edited" | "removed" | "comment" | "press" | "answer" | "chat" | "member" | "clock" | "reset"
>

const kept = new Set<EmulatorEvent["type"]>([
  "message",
  "edited",
  "removed",
  "comment",
  "press",
  "answer",
  "chat",
  "member",
  "clock"
])

const maxKept = 20_000

let trail: Array<TrailEvent> = []

export const remember = (event: EmulatorEvent): void => {
  if (event.type === "reset") trail = []
  else if (kept.has(event.type)) trail.push(event as TrailEvent)
  if (trail.length > maxKept) trail = trail.slice(maxKept / 2)
}

/** The events of a chat, and the moves of the clock. */
export const trailOf = (chat_id: number): ReadonlyArray<TrailEvent> =>
  trail.filter((event) => event.type === "clock" || ("chat_id" in event && event.chat_id === chat_id))

export type { TrailEvent }
