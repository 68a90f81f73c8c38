import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import type { AttachmentRequest } from "../../../model/AttachmentRequest.ts"
import type { Keyboard } from "../../../model/Keyboard.ts"
import * as RateLimiter from "../../../client/RateLimiter.ts"
import { concat, type FormattedText } from "../../../model/internal/text/spans.ts"
import type { View } from "./content.ts"
import * as Messages from "./messages.ts"
import { toBody } from "./messages.ts"
import { fits, type Part } from "./parts.ts"
import type { Body, EditError } from "./target.ts"

export interface Options<E> extends Pick<Messages.Options<E>, "name" | "onSent" | "target"> {
  readonly view: View
  readonly keyboard: Keyboard | undefined
  /** Minimum time between two edits, in milliseconds. */
  readonly interval: number
}

/** How a message ends. */
export interface Ending {
  readonly isComplete: boolean
  /** The text that is appended. */
  readonly notice: FormattedText | undefined
  readonly attachments: ReadonlyArray<AttachmentRequest>
  readonly keyboard: Keyboard | undefined
}

const withKeyboard = (attachments: ReadonlyArray<AttachmentRequest>, last: Keyboard | undefined) =>
  last === undefined ? attachments : [...attachments, last]

const paragraph: FormattedText = { text: "\n\n", spans: [] }

/** A failure after which a later edit may succeed. */
const isTemporary = (error: EditError): boolean =>
  error._tag === "RateLimited" || (error._tag === "RequestFailed" && error.isRetryable)

/**
 * Shows a view in messages, while the view changes and at its end. No edit waits behind another edit, because an edit shows the newest
 * content when the rate limiter permits the edit.
 */
export const make = Effect.fnUntraced(function* <E>(options: Options<E>) {
  const { interval, keyboard, name, onSent, target, view } = options
  const clock = yield* Clock.Clock
  const changed = Latch.makeUnsafe(false)
  const ended = Latch.makeUnsafe(false)
  const begun = Latch.makeUnsafe(false)
  /** The message of a notice that does not fit in the last part. */
  let extra = 0
  /** The length of the shown text, without markup. */
  let visible = 0
  const messages = yield* Messages.make({ name, onSent, target, index: () => view.complete() + extra })

  const running = (text: FormattedText): Body => toBody(text, keyboard === undefined ? undefined : [keyboard])

  const closed = (text: FormattedText): Body => toBody(text, keyboard === undefined ? undefined : [])

  /** Shows the first part of a text that is too long. */
  const closePart = Effect.fnUntraced(function* (text: FormattedText) {
    const body = closed(text)
    const { shown } = messages
    if (shown !== undefined) {
      if (shown.text !== body.text || keyboard !== undefined) yield* messages.edit(shown, () => body, "reply")
    } else if (text.text.trim() !== "") yield* messages.sendAgain(body)
  })

  /** Goes on in another message. */
  const advance = (part: Part): Effect.Effect<void> =>
    Effect.suspend(() => {
      messages.advance()
      return view.advance(part)
    })

  /** Sends or edits the message. If its text is complete, the next step sends another message. */
  const step = Effect.gen(function* () {
    let { shown } = messages
    if (shown === undefined) {
      if (!view.isBegun()) return
      begun.openUnsafe()
      shown = messages.takeOver()
    }
    // The requests that wait longest come first, so a message that has just been changed does not wait yet.
    const wait = messages.editedAt() + interval - clock.currentTimeMillisUnsafe()
    if (wait > 0) yield* Effect.raceFirst(Effect.sleep(wait), ended.await)
    if (ended.isOpen()) return
    if (shown === undefined) {
      let part = view.read(false)
      const first = () => {
        part = view.read(false)
        return running(part.text)
      }
      const sent = yield* RateLimiter.withPriority(messages.send(first), "normal")
      visible = part.text.text.length
      if (part.rest !== undefined || sent.text === undefined) changed.openUnsafe()
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
    yield* messages.edit(shown, latest, "normal")
    visible = part.text.text.length
    // After the end, `finish` goes on.
    if (part.rest === undefined || ended.isOpen()) return
    yield* advance(part)
    changed.openUnsafe()
  })

  /** Shows the view while the view changes. Fails if its messages cannot be changed any more. */
  const display = Effect.gen(function* () {
    for (;;) {
      yield* changed.await
      if (ended.isOpen()) return
      changed.closeUnsafe()
      yield* Effect.catchIf(
        step,
        (error): error is Extract<EditError, { readonly _tag: "RateLimited" | "RequestFailed" }> =>
          messages.shown !== undefined && isTemporary(error as EditError),
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
    const message = messages.shown
    if (message === undefined) return yield* sendLast(toBody(joined), attachments, last)
    const isMarked = keyboard !== undefined || last !== undefined
    const body = toBody(joined, isMarked ? (last === undefined ? [] : [last]) : undefined)
    if (message.text !== body.text || isMarked) yield* messages.edit(message, () => body, "reply")
    // The platform may still process the files, and the text does not wait for them.
    if (attachments.length > 0)
      yield* messages.edit(message, () => toBody(joined, withKeyboard(attachments, last)), "reply")
  })

  const sendLast = Effect.fnUntraced(function* (
    body: Body,
    attachments: ReadonlyArray<AttachmentRequest>,
    last: Keyboard | undefined
  ) {
    const all = withKeyboard(attachments, last)
    if (body.text.trim() === "" && attachments.length === 0) return
    yield* messages.sendAgain(all.length === 0 ? body : { ...body, attachments: all })
  })

  return {
    messages,
    display,
    /** Completes when there is text to show. */
    whenBegun: begun.await,
    /** The view has changed. */
    notify: (): void => void changed.openUnsafe(),
    /** Ends `display`. Returns whether an edit waits, which the edits of `finish` replace. */
    end: (): boolean => {
      ended.openUnsafe()
      changed.openUnsafe()
      return messages.isWaiting()
    },
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
