import { State, Timer } from "@colloquy/core"
import * as Schema from "effect/Schema"

/** Presses of a chat. */
export const InChat = State.make("in_chat", Schema.Int, { of: "chat", initial: () => 0 })

/** Presses of a user, who presses in several chats at once. */
export const OfUser = State.make("of_user", Schema.Int, { of: "user", initial: () => 0 })

/** Timers of a chat that were handled. */
export const Rung = State.make("rung", Schema.Int, { of: "chat", initial: () => 0 })

/** Sends a message for the number of a press. */
export const Ring = Timer.make("ring", Schema.Int)
