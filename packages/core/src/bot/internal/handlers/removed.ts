import * as Effect from "effect/Effect"
import * as Answers from "../../../endpoints/Answers.ts"
import * as Handler from "../../../inbox/Handler.ts"
import type { Of } from "../../../model/Update.ts"
import { withoutKeyboard } from "./keyboard.ts"

/** A text, or a function that returns one for an update. */
export type Notification = string | ((update: Of<"message_callback">) => string)

/** Answers the buttons of a part that the program no longer has by a notification, and removes the keyboard. */
export const makeRemoved = (isPayload: (payload: string) => boolean, notification: Effect.Effect<Notification>) =>
  Handler.on("message_callback", (update) => {
    const { payload } = update.callback
    if (payload == null || !isPayload(payload)) return undefined
    const message = withoutKeyboard(update.message)
    return Effect.flatMap(notification, (text) =>
      Answers.answer(update, { notification: typeof text === "string" ? text : text(update), message })
    )
  })
