/**
 * Rehearsals: what a program would do with data that an earlier program has stored, such as a conversation that waits for an answer.
 * `colloquy check-deploy` rehearses everything that is stored, before a deploy.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { ChatId } from "../model/Recipient.ts"
import { encode, type Update } from "../model/Update.ts"
import type { UserId } from "../model/User.ts"
import { stringify } from "../base/internal/json.ts"
import type { Part } from "./Handler.ts"
import { Inbox } from "./Inbox.ts"
import { Changes } from "./internal/consumer/changes.ts"
import { CurrentUpdate, type HandledUpdate } from "./internal/consumer/currentUpdate.ts"
import { CurrentRehearsal, predictionOf, statesKey } from "./internal/rehearsal.ts"
import { toTarget } from "./internal/timers/change.ts"
import type { Row } from "./InboxStore.ts"
import * as QueuedUpdate from "./QueuedUpdate.ts"

/**
 * The prediction for stored data: what a program would do when the next update of the data arrives.
 *
 * | outcome | meaning |
 * |---|---|
 * | `continues` | The data are as the program expects them. |
 * | `asks` | A conversation asks a question, or asks a question again. |
 * | `sleeps` | A conversation begins a sleep. |
 * | `runs` | A conversation runs a step. The next operation depends on the result of the step. |
 * | `moves` | A scene goes to another state, by its `onStale`. |
 * | `ends` | A conversation or a scene ends. |
 * | `restarts` | A conversation begins again, by its `onVersion`. |
 * | `outdated` | A conversation ends with the text `outdated`, or a press of a menu is answered as out of date. |
 * | `stale` | The data cannot be read. |
 * | `unhandled` | No part handles the data. |
 * | `newer` | A newer program wrote the data, so they wait for this program. |
 * | `fails` | The handler fails, so the update becomes a dead letter. |
 * | `unknown` | The rehearsal lacks a service, or a call outside of a step failed. |
 *
 * @category models
 * @since 0.1.0
 */
export interface Prediction {
  readonly outcome:
    | "continues"
    | "asks"
    | "sleeps"
    | "runs"
    | "moves"
    | "ends"
    | "restarts"
    | "outdated"
    | "stale"
    | "unhandled"
    | "newer"
    | "fails"
    | "unknown"
  /** The question, the sleep, the step or the state, or the reason. */
  readonly detail?: string | undefined
}

/** The changes of a rehearsal are not stored. */
const attemptOf = (inbox: Inbox["Service"], value: Update): HandledUpdate => {
  const update = QueuedUpdate.fromStored({
    fingerprint: QueuedUpdate.fingerprintOf(value),
    partitionKey: "",
    receivedAt: 0,
    text: stringify(encode(value))
  })
  return { changes: new Changes({ value, inbox, entry: { id: "0", update } }, { isOver: false }) }
}

/**
 * Returns what a part would do with an update, if this depends on data that an earlier program has made. Nothing is stored or sent, and
 * handlers do not run:
 *
 * - The value of a timer and the payload of a button are decoded.
 * - For the timer of a conversation or a scene, see {@link rehearseStored}.
 *
 * `undefined`: the part does not rehearse such updates.
 *
 * @category rehearsals
 * @since 0.1.0
 */
export const rehearse = (
  part: Pick<Part, "handle">,
  update: Update
): Effect.Effect<Prediction | undefined, never, Inbox> =>
  Effect.flatMap(Inbox, (inbox) => {
    let prediction: Prediction | undefined
    const conclude = (concluded: Prediction): void => void (prediction = concluded)
    // The services of the handlers of the bot are those of the caller. If one is missing, the outcome is `unknown`.
    const handled = part.handle(update) as Effect.Effect<unknown, unknown> | undefined
    return (handled ?? Effect.void).pipe(
      Effect.provideService(CurrentUpdate, attemptOf(inbox, update)),
      Effect.provideService(CurrentRehearsal, conclude),
      Effect.exit,
      Effect.map((exit) => prediction ?? (Exit.isFailure(exit) ? predictionOf(exit.cause) : undefined))
    )
  })

/**
 * Returns what a conversation or a scene would do with its stored value of a chat or a user, when the next update arrives. Nothing is
 * stored or sent. The function of a conversation runs, up to the first question, sleep or step without a result. Steps do not run;
 * code outside of steps does, and needs its services.
 *
 * `undefined`: nothing is stored.
 *
 * **Example** (The conversation of a user)
 *
 * ```ts
 * import { type Chat, Conversation, Rehearsal, type User } from "@colloquy/core"
 * import { Effect } from "effect"
 *
 * const Feedback = Conversation.make("feedback", { of: "userInChat" }, (talk) => talk.ask("text", { say: "Well?" }))
 *
 * const predict = (chat_id: Chat.ChatId, user_id: User.UserId) =>
 *   Effect.forEach(Feedback.parts ?? [], (part) => Rehearsal.rehearseStored(part, { chat_id, user_id }))
 * ```
 *
 * @category rehearsals
 * @since 0.1.0
 */
export const rehearseStored = (
  part: Pick<Part, "handle" | "timer">,
  { chat_id, user_id }: { readonly chat_id?: ChatId | undefined; readonly user_id?: UserId | undefined }
): Effect.Effect<Prediction | undefined, never, Inbox> =>
  rehearse(part, {
    update_type: "colloquy_timer",
    timestamp: 0,
    name: part.timer ?? "",
    key: "",
    value: "null",
    ...toTarget({ chat_id, user_id })
  })

/**
 * A state of a program, which is no part of the bot.
 *
 * @category models
 * @since 0.1.0
 */
export interface RehearsedState {
  readonly name: string
  /** Returns whether the program can read a stored value of the state. */
  readonly rehearse: (stored: Pick<Row, "text" | "expiresAt">, scope: string) => Effect.Effect<Prediction>
}

/**
 * Returns the list to which every state is added that is made after the first call, by any copy of the library in this process. For
 * tools that import the modules of a program afterwards.
 *
 * @category rehearsals
 * @since 0.1.0
 */
export const collectStates = (): ReadonlyArray<RehearsedState> => {
  const known: unknown = Reflect.get(globalThis, statesKey)
  if (Array.isArray(known)) return known
  const states: Array<RehearsedState> = []
  Reflect.set(globalThis, statesKey, states)
  return states
}
