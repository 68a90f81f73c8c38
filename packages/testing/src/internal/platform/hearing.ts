import type { Heard, Room } from "./model.ts"
import type { World } from "./world.ts"

/** Lets the people who are in a chat now hear what a bot does there; a notification is for one of them alone. */
export const tell = (world: World, room: Room, heard: Heard): void => {
  const audience = heard._tag === "Notification" ? new Set([heard.user_id]) : room.people
  world.heard.append({ heard, audience })
}
