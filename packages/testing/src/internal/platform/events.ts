import type { PersonEvent } from "../../Person.ts"
import type { ChatState } from "./model.ts"
import type { PlatformState } from "./state.ts"

/** Lets the people who are in a chat now hear what a bot does there; a notification is for one of them alone. */
export const recordEvent = (state: PlatformState, chat: ChatState, heard: PersonEvent): void => {
  const audience = heard._tag === "Notification" ? new Set([heard.user_id]) : chat.memberIds
  state.events.append({ event: heard, audience })
}
