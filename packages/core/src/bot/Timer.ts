/**
 * Timers: updates that a bot sends to itself, and that arrive later.
 *
 * A timer is stored in the inbox, so timers survive restarts and deploys. When the timer is due, it becomes an update
 * in the order of its chat, and is retried and becomes a dead letter like any other update.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { pages } from "../base/internal/pages.ts"
import { continues, rehearsedBy } from "../inbox/internal/rehearsal.ts"
import { toEffect } from "../inbox/internal/handlers/toEffect.ts"
import * as FieldIssue from "../base/FieldIssue.ts"
import type * as Handler from "../inbox/Handler.ts"
import type { Due, Row } from "../inbox/InboxStore.ts"
import { Inbox } from "../inbox/Inbox.ts"
import { hooks } from "../inbox/internal/hooks.ts"
import { makePart } from "../inbox/internal/handlers/parts.ts"
import { fromKey, prefix, rowKey, setTimer, toKey } from "../inbox/internal/timers/change.ts"
import { isLeftOut, nextAfter, type Recurrence } from "../inbox/internal/timers/recurrence.ts"
import * as scheduling from "./internal/timers/scheduling.ts"
import { PermanentTaggedError } from "../base/internal/permanentTaggedError.ts"
import type { ChatId } from "../model/Recipient.ts"
import type { StoreError } from "../base/StoreError.ts"
import * as Update from "../model/Update.ts"
import type { UserId } from "../model/User.ts"

/** The last time that a date can be, in Unix milliseconds. */
const lastDate = 8.64e15

/**
 * A timer cannot be set: its value does not match its schema, its time is not a valid date, its cron expression is
 * malformed, or `for` got neither a chat nor a user. Nothing was changed.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidTimer extends PermanentTaggedError("InvalidTimer", () => ({
  /** The name of the timer. */
  timerName: Schema.String,
  /** The problem of the timer. */
  problem: Schema.String
})) {
  override get message() {
    return `Cannot set the timer ${JSON.stringify(this.timerName)}: ${this.problem.replace(/\.$/, "")}.`
  }
}

/**
 * A timer is due, and its value does not match the schema. The timer was probably set by an older version of the bot. Its
 * update becomes a dead letter unless the handler catches the error.
 *
 * @category errors
 * @since 0.1.0
 */
export class MalformedTimer extends PermanentTaggedError("MalformedTimer", () => ({
  /** The name of the timer. */
  timerName: Schema.String,
  /** The problem of the timer. */
  problem: Schema.String,
  /** The update of the timer. Its `value` is the JSON text that was stored. */
  update: Update.Update as Schema.Codec<Update.TimerUpdate, unknown>
})) {
  override get message() {
    return (
      `Cannot decode the value of the timer ${JSON.stringify(this.timerName)}: ${this.problem.replace(/\.$/, "")}. The timer ` +
      "was probably set by an older version of the bot. Let its schema accept the old values as well."
    )
  }
}

/**
 * A timer was used without a chat where there is none: outside of the handling of one update, or while an update without chat
 * and user was handled.
 *
 * @category errors
 * @since 0.1.0
 */
export class NoTimerChat extends PermanentTaggedError("NoTimerChat", () => ({
  /** The name of the timer. */
  timerName: Schema.String,
  /** The type of the update that is being handled. `undefined`: no update, or several together, are being handled. */
  update_type: Schema.optional(Schema.String)
})) {
  override get message() {
    const where = this.update_type === undefined ? "no update is being handled" : `${this.update_type} has no chat`
    return `The timer ${JSON.stringify(this.timerName)} belongs to no chat, because ${where}. Use \`for\` to choose the chat.`
  }
}

/**
 * The target of a timer: a chat, a user, or a user in a chat. At least one id is required. Its update has these ids.
 *
 * @category models
 * @since 0.1.0
 */
export type Target =
  | { readonly chat_id: ChatId; readonly user_id?: UserId | undefined }
  | { readonly chat_id?: ChatId | undefined; readonly user_id: UserId }

/**
 * Which of several timers of the same name and chat is meant.
 *
 * @category models
 * @since 0.1.0
 */
export interface KeyOptions {
  /** Distinguishes timers of the same name and the same chat. Default: a chat has one timer of the name. */
  readonly key?: string | undefined
}

/**
 * Options of `cron`.
 *
 * @category models
 * @since 0.1.0
 */
export interface CronOptions extends KeyOptions {
  /**
   * The time zone of the expression, such as `Europe/Berlin`. Where an hour is repeated in autumn, an expression for every hour is
   * due in both, and one for certain hours only in the first. A time that is skipped in spring is due after the gap. Default: `UTC`.
   */
  readonly timeZone?: string | undefined
  /**
   * The handling of missed occurrences, for example while the bot was down: `"one"`: the first missed occurrence is
   * handled late, and the others are skipped. `"all"`: each missed occurrence is handled, one after the other.
   * `"none"`: an occurrence that is more than a minute late is skipped. The time is measured by the clock of the
   * process: a process whose clock is more than a minute ahead of the clock of the store skips every occurrence.
   * Default: `"one"`.
   */
  readonly missed?: "one" | "all" | "none" | undefined
}

/** `Duration` treats an input that is not a number as zero. */
const hasNaN = (input: unknown): boolean =>
  typeof input === "object" && input !== null ? Object.values(input).some(Number.isNaN) : Number.isNaN(input)

/**
 * Sets and cancels the timers of a chat. While an update is handled, the changes are stored together with its
 * acknowledgement: a handler that fails changes nothing.
 *
 * @category models
 * @since 0.1.0
 */
export interface Timers<in A, out E = never, out R = never> {
  /** Sets the timer to be due after a duration. The timer replaces the timer with the same key. */
  readonly in: (
    after: Duration.Input,
    value: A,
    options?: KeyOptions
  ) => Effect.Effect<void, E | InvalidTimer | StoreError, R>
  /**
   * Sets the timer to be due at a time. A time in the past is due at once. The timer replaces the timer with the same
   * key.
   */
  readonly at: (
    time: DateTime.DateTime.Input,
    value: A,
    options?: KeyOptions
  ) => Effect.Effect<void, E | InvalidTimer | StoreError, R>
  /**
   * Sets the timer to be due at all times of a cron expression with five or six fields (minute, hour, day of the month,
   * month, day of the week; seconds may precede them). The timer replaces the timer with the same key. The next
   * occurrence is set when the previous occurrence is handled or becomes a dead letter.
   */
  readonly cron: (
    expression: string,
    value: A,
    options?: CronOptions
  ) => Effect.Effect<void, E | InvalidTimer | StoreError, R>
  /**
   * Cancels the timer. Without such a timer, `cancel` has no effect. An occurrence that is due already is cancelled
   * too, unless its handler has begun. The handler continues, is not retried if it fails, and a recurring timer ends
   * with this occurrence.
   */
  readonly cancel: (options?: KeyOptions) => Effect.Effect<void, E | StoreError, R>
}

/**
 * A kind of timer with a name and the type `A` of its value. The operations of a kind concern the chat of the update
 * that is being handled, or its user if the update has no chat.
 *
 * @category models
 * @since 0.1.0
 */
export interface Timer<in out A, out RD = never, out RE = never> extends Timers<A, NoTimerChat, RE> {
  /** The name. */
  readonly name: string
  /** Returns the operations for a chat, or for a user outside of chats. These operations can be used anywhere. */
  readonly for: (target: Target) => Timers<A, never, Inbox | RE>
  /**
   * Handles timers of this name that are due. The handler receives the value, and the update with its `chat_id` and `user_id`.
   * Fails with {@link MalformedTimer} if the value cannot be decoded.
   */
  readonly on: <O extends Handler.Return>(
    handler: (value: A, update: Update.TimerUpdate) => O
  ) => Handler.Handler<Handler.ReturnError<O> | MalformedTimer, Effect.Services<O> | RD>
}

/**
 * Creates a kind of timer from its name and the schema of its value. Without a schema, the value is `undefined`.
 *
 * - A timer is identified by its name, its chat and its key: setting the timer again changes its time.
 * - A timer is due by the clock of the store, mostly within 50 milliseconds, and within a second if several processes
 *   share the store. While no process runs, due timers wait.
 * - The update of a timer is handled in the order of its chat: after the updates of the chat that were received before
 *   the due time.
 * - The name must be unique within a bot: `Bot.make` throws if two timers have the same name. Throws if the name
 *   is empty.
 *
 * Errors: {@link InvalidTimer} when a timer is set, {@link NoTimerChat} where there is no chat, {@link MalformedTimer} when a
 * timer is due whose value cannot be decoded.
 *
 * **Example** (A reminder after eight hours)
 *
 * ```ts
 * import { Bot, Handler, Messages, Timer } from "@colloquy/core"
 * import { Effect, Schema } from "effect"
 *
 * const Reminder = Timer.make("reminder", Schema.Struct({ text: Schema.String }))
 *
 * const bot = Bot.make(
 *   Handler.on("message_created", (update) =>
 *     Effect.andThen(
 *       Reminder.in("8 hours", { text: update.message?.body?.text ?? "" }),
 *       Messages.reply(update, "I will remind you")
 *     )
 *   ),
 *   Reminder.on(({ text }, update) => Messages.reply(update, `Reminder: ${text}`))
 * )
 * ```
 *
 * **Example** (A report at nine on each working day, set outside of handlers)
 *
 * ```ts
 * import { type Recipient, Timer } from "@colloquy/core"
 * import { Schema } from "effect"
 *
 * const Report = Timer.make("report", Schema.String)
 *
 * const start = (chat_id: Recipient.ChatId) =>
 *   Report.for({ chat_id }).cron("0 9 * * 1-5", "sales", { timeZone: "Europe/Berlin", missed: "none" })
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make: {
  (name: string): Timer<void>
  <S extends Schema.Constraint>(name: string, schema: S): Timer<S["Type"], S["DecodingServices"], S["EncodingServices"]>
} = (name: string, schema: Schema.ConstraintCodec<unknown, unknown, unknown, unknown> = Schema.Void) => {
  if (name === "") throw new Error("The timer needs a name that is not empty.")
  const text = Schema.fromJsonString(Schema.toCodecJson(schema))
  const encodeValue = Schema.encodeEffect(text, { errors: "all" })
  const decodeValue = Schema.decodeUnknownEffect(text, { errors: "all" })
  const invalid = (problem: string) => new InvalidTimer({ timerName: name, problem })

  const timers = <E, R>(schedule: Effect.Effect<scheduling.Schedule, E, R>): Timers<unknown, E, unknown> => {
    const set = (
      value: unknown,
      key: string | undefined,
      dueAt: (now: number) => Effect.Effect<{ readonly due: Due["time"]; readonly time: number }, InvalidTimer>,
      recurrence?: Recurrence
    ) =>
      Effect.gen(function* () {
        const { chat_type, inbox, target, write } = yield* schedule
        yield* scheduling.requireHandler(name, inbox)
        if (target.chat_id === undefined && target.user_id === undefined)
          return yield* Effect.fail(invalid("`for` needs a `chat_id` or a `user_id`"))
        const encoded = yield* Effect.mapError(encodeValue(value), ({ issue }) =>
          invalid(`its value does not match the schema: ${FieldIssue.formatSchemaIssue(issue)}`)
        )
        const { due, time } = yield* dueAt(Math.floor(yield* Clock.currentTimeMillis))
        const update: Update.TimerUpdate = {
          update_type: "colloquy_timer",
          timestamp: time,
          name,
          key: toKey(target, key),
          ...target,
          ...(chat_type === undefined ? {} : { chat_type }),
          value: encoded,
          ...(recurrence === undefined ? {} : { recurrence })
        }
        const partitionKey = yield* Effect.try({
          try: () => inbox[hooks].partitionKeyOf(update),
          catch: (error) => invalid(`the option \`partitionKey\` of the inbox failed: ${String(error)}`)
        })
        yield* write(setTimer(update, { time: due, partitionKey }, inbox[hooks].nextRevision()))
      })

    return {
      in: (after, value, options) =>
        set(value, options?.key, (now) => {
          const duration = Option.filter(Duration.fromInput(after), () => !hasNaN(after))
          if (Option.isNone(duration))
            return Effect.fail(
              invalid(`its duration is not valid: ${typeof after === "object" ? JSON.stringify(after) : String(after)}`)
            )
          const millis = Math.round(Duration.toMillis(duration.value))
          const time = now + millis
          if (!Number.isFinite(millis)) return Effect.fail(invalid("its duration has no end"))
          if (!(Math.abs(time) <= lastDate)) {
            return Effect.fail(invalid("its duration is too long: dates end in the year 275760"))
          }
          return Effect.succeed({ due: { after: millis }, time })
        }),
      at: (time, value, options) =>
        set(value, options?.key, () => {
          const date = DateTime.make(time)
          if (date._tag === "None") return Effect.fail(invalid(`its time is not a valid date: ${String(time)}`))
          const at = Math.round(DateTime.toEpochMillis(date.value))
          return Effect.succeed({ due: { at }, time: at })
        }),
      cron: (expression, value, { key, missed = "one", timeZone = "UTC" } = {}) => {
        const recurrence: Recurrence = { cron: expression, timeZone, missed }
        return set(
          value,
          key,
          (now) =>
            Result.match(nextAfter(recurrence, now), {
              onFailure: (problem) => Effect.fail(invalid(problem)),
              onSuccess: (at) => Effect.succeed({ due: { at }, time: at })
            }),
          recurrence
        )
      },
      cancel: (options) =>
        Effect.flatMap(schedule, ({ inbox, target, write }) =>
          write({
            key: rowKey({ name, key: toKey(target, options?.key) }),
            row: undefined,
            revision: inbox[hooks].nextRevision()
          })
        )
    }
  }

  const timer = {}
  const self: Timer<unknown, unknown, unknown> = {
    ...timers(
      Effect.mapError(
        scheduling.ofUpdate,
        ({ update_type }) => new NoTimerChat({ timerName: name, ...(update_type === undefined ? {} : { update_type }) })
      )
    ),
    name,
    for: (target) => timers(scheduling.ofTarget(target)),
    on: (handler) =>
      makePart<object, Handler.Handler<never, never>>({
        kind: "timer",
        name,
        timer: name,
        definition: timer,
        handle: (update) => {
          if (update.update_type !== "colloquy_timer" || update.name !== name) return undefined
          const decoded = Effect.mapError(
            decodeValue(update.value),
            ({ issue }) => new MalformedTimer({ timerName: name, problem: FieldIssue.formatSchemaIssue(issue), update })
          )
          const handled = Effect.flatMap(decoded, (value) => toEffect(handler(value, update)))
          const unlessCancelled = Effect.flatMap(scheduling.isCancelled(update), (isCancelled) =>
            isCancelled ? Effect.void : handled
          )
          const due = Effect.flatMap(Clock.currentTimeMillis, (now) =>
            isLeftOut(update, now) ? Effect.void : unlessCancelled
          )
          return rehearsedBy(due, Effect.andThen(decoded, continues))
        }
      })
  }
  return self as never
}

/**
 * A set timer, as emitted by {@link stream}.
 *
 * @category models
 * @since 0.1.0
 */
export interface SetTimer {
  /** The name. */
  readonly name: string
  /** The option `key` of the timer. */
  readonly key: string | undefined
  /** The chat to which the timer belongs. */
  readonly chat_id: ChatId | undefined
  /** The user to whom the timer belongs. */
  readonly user_id: UserId | undefined
  /** The due time in Unix milliseconds of the clock of the store. */
  readonly dueAt: number
  /** The JSON text of the value. */
  readonly value: string
  /** The recurrence of the timer. `undefined` if the timer does not recur. */
  readonly recurrence: Update.TimerUpdate["recurrence"] | undefined
}

const pageSize = 500

const toSetTimer = ({ dueAt, text }: Row): ReadonlyArray<SetTimer> => {
  const parsed = Update.parse(text)
  // Only a timer that was overwritten by hand cannot be read. Such a timer becomes a dead letter when it is due.
  if (Result.isFailure(parsed) || parsed.success.update_type !== "colloquy_timer") return []
  const { chat_id, key, name, recurrence, user_id, value } = parsed.success
  return [{ name, key: fromKey(parsed.success, key), chat_id, user_id, dueAt: dueAt!, value, recurrence }]
}

/**
 * Emits the timers that are set, in the order in which they are due. The stream reads the timers in pages. A timer that
 * is due is an update in the inbox, and is not emitted. A timer that is changed meanwhile may be missing, or be emitted
 * twice.
 *
 * To cancel a timer, use {@link make} with its name, `for` with its chat or user, and its key.
 *
 * **Example** (The timers of the next hour)
 *
 * ```ts
 * import { Timer } from "@colloquy/core"
 * import { Clock, Console, Effect, Stream } from "effect"
 *
 * const soon = Effect.flatMap(Clock.currentTimeMillis, (now) =>
 *   Timer.stream.pipe(
 *     Stream.takeWhile(({ dueAt }) => dueAt <= now + 3_600_000),
 *     Stream.runForEach(({ chat_id, dueAt, name }) => Console.log(name, chat_id, new Date(dueAt).toISOString()))
 *   )
 * )
 * ```
 *
 * @category reading
 * @since 0.1.0
 */
export const stream: Stream.Stream<SetTimer, StoreError, Inbox> = Stream.unwrap(
  Inbox.useSync(({ store }) =>
    pages(pageSize, (after: Row | undefined) => store.rows({ prefix, by: "due", after, limit: pageSize }))
  )
).pipe(Stream.map(toSetTimer), Stream.flattenIterable)
