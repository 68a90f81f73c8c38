import type { Inbox } from "@colloquy/core"
import { ChatId } from "@colloquy/core/model/Chat"
import * as Effect from "effect/Effect"
import { Ring } from "./kept.ts"
import { users } from "./options.ts"
import { press } from "./presses.ts"

/** What the bots handle, and whether they may read the chats. */
export interface Scenario {
  /** `presses`: each sends three messages, and sets a timer that sends one. `timers`: timers alone, each sends one. */
  readonly of: "presses" | "timers"
  readonly count: number
  readonly role: "member" | "administrator"
}

/** Timers are due at random times of this period. */
const timersWithin = 20_000

/** Stores what the bots handle. */
export const fill = ({ count, of }: Scenario, ids: ReadonlyArray<number>): Effect.Effect<void, unknown, Inbox.Inbox> =>
  of === "presses"
    ? press(count, ids, users)
    : Effect.forEach(
        Array.from({ length: count }),
        (_, index) =>
          Ring.for({ chat_id: ChatId.make(ids[index % ids.length]) }).in(Math.random() * timersWithin, index, {
            key: String(index)
          }),
        { concurrency: 100, discard: true }
      )
