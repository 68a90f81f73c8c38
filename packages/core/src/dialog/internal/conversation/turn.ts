import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type * as Schema from "effect/Schema"
import * as Answers from "../../../endpoints/Answers.ts"
import * as Handler from "../../../inbox/Handler.ts"
import { Inbox } from "../../../inbox/Inbox.ts"
import type { Prediction } from "../../../inbox/Rehearsal.ts"
import { CurrentUpdate } from "../../../inbox/internal/consumer/currentUpdate.ts"
import * as Messages from "../../../endpoints/Messages.ts"
import type { ChatId, MessageId } from "../../../model/Recipient.ts"
import type { State } from "../../../bot/State.ts"
import type { NoParticipant, Options, Policy, Talk, Texts, Unanswered } from "../../Conversation.ts"
import type { Timer } from "../../../bot/Timer.ts"
import * as Update from "../../../model/Update.ts"
import type { UserId } from "../../../model/User.ts"
import { stringify } from "../../../base/internal/json.ts"
import { writeNow } from "../../../bot/internal/state/access.ts"
import { defect } from "../../../base/internal/defect.ts"
import type { Record, Waiting } from "./record.ts"
import type { Event } from "./event.ts"
import { type Beginning, Run } from "./run.ts"
import { type Defaults, makeTalk } from "./talk.ts"
import { makeStoring } from "./storing.ts"
import { ofCurrent } from "./unfinished.ts"

/** The meaning of a timer of a conversation: the run that set the timer, and the due time. */
export type Due = readonly [run: string, until: number]

/** A conversation without its types. */
export interface Conversation extends Defaults {
  readonly name: string
  readonly version: number
  /** The handling of a conversation of another version. */
  readonly onVersion: (from: number) => Policy
  /** The handling of a start while the conversation runs. */
  readonly ifRunning: NonNullable<Options["ifRunning"]>
  readonly state: State<Record | undefined, "chat" | "userInChat">
  readonly timer: Timer<Due>
  readonly texts: Partial<Texts>
  readonly noParticipant: (update_type?: string) => NoParticipant
  readonly unanswered: (question: string) => Unanswered
  readonly isUnanswered: (error: unknown) => boolean
  body(talk: Talk, input: unknown): Effect.Effect<unknown, unknown, unknown>
  readonly decodeInput: (stored: Schema.Json | undefined) => Effect.Effect<unknown, unknown>
  readonly encodeInput: (input: unknown) => Effect.Effect<Schema.Json | undefined, unknown>
  onDone(result: unknown, update: Place["update"]): Effect.Effect<unknown, unknown, unknown>
}

/** Where a turn takes place, and the update that is being handled. */
export interface Place {
  readonly conversation: Conversation
  readonly chat_id: ChatId
  /** The user of a conversation of a user in a chat. */
  readonly owner: UserId | undefined
  readonly texts: Texts
  readonly update: Update.Repliable
}

/** More of these would never end. */
const maxRounds = 1000

/** The key of the timer of a conversation. The timers of different users in a chat have different keys. */
export const timerKeyOf = (owner: UserId | undefined) => (owner === undefined ? {} : { key: String(owner) })

/**
 * Sets or cancels the timer, so that the timer belongs to the operation that waits. The timer of a conversation that
 * was stored while an update was handled is not known. The timer of a chat belongs to no user, so that the timer stays
 * when a user is forgotten.
 */
const setTimer = Effect.fnUntraced(
  function* (at: Place, before: Record | undefined, after: Record | undefined) {
    const { chat_id, conversation, owner, update } = at
    const until = after?.waiting?.until
    // The timer that is being handled is not set any more.
    const isSet = until === undefined || update.update_type !== "colloquy_timer"
    const isKnown = before?.unfinished === undefined && isSet
    if (isKnown && until === before?.waiting?.until && before?.run === after?.run) return
    const { inbox } = (yield* CurrentUpdate)!.changes!
    const timers = conversation.timer.for({ chat_id, user_id: owner })
    const now = yield* Clock.currentTimeMillis
    const change =
      until === undefined
        ? timers.cancel(timerKeyOf(owner))
        : timers.in(Duration.millis(Math.max(0, until - now)), [after!.run, until], timerKeyOf(owner))
    return yield* Effect.provideService(change, Inbox, inbox)
  },
  Effect.catchTag("InvalidTimer", Effect.die)
)

/** Answers the press of a button that does nothing any more. */
export const notify = (update: Update.Of<"message_callback">, text: string) =>
  Effect.catch(Answers.answer(update, text), (error) =>
    Effect.logDebug(`A callback of a conversation was not answered: ${error.message}`)
  )

/** Removes the buttons of a message that waits for nothing any more. Its other attachments stay. */
export const removeButtons = ({ attachments = [], message }: Pick<Waiting, "attachments" | "message"> = {}) =>
  message === undefined
    ? Effect.void
    : Effect.catch(Messages.edit({ message_id: message as MessageId, attachments }), (error) =>
        Effect.logDebug(`The buttons of a conversation were not removed: ${error.message}`)
      )

/** Ends a conversation. The stored data of the conversation is deleted. */
export const end = Effect.fnUntraced(
  function* (at: Place, record: Record, buttons: Waiting | undefined) {
    yield* removeButtons(buttons)
    yield* removeButtons(record.again)
    yield* setTimer(at, record, undefined)
    yield* at.conversation.state.clear
  },
  Effect.catchTag("NoStateKey", Effect.die)
)

export const save = Effect.fnUntraced(
  function* (at: Place, before: Record | undefined, after: Record) {
    yield* setTimer(at, before, after)
    yield* at.conversation.state.set(after)
  },
  Effect.catchTag(["NoStateKey", "InvalidState"], Effect.die)
)

/** Stores where a conversation is while its update is being handled. */
const storeNow = Effect.fnUntraced(function* ({ state }: Conversation, record: Record, isTaken: boolean) {
  const current = yield* ofCurrent
  if (current === undefined) return
  yield* state.set({ ...record, unfinished: { ...current, isTaken } })
  yield* writeNow(state.name, state.of)
}, Effect.orDie)

/** Forgets an answer and all later results. */
const cut = (
  { kept: _kept, said: _said, unfinished: _unfinished, waiting: _waiting, ...record }: Record,
  to: string | undefined
): Record => {
  const { entries } = record
  const index =
    to === undefined
      ? entries.findLastIndex(([, outcome]) => outcome !== "result" && outcome !== "done")
      : entries.findIndex(([name]) => name === to)
  const kept = entries.slice(0, Math.max(0, index))
  const steps = entries.slice(kept.length).flatMap(([name, outcome]) => (outcome === "result" ? [name] : []))
  if (steps.length === 0) return { ...record, entries: kept }
  const forgotten = { ...record.forgotten }
  for (const step of steps) forgotten[step] = (forgotten[step] ?? 0) + 1
  return { ...record, entries: kept, forgotten }
}

const isUnanswered = (conversation: Conversation, exit: Exit.Exit<unknown, unknown>): boolean =>
  exit._tag === "Failure" &&
  exit.cause.reasons.length > 0 &&
  exit.cause.reasons.every((reason) => Cause.isFailReason(reason) && conversation.isUnanswered(reason.error))

/** A conversation ends although its user has stopped the bot. */
const sayUnanswered = ({ chat_id, texts }: Place) =>
  texts.unanswered === ""
    ? Effect.void
    : Effect.catchTag(Messages.send({ chat_id, text: texts.unanswered }), ["Forbidden", "NotFound"], ({ message }) =>
        Effect.logDebug(`The end of a conversation was not sent: ${message}`)
      )

/** Keeps the answer to a question that the code does not reach yet. */
const keep = ({ event, kept }: Run, before: Record): Run["kept"] =>
  event?._tag === "Message" && before.waiting !== undefined && before.waiting.signature !== "sleep"
    ? { name: before.waiting.name, update: stringify(Update.encode(event.update)) }
    : kept

/** Whether a run has taken the answer of a person, so that the person cannot answer again. */
const hasTaken = (event: Event | undefined, { beginning, event: rest, isChanged }: Run): boolean =>
  (event?._tag === "Message" || event?._tag === "Press") && rest === undefined && (isChanged || beginning.isBack)

/**
 * Runs the body of a conversation until the body waits or ends. A body that leads back begins again, without the
 * answers that it forgets.
 */
const runBody = Effect.fnUntraced(function* (
  at: Place,
  record: Record,
  input: unknown,
  beginning: Omit<Beginning, "isBack"> & { readonly event: Event | undefined }
) {
  const { conversation } = at
  let begin = record
  let { event } = beginning
  for (let round = 1; round <= maxRounds; round++) {
    const run = new Run(at, begin, event, { ...beginning, isBack: round > 1 })
    const exit = yield* run.body.execute(
      Effect.tap(
        Effect.suspend(() => conversation.body(makeTalk(run, conversation, ""), input)),
        () => run.begin
      )
    )
    if (exit !== undefined || run.body.pause?._tag !== "Back") return { begin, exit, run }
    if (run.beginning.rehearse === undefined) yield* removeButtons(run.buttons)
    begin = cut(run.next, run.body.pause.to)
    event = run.event
    beginning.storing.changed()
  }
  return yield* defect(`The body of the conversation "${conversation.name}" leads back to itself forever.`)
})

/**
 * Runs the body of a conversation until the body waits or ends, and stores the record. `before` is the stored record,
 * and `record` the record at the start of the run.
 */
export const turn = Effect.fnUntraced(function* (
  at: Place,
  before: Record | undefined,
  record: Record,
  event: Event | undefined
) {
  const { conversation, texts, update } = at
  const { name, state } = conversation
  const input = yield* Effect.result(conversation.decodeInput(record.input))
  if (input._tag === "Failure") {
    yield* Effect.logWarning(`The input of the conversation "${name}" cannot be read, so the conversation ends.`)
    yield* Messages.send({ chat_id: at.chat_id, text: texts.outdated })
    return yield* end(at, record, record.waiting)
  }
  const isMarked = before?.unfinished !== undefined && before.unfinished.id === (yield* ofCurrent)?.id
  const write = (record: Record, isTaken: boolean) => storeNow(conversation, record, isTaken)
  const storing = makeStoring({ before, isMarked, write }, record)
  const isRepeated = (yield* Handler.CurrentAttempt) > 1
  const { begin, exit, run } = yield* runBody(at, record, input.success, { event, isRepeated, storing })
  if (exit !== undefined && exit._tag === "Failure" && !isUnanswered(conversation, exit)) {
    if (hasTaken(event, run)) yield* storing.mark
    return yield* exit
  }
  if (run.event?._tag === "Press") yield* notify(run.event.update, texts.late)
  if (exit === undefined) {
    const isDeclined = run.body.pause?._tag === "Declined"
    if (!isDeclined) {
      run.kept = keep(run, record)
      // The code has left the question that had these buttons.
      if (run.waiting?.message !== run.buttons?.message) yield* removeButtons(run.buttons)
    }
    const isSame = begin === before && begin.unfinished === undefined && run.kept === begin.kept
    if (run.isChanged || !isSame) yield* save(at, before, run.next)
    return isDeclined ? yield* Handler.notHandled : undefined
  }
  yield* end(at, before ?? record, run.buttons)
  if (exit._tag === "Failure") return yield* sayUnanswered(at)
  return yield* Effect.tapCause(conversation.onDone(exit.value, update), (cause) =>
    hasTaken(event, run) && !Cause.hasInterruptsOnly(cause)
      ? Effect.andThen(storing.mark, Effect.orDie(state.clear))
      : Effect.void
  )
})

/** Predicts what happens with a stored conversation when its next update arrives. */
export const rehearse = Effect.fnUntraced(function* (
  at: Place,
  record: Record
): Effect.fn.Return<Prediction, unknown, unknown> {
  const { conversation } = at
  const { onVersion, version } = conversation
  const policy = record.version === version ? "continue" : onVersion(record.version)
  if (policy !== "continue") {
    const outcome = policy === "end" ? "outdated" : "restarts"
    return { outcome, detail: `version ${record.version} became ${version}` }
  }
  const input = yield* Effect.result(conversation.decodeInput(record.input))
  if (input._tag === "Failure") return { outcome: "outdated", detail: "the input cannot be read" }
  let prediction: Prediction | undefined
  const { exit } = yield* runBody(at, { ...record, version }, input.success, {
    event: undefined,
    isRepeated: false,
    storing: makeStoring({ before: undefined, isMarked: false, write: () => Effect.void }, record),
    rehearse: (first) => void (prediction ??= first)
  })
  if (prediction !== undefined) return prediction
  if (exit?._tag === "Failure" && !isUnanswered(conversation, exit)) return yield* Effect.failCause(exit.cause)
  return { outcome: "ends" }
})
