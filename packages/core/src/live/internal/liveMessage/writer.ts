import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as ApiError from "../../../client/ApiError.ts"
import type { AttachmentRequest } from "../../../model/AttachmentRequest.ts"
import type { BotApi } from "../../../client/BotApi.ts"
import * as Journal from "../../../inbox/Journal.ts"
import type { Keyboard } from "../../../model/Keyboard.ts"
import * as RateLimiter from "../../../client/RateLimiter.ts"
import type { MessageId } from "../../../model/Recipient.ts"
import { CurrentRefresh } from "../../../client/internal/refresh.ts"
import { HasUniqueName } from "../../../client/internal/journal/current.ts"
import { CurrentSlots } from "../../../client/internal/journal/slots.ts"
import * as Html from "../../../model/internal/text/html.ts"
import { concat, type FormattedText } from "../../../model/internal/text/spans.ts"
import { CurrentUpdate } from "../../../inbox/internal/consumer/currentUpdate.ts"
import { fits, type Part } from "./parts.ts"
import type { Body, EditError, Target } from "./target.ts"
import type { Cut, View } from "./view.ts"

export interface Options<E> {
  readonly view: View
  readonly target: Target<E>
  /** The name under which the journal records the messages. No other live message of the update has this name. */
  readonly name: string
  readonly keyboard: Keyboard | undefined
  /** Minimum time between two edits, in milliseconds. */
  readonly interval: number
  readonly onSent: (id: MessageId) => void
  /** Runs when a message is complete. */
  readonly onCut: (cut: Cut) => Effect.Effect<void>
}

/** How a message ends. */
export interface Ending {
  readonly isComplete: boolean
  /** The text that is appended. */
  readonly notice: FormattedText | undefined
  readonly attachments: ReadonlyArray<AttachmentRequest>
  readonly keyboard: Keyboard | undefined
}

interface Shown {
  readonly id: MessageId
  /** The text that the message shows, or `undefined` if that is not known. */
  text: string | undefined
  /** Whether the message shows the keyboard of a running live message. */
  hasKeyboard: boolean
}

const paragraph: FormattedText = { text: "\n\n", spans: [] }

const withoutId = new ApiError.RequestFailed({
  endpoint: "Messages.send",
  reason: new ApiError.InvalidResponse({ status: 200, problem: "the message has no id", body: "" })
})

/** A failure after which a later edit may succeed. */
const isTemporary = (error: EditError): boolean =>
  error._tag === "RateLimited" || (error._tag === "RequestFailed" && error.isRetryable)

/**
 * Shows a view in messages. At most one request waits for each message, and shows the newest content when the rate
 * limiter permits the request, so that no edit waits behind another edit.
 */
export const make = Effect.fnUntraced(function* <E>(options: Options<E>) {
  const { interval, keyboard, name, target, view } = options
  const clock = yield* Clock.Clock
  const changed = Latch.makeUnsafe(false)
  const ended = Latch.makeUnsafe(false)
  const begun = Latch.makeUnsafe(false)
  const journal = (yield* CurrentUpdate)?.journal
  const slots = yield* CurrentSlots
  /** The messages, including messages that earlier attempts have sent and this attempt has not used yet. */
  const ids: Array<MessageId> = []
  let shown: Shown | undefined
  /** The message of a notice that the last part has no room for. */
  let extra = 0
  /** The length of the shown text, without markup. */
  let visible = 0
  let isEnded = false
  let isWaiting = false
  let editedAt = -Infinity

  const now = () => clock.currentTimeMillisUnsafe()

  const toBody = (text: FormattedText, attachments?: ReadonlyArray<AttachmentRequest>): Body => ({
    text: Html.render(text),
    format: "html",
    ...(attachments === undefined ? {} : { attachments })
  })

  const running = (text: FormattedText): Body => toBody(text, keyboard === undefined ? undefined : [keyboard])

  const closed = (text: FormattedText): Body => toBody(text, keyboard === undefined ? undefined : [])

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

  const index = (): number => view.complete() + extra

  /** Goes on in the message that an earlier attempt has sent. */
  const takeOver = (): Shown | undefined => {
    const id = ids[index()]
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

  /** Shows the first part of a text that is too long. */
  const closePart = Effect.fnUntraced(function* (text: FormattedText) {
    const body = closed(text)
    if (shown !== undefined) {
      if (shown.text !== body.text || keyboard !== undefined) yield* edit(shown, () => body, "reply")
    } else if (text.text.trim() !== "") yield* sendAgain(body)
  })

  /** Goes on in another message. */
  const advance = (part: Part): Effect.Effect<void> =>
    Effect.suspend(() => {
      shown = undefined
      return options.onCut(view.advance(part))
    })

  /** Sends or edits the message. If its text is complete, the next step sends another message. */
  const step = Effect.gen(function* () {
    if (shown === undefined) {
      if (!view.isBegun()) return
      begun.openUnsafe()
      takeOver()
    }
    // The requests that wait longest come first, so a message that has just been changed does not wait yet.
    const wait = editedAt + interval - now()
    if (wait > 0) yield* Effect.raceFirst(Effect.sleep(wait), ended.await)
    if (isEnded) return
    if (shown === undefined) {
      let part = view.read(false)
      const first = () => {
        part = view.read(false)
        return running(part.text)
      }
      yield* RateLimiter.withPriority(send(first), "normal")
      visible = part.text.text.length
      if (part.rest !== undefined || shown!.text === undefined) changed.openUnsafe()
      return
    }
    const { hasKeyboard } = shown
    let part = view.read(false, visible)
    const latest = () => {
      part = view.read(false, visible)
      if (part.rest !== undefined) return closed(part.text)
      return hasKeyboard ? toBody(part.text) : running(part.text)
    }
    const body = latest()
    if (body.text === shown.text && (part.rest === undefined || keyboard === undefined)) {
      if (part.rest !== undefined) yield* advance(part)
      return
    }
    yield* edit(shown, latest, "normal")
    visible = part.text.text.length
    // After the end, `finish` goes on.
    if (part.rest === undefined || isEnded) return
    yield* advance(part)
    changed.openUnsafe()
  })

  /** Shows the view while the view changes. Fails if its messages cannot be changed any more. */
  const display = Effect.gen(function* () {
    for (;;) {
      yield* changed.await
      if (isEnded) return
      changed.closeUnsafe()
      yield* Effect.catchIf(
        step,
        (error): error is Extract<EditError, { readonly _tag: "RateLimited" | "RequestFailed" }> =>
          shown !== undefined && isTemporary(error as EditError),
        (error) => (error._tag === "RateLimited" ? Effect.void : Effect.logWarning("An edit failed.", error))
      )
    }
  })

  /** Shows the end of the view in the last message. */
  const showLast = Effect.fnUntraced(function* (text: FormattedText, { attachments, keyboard: last, notice }: Ending) {
    const joined = notice === undefined ? text : text.text.trim() === "" ? notice : concat([text, paragraph, notice])
    if (!fits(joined)) {
      yield* closePart(text)
      extra = 1
      return yield* sendLast(toBody(notice!), attachments, last)
    }
    if (shown === undefined) return yield* sendLast(toBody(joined), attachments, last)
    const isMarked = keyboard !== undefined || last !== undefined
    const body = toBody(joined, isMarked ? (last === undefined ? [] : [last]) : undefined)
    const message = shown
    if (message.text !== body.text || isMarked) yield* edit(message, () => body, "reply")
    // The platform may still process the files, and the text does not wait for them.
    if (attachments.length > 0) yield* edit(message, () => toBody(joined, withKeyboard(attachments, last)), "reply")
  })

  const withKeyboard = (attachments: ReadonlyArray<AttachmentRequest>, last: Keyboard | undefined) =>
    last === undefined ? attachments : [...attachments, last]

  const sendLast = Effect.fnUntraced(function* (
    body: Body,
    attachments: ReadonlyArray<AttachmentRequest>,
    last: Keyboard | undefined
  ) {
    const all = withKeyboard(attachments, last)
    if (body.text.trim() === "" && attachments.length === 0) return
    yield* sendAgain(all.length === 0 ? body : { ...body, attachments: all })
  })

  const dots = toBody({ text: "\u2026", spans: [] })

  // Presses and removals of existing messages count from the beginning.
  while (stateOf(ids.length) === "done") yield* sendNext(dots)

  const release = (): void => ids.forEach((_, index) => journal?.release(target.sends, nameOf(index), slots))

  const used = (): number => index() + (shown === undefined ? 0 : 1)

  return {
    ids: ids as ReadonlyArray<MessageId>,
    /** The messages that show the view. */
    used: (): ReadonlyArray<MessageId> => ids.slice(0, used()),
    /** Whether a message shows the view already. */
    isStanding: (): boolean => ids.length > index(),
    display,
    isShown: () => ids.length > 0,
    /** Completes when there is text to show. */
    whenBegun: begun.await,
    /** The view has changed. */
    notify: (): void => void changed.openUnsafe(),
    /** Ends `display`. Returns whether an edit waits, which the edits of `finish` replace. */
    end: (): boolean => {
      isEnded = true
      changed.openUnsafe()
      ended.openUnsafe()
      return isWaiting
    },
    /**
     * Releases the names of these messages, so that the same live message continues in these messages if it is repeated
     * within the attempt.
     */
    release,
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
    }),
    /** Shows all of the view. */
    finish: Effect.fnUntraced(function* (ending: Ending) {
      for (;;) {
        const part = view.read(ending.isComplete)
        if (part.rest === undefined) return yield* showLast(part.text, ending)
        yield* closePart(part.text)
        yield* advance(part)
      }
    })
  }
})

export type Writer = Effect.Success<ReturnType<typeof make>>
