import type { PersonEvent } from "../../Person.ts"
import type { ChatState, PlatformState } from "./state.ts"

/** Records what a bot did, for those who are in the chat now; a notification is for one person. */
export const recordEvent = (state: PlatformState, chat: ChatState, event: PersonEvent): void => {
  const audience = event._tag === "Notification" ? new Set([event.user_id]) : chat.memberIds
  state.events.append({ event, audience })
}
