import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Schema from "effect/Schema"
import { hashText } from "../../../model/internal/hashText.ts"
import { fingerprintOf } from "../../../inbox/QueuedUpdate.ts"
import * as State from "../../../bot/State.ts"
import type { Update } from "../../../model/Update.ts"
import type { Pressed } from "./location.ts"

const maxPresses = 100

/** 32 bits, so that two displays of a button in one message rarely have the same nonce. */
const nonceLength = 8

/** The last presses in a chat of buttons that count only once. */
const Presses = State.make("colloquy_menu", Schema.Array(Schema.String), {
  of: "chat",
  initial: () => [],
  onStale: "initial",
  expireAfter: "7 days"
})

/**
 * Identifies one display of a page. The nonce is the same in each attempt to handle an update, so that a message is
 * sent once.
 */
export const nonceOf = (update: Update | undefined): Effect.Effect<string> =>
  update === undefined
    ? Effect.map(Random.nextIntBetween(0, 2 ** 31), (value) => value.toString(36))
    : Effect.sync(() => hashText(fingerprintOf(update)).slice(0, nonceLength))

const idOf = (message_id: string, { do: [, ...what], n }: Pressed) => JSON.stringify([message_id, n ?? "", ...what])

/** Whether a button that counts once was pressed before, since the button was shown. */
export const wasPressed = (message_id: string, pressed: Pressed) =>
  pressed.n === undefined
    ? Effect.succeed(false)
    : Effect.map(Presses.get, (presses) => presses.includes(idOf(message_id, pressed)))

/** Records the press of a button that counts once. */
export const rememberPress = (message_id: string, pressed: Pressed) =>
  Presses.update((presses) => [...presses, idOf(message_id, pressed)].slice(-maxPresses))
