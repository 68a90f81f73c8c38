import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import { withSpan } from "../../../base/internal/tracing.ts"
import * as Answers from "../../../endpoints/Answers.ts"
import { hashText } from "../../../model/internal/hashText.ts"
import * as Handler from "../../../inbox/Handler.ts"
import * as Journal from "../../../inbox/Journal.ts"
import * as Keyboard from "../../../model/Keyboard.ts"
import * as Messages from "../../../endpoints/Messages.ts"
import type { Texts } from "../../Conversation.ts"
import { MalformedTimer } from "../../../bot/Timer.ts"
import * as Update from "../../../model/Update.ts"
import type { UserId } from "../../../model/User.ts"
import { areOf, idsOf } from "../../../bot/internal/state/scopes.ts"
import { requirePart } from "../../../inbox/internal/handlers/current.ts"
import { CurrentUpdate } from "../../../inbox/internal/consumer/currentUpdate.ts"
import type { Prediction } from "../../../inbox/Rehearsal.ts"
import { belongsElsewhere, rehearsedBy } from "../../../inbox/internal/rehearsal.ts"
import { newer } from "../../../inbox/internal/consumer/newer.ts"
import { isCommand } from "./answers.ts"
import * as payload from "./payload.ts"
import type { Record } from "./record.ts"
import type { Event } from "./event.ts"
import { type Conversation, type Due, end, notify, type Place, rehearse, removeButtons, save, turn } from "./turn.ts"
import { CurrentTexts } from "./texts.ts"
import { meets } from "./unfinished.ts"

type Press = Update.Of<"message_callback">

/** 64 bits, so that two conversations of a user never have the same id. */
const idLength = 16

const placeOf = (self: Conversation, update: Update.Update) => {
  const chat_id = Update.chatOf(update)
  const user_id = Update.userIdOf(update)
  if (update.update_type === "unknown" || chat_id === undefined || user_id === undefined)
    return Effect.fail(self.noParticipant(update.update_type))
  return Effect.map(CurrentTexts, (texts): Place => ({
    conversation: self,
    chat_id,
    owner: self.state.of === "userInChat" ? user_id : undefined,
    texts: { ...texts, ...self.texts },
    update
  }))
}

/** The timer of a conversation of a chat belongs to no user. */
const placeOfTimer = (self: Conversation, update: Update.TimerUpdate, { user }: Record) =>
  placeOf(self, { ...update, user_id: update.user_id ?? user })

const stored = ({ name, noParticipant, state, version }: Conversation) =>
  Effect.flatMap(
    Effect.catchTags(state.get, {
      StaleState: Effect.die,
      NoStateKey: () => noParticipant()
    }),
    (record) =>
      record !== undefined && record.version > version
        ? newer(`The conversation "${name}"`, record.version, version)
        : Effect.succeed(record)
  )

/** How often conversations have begun in an attempt to handle an update, by their names. */
const begun = new WeakMap<object, Map<string, number>>()

/** An attempt that repeats the start has the same id, so the buttons that were sent belong to the conversation. */
const makeId = Effect.fnUntraced(function* ({ name }: Conversation) {
  const attempt = yield* CurrentUpdate
  const counts = (attempt && begun.get(attempt)) ?? new Map<string, number>()
  const count = (counts.get(name) ?? 0) + 1
  counts.set(name, count)
  if (attempt !== undefined) begun.set(attempt, counts)
  return hashText(`${yield* Journal.key} ${count} ${name}`).slice(0, idLength)
})

const begin = Effect.fnUntraced(function* (self: Conversation, user: UserId, input: Schema.Json | undefined) {
  const record: Record = {
    run: yield* makeId(self),
    version: self.version,
    user,
    startedAt: yield* Clock.currentTimeMillis,
    ...(input === undefined ? {} : { input }),
    entries: []
  }
  return record
})

/** Says that a conversation waits for an update that is a dead letter. */
const sayFailed = ({ chat_id, texts }: Place) => Effect.asVoid(Messages.send({ chat_id, text: texts.failed }))

const restart = Effect.fnUntraced(function* (at: Place, before: Record, record: Record) {
  yield* removeButtons(before.waiting)
  yield* removeButtons(before.again)
  return yield* turn(at, before, record, undefined)
})

const askWhether = Effect.fnUntraced(function* (at: Place, record: Record, input: Schema.Json | undefined) {
  const { chat_id, conversation, owner: user, texts } = at
  yield* removeButtons(record.again)
  const button = (label: string, value: string) =>
    Keyboard.callback(label, payload.encode(conversation.name, { run: record.run, question: "", value, user }))
  const { no, startOver, yes } = texts
  const sent = yield* Messages.send({
    chat_id,
    text: startOver,
    attachments: [Keyboard.make([button(yes, payload.restart), button(no, payload.keep)])]
  })
  const again = { message: sent.body?.mid ?? "", ...(input === undefined ? {} : { input }) }
  return yield* save(at, record, { ...record, again })
})

/** Starts a conversation. */
export const start = Effect.fnUntraced(function* (self: Conversation, update: Update.Update, input: unknown) {
  const at = yield* placeOf(self, update)
  const user = Update.userIdOf(update)!
  const encoded = yield* self.encodeInput(input)
  yield* requirePart({ kind: "conversation", name: self.name }, self.state)
  const before = yield* stored(self)
  if (before === undefined) return yield* turn(at, undefined, yield* begin(self, user, encoded), undefined)
  switch (yield* meets(before)) {
    case "waits":
      return yield* sayFailed(at)
    case "continues":
      return yield* proceed(at, before, before, { _tag: "Repeat" })
  }
  const isOutdated = before.version !== self.version && self.onVersion(before.version) !== "continue"
  if (isOutdated || self.ifRunning === "restart") return yield* restart(at, before, yield* begin(self, user, encoded))
  return self.ifRunning === "ask"
    ? yield* askWhether(at, before, encoded)
    : yield* proceed(at, before, before, { _tag: "Repeat" })
})

/** Cancels the conversation of an update. */
export const cancel = Effect.fnUntraced(function* (self: Conversation, update: Update.Update) {
  if (Update.chatOf(update) === undefined || Update.userIdOf(update) === undefined) return yield* Handler.notHandled
  const record = yield* stored(self)
  if (record === undefined) return yield* Handler.notHandled
  const at = yield* placeOf(self, update)
  if ((yield* meets(record)) === "waits") return yield* sayFailed(at)
  yield* end(at, record, record.waiting)
  if (at.texts.cancelled !== "") yield* Messages.send({ chat_id: at.chat_id, text: at.texts.cancelled })
})

/** Goes on with a conversation of another version. */
const proceedOutdated = Effect.fnUntraced(function* (
  at: Place,
  before: Record,
  record: Record,
  event: Event | undefined
) {
  const { conversation } = at
  const policy = conversation.onVersion(record.version)
  if (policy === "continue") return yield* turn(at, before, { ...record, version: conversation.version }, event)
  if (event?._tag === "Message" && isCommand(event)) return yield* Handler.notHandled
  if (event?._tag === "Press") yield* notify(event.update, at.texts.late)
  if (policy === "restart") {
    return yield* restart(at, record, yield* begin(conversation, record.user, record.input))
  }
  yield* Messages.send({ chat_id: at.chat_id, text: at.texts.outdated })
  return yield* end(at, record, record.waiting)
})

/** Continues a conversation after an event. `before` is the stored record. */
const proceed = (at: Place, before: Record, record: Record, happened: Event) =>
  Effect.withFiber((fiber) => {
    const { name, version } = at.conversation
    const { unfinished } = record
    const isTaken =
      unfinished?.isTaken === true && fiber.getRef(CurrentUpdate)?.entry?.update.fingerprint === unfinished.fingerprint
    const event = isTaken ? undefined : happened
    const proceeded =
      record.version === version ? turn(at, before, record, event) : proceedOutdated(at, before, record, event)
    return withSpan(proceeded, "Conversation.answer", () => ({
      attributes: { conversation: name, question: record.waiting?.name, event: happened._tag }
    }))
  })

const written = Effect.fnUntraced(function* (self: Conversation, update: Update.Of<"message_created">) {
  const record = yield* stored(self)
  if (record === undefined || (yield* meets(record)) === "waits") return yield* Handler.notHandled
  return yield* proceed(yield* placeOf(self, update), record, record, { _tag: "Message", update })
})

const tooLate = Effect.fnUntraced(function* ({ name }: Conversation, update: Press, texts: Texts) {
  // The update may be a replayed dead letter, and no user sees the notification.
  if ((yield* Handler.CurrentAttempt) > 1)
    yield* Effect.logWarning(
      `A press of a button of the conversation "${name}" changes nothing: the conversation has ended.`
    )
  return yield* notify(update, texts.late)
})

const pressed = Effect.fnUntraced(function* (self: Conversation, update: Press, press: payload.Press | "malformed") {
  const texts = { ...(yield* CurrentTexts), ...self.texts }
  if (press === "malformed" || Update.chatOf(update) === undefined) return yield* notify(update, texts.late)
  if (press.user !== undefined && press.user !== update.callback.user.user_id)
    return yield* notify(update, texts.notYours)
  const record = yield* stored(self)
  const met = record && (yield* meets(record))
  if (record === undefined || (met !== "continues" && record.run !== press.run))
    return yield* tooLate(self, update, texts)
  if (met === "waits") return yield* notify(update, texts.failed)
  const at = yield* placeOf(self, update)
  if (press.question !== "" || met === "continues")
    return yield* proceed(at, record, record, { _tag: "Press", update, press })
  const { again, ...rest } = record
  if (again === undefined) return yield* notify(update, texts.late)
  const answer = press.value === payload.restart ? texts.yes : texts.no
  const text = `${texts.startOver}\n${texts.chosen}${answer}`
  yield* Effect.ignore(Answers.answer(update, { message: { text, attachments: [] } }))
  return press.value === payload.restart
    ? yield* restart(at, rest, yield* begin(self, update.callback.user.user_id, again.input))
    : yield* proceed(at, record, rest, { _tag: "Repeat" })
})

const due = Effect.fnUntraced(function* (self: Conversation, [run, until]: Due, update: Update.TimerUpdate) {
  if (update.chat_id === undefined) return
  const record = yield* stored(self)
  if (record === undefined) return
  const met = yield* meets(record)
  // The timer was already due at the time of its cancellation.
  const isOver = record.run !== run || record.waiting?.until !== until
  if (met === "waits" || (met === "free" && isOver)) return
  return yield* proceed(yield* placeOfTimer(self, update, record), record, record, { _tag: "Timeout" })
})

/** Predicts what happens with the stored conversation of the chat or the user of a timer. */
const rehearseStored = Effect.fnUntraced(function* (self: Conversation, update: Update.TimerUpdate) {
  if (!areOf(self.state.of, idsOf(update))) return belongsElsewhere
  const record = yield* stored(self)
  // A value that is not a conversation counts as absent.
  if (record === undefined || update.chat_id === undefined) {
    return { outcome: "stale", detail: "the stored value is no conversation" } satisfies Prediction
  }
  return yield* rehearse(yield* placeOfTimer(self, update, record), record)
})

const isMalformedTimer = (error: unknown): boolean => error instanceof MalformedTimer

const isComment = ({ message }: Update.Of<"message_created">): boolean => message?.recipient.post_id != null

/** Returns the effect for an update, or `undefined` if the update does not concern the conversation. */
export const handle = (self: Conversation): Handler.Handler<unknown, unknown> => {
  const onTimer = self.timer.on((value, update) => due(self, value, update))
  return (update) => {
    switch (update.update_type) {
      case "message_created":
        return Update.chatOf(update) === undefined || Update.userIdOf(update) === undefined || isComment(update)
          ? undefined
          : written(self, update)
      case "message_callback": {
        const press = payload.decode(self.name, update.callback.payload)
        return press === undefined ? undefined : pressed(self, update, press)
      }
      case "colloquy_timer": {
        const handled = onTimer(update)
        if (handled === undefined) return undefined
        const caught = Effect.catchIf(handled, isMalformedTimer, (error) => Effect.logWarning((error as Error).message))
        return rehearsedBy(caught, rehearseStored(self, update))
      }
      default:
        return undefined
    }
  }
}
