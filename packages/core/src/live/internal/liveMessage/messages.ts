import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as ApiError from "../../../client/ApiError.ts"
import type { AttachmentRequest } from "../../../model/AttachmentRequest.ts"
import type { BotApi } from "../../../client/BotApi.ts"
import * as Journal from "../../../inbox/Journal.ts"
import * as RateLimiter from "../../../client/RateLimiter.ts"
import type { MessageId } from "../../../model/Recipient.ts"
import { CurrentRefresh } from "../../../client/internal/refresh.ts"
import { HasUniqueName } from "../../../client/internal/journal/current.ts"
import { CurrentSlots } from "../../../client/internal/journal/slots.ts"
import * as Html from "../../../model/internal/text/html.ts"
import type { FormattedText } from "../../../model/internal/text/spans.ts"
import { CurrentUpdate } from "../../../inbox/internal/consumer/currentUpdate.ts"
import type { Body, EditError, Target } from "./target.ts"

export interface Options<E> {
  readonly target: Target<E>
  /** The name under which the journal records the messages. No other live message of the update has it. */
  readonly name: string
  /** The number of complete messages, which is the index of the current message. */
  readonly index: () => number
  readonly onSent: (id: MessageId) => void
}

/** The message that changes. */
export interface Shown {
  readonly id: MessageId
  /** The text that the message shows, or `undefined` if that is not known. */
  text: string | undefined
  /** Whether the message shows the keyboard of a running live message. */
  hasKeyboard: boolean
}

const withoutId = new ApiError.RequestFailed({
  endpoint: "Messages.send",
  reason: new ApiError.InvalidResponse({ status: 200, problem: "the message has no id", body: "" })
})

export const toBody = (text: FormattedText, attachments?: ReadonlyArray<AttachmentRequest>): Body => ({
  text: Html.render(text),
  format: "html",
  ...(attachments === undefined ? {} : { attachments })
})

const dots = toBody({ text: "\u2026", spans: [] })

/**
 * The messages of a live message in the chat. An attempt that repeats the update uses the messages of earlier attempts. At most one
 * request waits for each message, and has the newest content when the rate limiter permits the request.
 */
export const make = Effect.fnUntraced(function* <E>(options: Options<E>) {
  const { name, target } = options
  const clock = yield* Clock.Clock
  const journal = (yield* CurrentUpdate)?.journal
  const slots = yield* CurrentSlots
  /** The messages, including messages that earlier attempts have sent and this attempt has not used yet. */
  const ids: Array<MessageId> = []
  let shown: Shown | undefined
  let isWaiting = false
  let editedAt = -Infinity

  const now = () => clock.currentTimeMillisUnsafe()

  const nameOf = (index: number): string => `${name} ${index + 1}`

  const stateOf = (index: number) => journal?.stateOf(target.sends, nameOf(index), slots)

  /** Sends the next message, or returns the message that an earlier attempt has sent. */
  const sendNext = Effect.fnUntraced(function* (body: Body) {
    const sending = target.send(body, ids.length === 0)
    const named = Journal.named(sending, nameOf(ids.length))
    const message = yield* Effect.provideService(named, HasUniqueName, true)
    const id = message.body?.mid
    if (id === undefined) return yield* withoutId
    ids.push(id)
    options.onSent(id)
    return id
  })

  /** Goes on in the message that an earlier attempt has sent. */
  const takeOver = (): Shown | undefined => {
    const id = ids[options.index()]
    return id === undefined ? undefined : (shown = { id, text: undefined, hasKeyboard: false })
  }

  const send = Effect.fnUntraced(function* (body: () => Body) {
    // `undefined` if no request leaves: the message was sent before, with another text.
    let sent: Body | undefined
    const id = yield* Effect.provideService(sendNext(body()), CurrentRefresh, {
      endpoint: target.sends,
      read: (request) => {
        editedAt = now()
        sent = body()
        return { ...(request as object), ...sent }
      }
    })
    shown = { id, text: sent?.text, hasKeyboard: sent !== undefined }
    return shown
  })

  /**
   * Sends a message whose content does not change any more. An earlier attempt may have sent the message with another
   * content.
   */
  const sendAgain = Effect.fnUntraced(function* (body: Body) {
    const message = takeOver() ?? (yield* send(() => body))
    if (message.text === undefined) {
      yield* edit(message, () => ({ ...body, attachments: body.attachments ?? [] }), "reply")
    }
  })

  const edit = (
    message: Shown,
    body: () => Body,
    priority: RateLimiter.Priority
  ): Effect.Effect<void, EditError, BotApi> =>
    Effect.suspend(() => {
      let latest = body()
      isWaiting = true
      return target.edit(message.id, latest).pipe(
        Effect.provideService(CurrentRefresh, {
          endpoint: target.edits,
          read: () => {
            isWaiting = false
            editedAt = now()
            latest = body()
            return target.toEdit(message.id, latest)
          }
        }),
        RateLimiter.withSlot(`LiveMessage ${message.id}`),
        RateLimiter.withPriority(priority),
        Effect.map(() => {
          message.text = latest.text
          if (latest.attachments !== undefined) message.hasKeyboard = true
        }),
        Effect.onExit(() => Effect.sync(() => void (isWaiting = false)))
      )
    })

  // Presses and removals of existing messages count from the beginning.
  while (stateOf(ids.length) === "done") yield* sendNext(dots)

  const used = (): number => options.index() + (shown === undefined ? 0 : 1)

  return {
    ids: ids as ReadonlyArray<MessageId>,
    /** The message that changes, if the next request does not send a message. */
    get shown() {
      return shown
    },
    /** Whether an edit waits. */
    isWaiting: (): boolean => isWaiting,
    /** The time of the last request. */
    editedAt: (): number => editedAt,
    /** The messages that show the view. */
    used: (): ReadonlyArray<MessageId> => ids.slice(0, used()),
    /** Whether a message shows the view already. */
    isStanding: (): boolean => ids.length > options.index(),
    takeOver,
    /** Completes the current message. The next request sends a message. */
    advance: (): void => {
      shown = undefined
    },
    send,
    sendAgain,
    edit,
    /**
     * Releases the names of these messages, so that the same live message continues in these messages if it is repeated
     * within the attempt.
     */
    release: (): void => ids.forEach((_, index) => journal?.release(target.sends, nameOf(index), slots)),
    /** Removes messages of an earlier attempt that had more text. */
    removeRest: Effect.gen(function* () {
      const from = used()
      // The message may have been sent.
      if (stateOf(ids.length) === "started") yield* sendNext(dots)
      yield* Effect.forEach(ids.slice(from), (id) =>
        Effect.catchTags(target.remove(id), {
          NotFound: () => Effect.void,
          Forbidden: (error) => Effect.logWarning("A message of an earlier attempt was not removed.", error),
          OperationRejected: (error) => Effect.logWarning("A message of an earlier attempt was not removed.", error)
        })
      )
    })
  }
})
