import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as ApiError from "../../../client/ApiError.ts"
import * as Answers from "../../../endpoints/Answers.ts"
import { BotApi } from "../../../client/BotApi.ts"
import * as Chats from "../../../endpoints/Chats.ts"
import * as Journal from "../../../inbox/Journal.ts"
import { HasUniqueName } from "../../../client/internal/journal/current.ts"
import * as lists from "../../../inbox/internal/journal/list.ts"
import * as RateLimiter from "../../../client/RateLimiter.ts"
import type { ChatId } from "../../../model/Recipient.ts"
import type { Update } from "../../../model/Update.ts"
import type { FormattedText } from "../../../model/internal/text/spans.ts"
import * as dropped from "./dropped.ts"
import { messageIdOf, notificationOf, runningOf } from "./presses.ts"
import { type Content, type List, Recorded } from "./content.ts"
import { type Arrival, isNextMessage, isRemoval, watch } from "./watch.ts"
import * as Writer from "./writer.ts"

/** The entry of the journal about a source that has ended. */
const Ended = Schema.Struct({
  outcome: Schema.Literals(["completed", "stopped", "replaced", "removed"]),
  text: Schema.String,
  dropped: Schema.Array(Schema.String)
})

type Ended = typeof Ended.Type

type Outcome = Ended["outcome"]

export interface Spec<E, R, SE> extends Pick<Writer.Options<SE>, "interval" | "keyboard" | "name" | "target"> {
  /** The update that is answered. */
  readonly update: Update | undefined
  readonly chat_id: ChatId | undefined
  readonly isTyping: boolean
  readonly onNextMessage: "queue" | "replace" | "drop"
  readonly isStop: (update: Update) => boolean
  /** Whether the source ends when a user removes the message. */
  readonly stopsWhenRemoved: boolean
  /** Whether the journal keeps the text, so that a source that has ended is not asked again. */
  readonly isRecorded: boolean
  readonly content: (list: List) => Content<E, R>
  /** Returns the text that is appended if the source fails. The error is missing if the source died. */
  readonly onFailure: (error: Option.Option<E>) => FormattedText | undefined
  readonly atEnd: (said: { readonly outcome: Outcome; readonly text: string }) => Omit<Writer.Ending, "isComplete">
}

const typingInterval = "5 seconds"

/** A model that answers at once needs no indicator. */
const typingDelay = "200 millis"

/** Shows that the bot is typing. The request is omitted if the limits do not permit it. */
const showTyping = (chat_id: ChatId) =>
  Chats.sendAction({ chat_id, action: "typing_on" }).pipe(
    RateLimiter.withPriority("normal"),
    RateLimiter.withMaxWait("1 second"),
    Effect.ignore,
    Effect.andThen(Effect.sleep(typingInterval)),
    Effect.forever,
    Effect.delay(typingDelay)
  )

const finishTimeout = "10 seconds"

const unfinished: Writer.Ending = { attachments: [], keyboard: undefined, notice: undefined, isComplete: false }

const isNotFound = (error: unknown): error is ApiError.NotFound => error instanceof ApiError.NotFound

const isForbidden = (error: unknown): error is ApiError.Forbidden => error instanceof ApiError.Forbidden

/**
 * Whether a message cannot be edited any more because of an action of a user. The update about this action may come
 * later.
 */
const isGone = (error: unknown): error is ApiError.NotFound | ApiError.Forbidden =>
  isNotFound(error) || (isForbidden(error) && error.isDialogSuspended)

const isInvalidStepResult = (error: unknown): error is Journal.InvalidStepResult =>
  error instanceof Journal.InvalidStepResult

/** Runs a live message: shows the text of its source until the source ends, fails, or is stopped. */
export const run = Effect.fnUntraced(function* <E, R, SE>(spec: Spec<E, R, SE>) {
  const { chat_id, isStop, name, onNextMessage, stopsWhenRemoved, update } = spec
  if (onNextMessage === "drop" && update !== undefined && (yield* dropped.take)) {
    return { outcome: "dropped" as const, text: "", messages: [] }
  }
  const list = yield* lists.open(name, Recorded, (error) => error).pipe(Effect.orDie)
  const { append, close, flush, occurrence, recorded } = list
  const content = spec.content({ append: (value) => Effect.orDie(append(value)), flush, recorded })
  const running = runningOf(yield* BotApi)
  const stop = yield* Deferred.make<Outcome>()
  const end = (outcome: Outcome): void => void Deferred.doneUnsafe(stop, Exit.succeed(outcome))
  const stopNow = () => end("stopped")
  let isOver = false
  const writer = yield* Writer.make({
    ...spec,
    name: occurrence === 1 ? name : `${name} (${occurrence})`,
    view: content,
    // The rest of an interrupted live message is sent in the background.
    onSent: (id) => void (isOver || running.stops.set(id, stopNow))
  })
  const droppedUpdates: Array<string> = []
  const answers: Array<Fiber.Fiber<void>> = []
  let isSaid = false
  let failure: Cause.Cause<E> | undefined

  const onArrival = Effect.fnUntraced(function* ({ fingerprint, update: arrived }: Arrival) {
    if (arrived.update_type === "message_callback") {
      const mid = messageIdOf(arrived)
      const notification = notificationOf(arrived)
      if (notification !== undefined && mid !== undefined && writer.messages.ids.includes(mid)) {
        stopNow()
        running.setAnswered(arrived.callback.callback_id)
        answers.push(yield* Effect.forkChild(Effect.ignore(Answers.answer(arrived, notification))))
      }
    }
    if (isStop(arrived)) stopNow()
    if (update === undefined) return
    if (stopsWhenRemoved && isRemoval(arrived, update, writer.messages.ids)) end("removed")
    if (onNextMessage === "queue" || !isNextMessage(arrived, update)) return
    if (onNextMessage === "replace") end("replaced")
    else droppedUpdates.push(fingerprint)
  })

  const watching = yield* Effect.forkChild(watch(onArrival))
  const displaying = yield* Effect.forkChild(
    Effect.catchIf(writer.display, isGone, (error) =>
      writer.messages.ids.length > 0 ? Effect.sync(() => void (stopsWhenRemoved && end("removed"))) : Effect.fail(error)
    )
  )
  const writing = yield* Effect.forkChild(list.writing)
  /** Fails if a fiber that runs beside the body fails. */
  const failureOf = <E>(fiber: Fiber.Fiber<unknown, E>): Effect.Effect<never, E> =>
    Effect.flatMap(Fiber.await(fiber), (exit) => (Exit.isFailure(exit) ? Effect.failCause(exit.cause) : Effect.never))

  const say = Effect.gen(function* () {
    isSaid = true
    const typing = yield* Effect.forkChild(
      chat_id !== undefined && spec.isTyping ? Effect.raceFirst(showTyping(chat_id), writer.whenBegun) : Effect.void
    )
    // Text that was emitted before the first message was sent.
    if (content.isBegun() && !writer.messages.isStanding()) writer.notify()
    const outcome = yield* Effect.tapCause(content.source(writer.notify), (cause) =>
      Effect.sync(() => (failure = cause))
    ).pipe(
      Effect.as("completed" as Outcome),
      Effect.raceFirst(Deferred.await(stop)),
      Effect.raceFirst(failureOf(displaying)),
      Effect.raceFirst(failureOf(watching)),
      Effect.raceFirst(failureOf(writing)),
      Effect.raceFirst(failureOf(typing)),
      Effect.ensuring(Fiber.interrupt(typing))
    )
    if (outcome !== "completed") content.keep()
    return { outcome, text: content.text(), dropped: droppedUpdates } satisfies Ended as Ended
  })

  const finish = Effect.fnUntraced(function* (ending: Writer.Ending) {
    const isWaiting = writer.end()
    if (!isWaiting) yield* Fiber.await(displaying)
    yield* writer.finish(ending)
  })

  const tellFailure = (cause: Cause.Cause<unknown>) => {
    if (failure === undefined || Cause.hasInterruptsOnly(cause)) return Effect.void
    const notice = spec.onFailure(Cause.findErrorOption(failure))
    content.keep()
    return Effect.catch(Effect.andThen(flush, finish({ ...unfinished, notice })), (error) =>
      Effect.logWarning("The messenger does not show that a live message failed.", error)
    )
  }

  const live = Effect.gen(function* () {
    const recorded = Effect.provideService(Journal.step(name, Ended, say), HasUniqueName, true)
    const said = yield* (spec.isRecorded ? recorded : say).pipe(
      Effect.catchIf(isInvalidStepResult, Effect.die),
      Effect.tapCause(tellFailure),
      Effect.onInterrupt(() =>
        Effect.andThen(
          Effect.andThen(Effect.sync(content.keep), Fiber.interrupt(displaying)),
          writer.messages.ids.length > 0
            ? Effect.forkDetach(
                Effect.catchDefect(Effect.ignore(Effect.timeoutOption(finish(unfinished), finishTimeout)), (defect) =>
                  Effect.logError("The messenger does not show that a live message has ended.", defect)
                )
              )
            : Effect.void
        )
      )
    )
    if (!isSaid) content.restore(said.text)
    const { outcome, text } = said
    const finished = finish({ ...spec.atEnd({ outcome, text }), isComplete: outcome === "completed" })
    const isRemoved = yield* Effect.catchIf(
      Effect.as(finished, false),
      (error) => writer.messages.ids.length > 0 && (isGone(error) || (outcome === "removed" && isForbidden(error))),
      () => Effect.succeed(true)
    )
    if (!isRemoved) yield* writer.messages.removeRest
    yield* Fiber.joinAll(answers)
    yield* dropped.add(said.dropped)
    return { outcome: isRemoved ? ("removed" as const) : outcome, text, messages: writer.messages.used() }
  })

  const repeatable = Effect.onError(live, () =>
    Effect.sync(() => {
      writer.messages.release()
      list.release()
    })
  )

  return yield* Effect.ensuring(
    repeatable,
    Effect.suspend(() => {
      isOver = true
      for (const id of writer.messages.ids) running.stops.delete(id)
      return Effect.andThen(Fiber.interruptAll([watching, writing]), close)
    })
  )
})
