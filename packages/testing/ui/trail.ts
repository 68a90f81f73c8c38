import type { EmulatorEvent, EventOf } from "./types.ts"

const kept = ["message", "edited", "removed", "comment", "press", "answer", "chat", "member", "clock"] as const

/** The events of conversations, from which a test is written. */
export type TrailEvent = EventOf<(typeof kept)[number]>

const isKept = (event: EmulatorEvent): event is TrailEvent => kept.some((type) => type === event.type)

const maxKept = 20_000

let trail: Array<TrailEvent> = []

export const remember = (event: EmulatorEvent): void => {
  if (event.type === "reset") trail = []
  else if (isKept(event)) trail.push(event)
  if (trail.length > maxKept) trail = trail.slice(maxKept / 2)
}

/** The events of a chat, and the moves of the clock. */
export const trailOf = (chat_id: number): ReadonlyArray<TrailEvent> =>
  trail.filter((event) => event.type === "clock" || ("chat_id" in event && event.chat_id === chat_id))
