import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Answers from "../../../endpoints/Answers.ts"
import type { MenuMessage, Options, Outcome, Return } from "../../Menu.ts"
import { isOutcome, makeOutcome } from "./parts.ts"
import * as Messages from "../../../endpoints/Messages.ts"
import { type Of, userIdOf } from "../../../model/Update.ts"
import { withoutKeyboard } from "../../../bot/internal/handlers/keyboard.ts"
import { mayBeAnswered } from "../../../inbox/internal/consumer/answers.ts"
import type { Prediction } from "../../../inbox/Rehearsal.ts"
import { continues } from "../../../inbox/internal/rehearsal.ts"
import { newer } from "../../../inbox/internal/consumer/newer.ts"
import { type Definition, find, hasList, layOut, toMessage } from "./layout.ts"
import { open, type Place, placeOf, Pressed, readPlaces, turn } from "./location.ts"
import { rememberPress, wasPressed } from "./once.ts"

type Callback = Of<"message_callback">

const defaultOutdated = makeOutcome({ _tag: "Stay" }, "This menu was out of date and has been updated.")

const start = "main"

const stay = makeOutcome({ _tag: "Stay" })

const run = (returned: Return): Effect.Effect<Outcome, unknown, unknown> => {
  const effect = Effect.isEffect(returned) ? returned : Effect.succeed(returned)
  return Effect.map(effect, (value) => (isOutcome(value) ? value : stay))
}

/** The page `main`, if the page has no parameters. */
const startOf = ({ codecs }: Definition): ReadonlyArray<Place> =>
  codecs.get(start)?.hasValue === false ? [{ frame: { p: start }, params: undefined }] : []

const back = (menu: Definition, places: ReadonlyArray<Place>): ReadonlyArray<Place> => {
  if (places.length > 1) return places.slice(0, -1)
  const first = startOf(menu)
  return first.length > 0 ? first : places
}

const decodePressed = Schema.decodeUnknownOption(Schema.fromJsonString(Pressed))

/** Predicts whether a press still finds its page. The function of the page does not run. */
export const rehearse = Effect.fnUntraced(function* (menu: Definition, { callback }: Callback) {
  const pressed = decodePressed((callback.payload ?? "").slice(menu.payload.name.length + 1))
  if (Option.isNone(pressed)) return { outcome: "outdated", detail: "the payload cannot be read" } satisfies Prediction
  const { at, by, v = 1 } = pressed.value
  if (v > menu.version) return yield* newer(`The menu "${menu.name}"`, v, menu.version)
  if (by !== undefined && by !== callback.user.user_id) return yield* continues
  const places = yield* readPlaces(menu.codecs, at)
  if (places.length > 0 && places.length === at.length) return yield* continues
  return { outcome: "outdated", detail: `page ${at[places.length]?.p ?? start}` } satisfies Prediction
})

/** The handling of a press of a button of a menu. */
export const makePress = (menu: Definition, options: Options, update: Callback) => {
  const { notYours = "These buttons are for somebody else.", onOutdated = () => defaultOutdated } = options
  const message_id = update.message?.body?.mid

  /** Edits the message where the callback cannot be answered any more, and ignores that the message was removed. */
  const edit = ({ disable_link_preview: _, ...message }: MenuMessage) => {
    if (message_id === undefined) return Effect.void
    return Effect.catchTag(Messages.edit({ ...message, message_id }), ["NotFound", "OperationRejected"], (error) =>
      Effect.logDebug(`The message of a menu was not edited: ${error.message}`)
    )
  }

  const notify = (notification?: string) =>
    notification === undefined
      ? Effect.void
      : Effect.catchTag(Answers.answer(update, notification), "MethodNotAllowed", () => Effect.void)

  /** Whether a message would have no content. An edit without a text keeps the text of the message. */
  const isEmpty = ({ attachments, link, text }: MenuMessage): boolean =>
    !(text ?? update.message?.body?.text) && attachments?.length === 0 && link == null

  /** Removes a message of which nothing would be left. The platform refuses messages without a content. */
  const remove = Effect.fnUntraced(function* (notification?: string) {
    yield* notify(notification)
    if (message_id === undefined) return
    yield* Effect.catchTag(Messages.remove({ message_id }), ["NotFound", "OperationRejected"], (error) =>
      (error._tag === "NotFound" ? Effect.logDebug : Effect.logWarning)(
        `The message of a menu was not removed: ${error.message}`
      )
    )
  })

  /** Answers a callback with the new content of its message, or with a notification only. */
  const answer = Effect.fnUntraced(function* (shown?: MenuMessage, notification?: string) {
    if (shown === undefined) return yield* notify(notification)
    if (isEmpty(shown)) return yield* remove(notification)
    const isAnswered = yield* mayBeAnswered(update.callback.callback_id)
    const { disable_link_preview, ...message } = shown
    yield* Answers.answer(update, { message, notification, disable_link_preview }).pipe(
      Effect.catchTag("MethodNotAllowed", () => edit(shown))
    )
    // The earlier attempt may have shown another content.
    if (isAnswered) yield* edit(shown)
  })

  /** Shows the current page of a menu in the message of a callback. */
  const show = Effect.fnUntraced(function* (places: ReadonlyArray<Place>, notification?: string, withKeyboard = true) {
    if (places.length === 0) return yield* answer(withoutKeyboard(update.message), notification)
    const layout = yield* layOut(menu, places, update)
    const owner = menu.isOwned ? userIdOf(update) : undefined
    const message = yield* toMessage(layout, owner, withKeyboard)
    // The text of the page before would stay.
    const isOther = message.text == null && Boolean(update.message?.body?.text)
    return yield* answer(isOther ? { ...message, text: "" } : message, notification)
  })

  const conclude = Effect.fnUntraced(function* (places: ReadonlyArray<Place>, { next, notification }: Outcome) {
    switch (next._tag) {
      case "Stay":
        return yield* show(places, notification)
      case "Go": {
        const place = yield* placeOf(menu, next.page, next.params)
        return yield* show(open(places, place), notification)
      }
      case "Back":
        return yield* show(back(menu, places), notification)
      case "Finish":
        if (next.message === undefined) return yield* show(places, notification, false)
        return yield* answer({ attachments: [], ...next.message }, notification)
      case "Answered":
        return undefined
    }
  })

  /** Shows the current content instead of carrying out the press. */
  const outdated = Effect.fnUntraced(function* (places: ReadonlyArray<Place>) {
    const outcome = yield* run(onOutdated(update))
    if (update.message == null) return yield* answer(undefined, outcome.notification)
    return yield* conclude(places.length > 0 ? places : startOf(menu), outcome)
  })

  /** Handles a press. */
  const press = Effect.fnUntraced(function* (pressed: Pressed) {
    const { at, by, do: act, v = 1 } = pressed
    if (v > menu.version) return yield* newer(`The menu "${menu.name}"`, v, menu.version)
    if (by !== undefined && by !== update.callback.user.user_id) {
      return yield* answer(undefined, typeof notYours === "string" ? notYours : notYours(update))
    }
    // Neither the chat nor its state is known of a message that was removed.
    if (update.message == null) return yield* outdated([])
    const mid = message_id ?? ""
    // The message has the outcome of the first press.
    if (yield* wasPressed(mid, pressed)) {
      return yield* notify((yield* run(onOutdated(update))).notification)
    }
    const places = yield* readPlaces(menu.codecs, at)
    if (places.length === 0 || places.length < at.length) return yield* outdated(places)
    if (act[0] === "turn" && (yield* hasList(menu, places, update, act[1])))
      return yield* show(turn(places, act[1], act[2]))
    const button = yield* find(yield* layOut(menu, places, update), act)
    if (button === undefined) return yield* outdated(places)
    const { action } = button
    switch (action._tag) {
      case "Back":
        return yield* show(back(menu, places))
      case "Close":
        return yield* show(places, undefined, false)
      case "Open":
        return yield* conclude(places, makeOutcome({ ...action, _tag: "Go" }))
      case "Press":
        if (action.isOnce) yield* rememberPress(mid, pressed)
        return yield* conclude(places, yield* run(action.run(update)))
      default:
        return yield* show(places)
    }
  })

  return { outdated, press }
}
