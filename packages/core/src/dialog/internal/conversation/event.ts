import type * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { Content } from "../../Conversation.ts"
import type * as Update from "../../../model/Update.ts"
import type { Press } from "./payload.ts"

/** The event that a conversation receives. The operation that waits takes the event. */
export type Event =
  | { readonly _tag: "Message"; readonly update: Update.Of<"message_created"> }
  | { readonly _tag: "Press"; readonly update: Update.Of<"message_callback">; readonly press: Press }
  | { readonly _tag: "Timeout" }
  /** The question that waits is asked again. */
  | { readonly _tag: "Repeat" }

/** Why a run of the body ended before its end. */
export type Pause =
  | { readonly _tag: "Waiting" }
  /** The operation that waits does not take the update. */
  | { readonly _tag: "Declined" }
  | { readonly _tag: "Back"; readonly to: string | undefined }

export const toBody = (content: Content): Exclude<Content, string> =>
  typeof content === "string" ? { text: content } : content

/** Whether an effect is known to succeed before running. */
export const isSuccess = (effect: Effect.Effect<unknown, unknown, unknown>): boolean =>
  Exit.isExit(effect) && Exit.isSuccess(effect)
