/**
 * Inline keyboards: rows of buttons under a message.
 *
 * API: Request-side message body, Keyboard payload.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as Getter from "effect/SchemaGetter"
import { openList, openUnion, optional } from "./internal/client/wire.ts"
import * as Platform from "./Platform.ts"

/**
 * Tells the bot that it was pressed: `message_callback` with this `payload`. Answer it with `Answers.send`.
 *
 * @category models
 * @since 0.1.0
 */
export const CallbackButton = Schema.Struct({
  type: Schema.tag("callback"),
  text: Schema.String,
  payload: optional(Schema.String)
})

/**
 * Opens an address.
 *
 * @category models
 * @since 0.1.0
 */
export const LinkButton = Schema.Struct({ type: Schema.tag("link"), text: Schema.String, url: Schema.String })

/**
 * Asks for the person's contact.
 *
 * @category models
 * @since 0.1.0
 */
export const RequestContactButton = Schema.Struct({ type: Schema.tag("request_contact"), text: Schema.String })

/**
 * Asks for the person's location; with `quick` without a further question.
 *
 * @category models
 * @since 0.1.0
 */
export const RequestGeoLocationButton = Schema.Struct({
  type: Schema.tag("request_geo_location"),
  text: Schema.String,
  quick: optional(Schema.Boolean)
})

/**
 * Sends its text as a message of the person who presses it.
 *
 * @category models
 * @since 0.1.0
 */
export const MessageButton = Schema.Struct({ type: Schema.tag("message"), text: Schema.String })

/**
 * Opens a mini-application.
 *
 * @category models
 * @since 0.1.0
 */
export const OpenAppButton = Schema.Struct({
  type: Schema.tag("open_app"),
  text: Schema.String,
  web_app: Schema.String,
  contact_id: optional(Schema.Int),
  payload: optional(Schema.String)
})

/**
 * Copies its payload.
 *
 * @category models
 * @since 0.1.0
 */
export const ClipboardButton = Schema.Struct({
  type: Schema.tag("clipboard"),
  text: Schema.String,
  payload: Schema.String
})

const kinds = {
  callback: CallbackButton,
  link: LinkButton,
  request_contact: RequestContactButton,
  request_geo_location: RequestGeoLocationButton,
  message: MessageButton,
  open_app: OpenAppButton,
  clipboard: ClipboardButton
}

/**
 * Any button. A kind that this version does not know arrives as `{ type: "unknown", raw }`.
 *
 * @assumption buttonTypes
 * @category models
 * @since 0.1.0
 */
export const Button = openUnion("type", kinds)

/**
 * @category models
 * @since 0.1.0
 */
export type Button = typeof Button.Type

/**
 * The rows of a keyboard as they arrive.
 *
 * @category models
 * @since 0.1.0
 */
export const Buttons = Schema.Array(openList("type", kinds))

/**
 * An inline keyboard to send with a message: one of its attachments.
 *
 * @category models
 * @since 0.1.0
 */
export interface Keyboard {
  readonly type: "inline_keyboard"
  readonly payload: { readonly buttons: ReadonlyArray<ReadonlyArray<Button>> }
}

const isWide = (button: Button): boolean => Platform.wideButtonTypes.includes(button.type)

type Issue = { readonly path: ReadonlyArray<PropertyKey>; readonly issue: string }

type Length = readonly [field: string, min: number, max: number]

const text: Length = ["text", 1, Platform.maxButtonTextLength]

/** The lengths of what buttons hold, by their kind. */
const lengths: { readonly [Kind in Button["type"]]?: ReadonlyArray<Length> } = {
  callback: [text, ["payload", 0, Platform.maxCallbackPayloadLength]],
  link: [text, ["url", 1, Platform.maxButtonUrlLength]],
  open_app: [text, ["payload", 0, Platform.maxAppPayloadLength]],
  clipboard: [text, ["payload", 0, Platform.maxClipboardPayloadLength]],
  unknown: []
}

const buttonIssues = (button: Button): ReadonlyArray<Issue> =>
  (lengths[button.type] ?? [text]).flatMap(([field, min, max]) => {
    const { length } = (button as { readonly [key: string]: string | null | undefined })[field] ?? { length: min }
    if (length >= min && length <= max) return []
    return { path: [field], issue: `must be ${min === 0 ? "at most" : `${min} to`} ${max} characters, is ${length}` }
  })

const rowIssue = (row: ReadonlyArray<Button>): string | undefined =>
  row.length === 0
    ? "must hold at least one button"
    : row.length > Platform.maxButtonsInRow
      ? `must hold at most ${Platform.maxButtonsInRow} buttons, holds ${row.length}`
      : row.length > Platform.maxButtonsInWideRow && row.some(isWide)
        ? `must hold at most ${Platform.maxButtonsInWideRow} buttons where one is ${Platform.wideButtonTypes.join(", ")}; holds ${row.length}`
        : undefined

const at = (path: ReadonlyArray<PropertyKey>, issue: string | undefined): ReadonlyArray<Issue> =>
  issue === undefined ? [] : [{ path, issue }]

const atMost = (most: number, what: string, count: number): ReadonlyArray<Issue> =>
  at([], count > most ? `must hold at most ${most} ${what}, holds ${count}` : undefined)

const keyboardIssues = (rows: ReadonlyArray<ReadonlyArray<Button>>): ReadonlyArray<Issue> => [
  ...atMost(Platform.maxRows, "rows", rows.length),
  ...atMost(Platform.maxButtons, "buttons", rows.flat().length),
  ...rows.flatMap((row, y) => [
    ...at([y], rowIssue(row)),
    ...row.flatMap((button, x) => buttonIssues(button).flatMap(({ path, issue }) => at([y, x, ...path], issue)))
  ])
]

/**
 * A keyboard within the platform's limits: at most 210 buttons in at most 30 rows, 7 in a row, 3 in a row with a
 * `link`, `open_app`, `request_geo_location` or `request_contact`; texts of 1 to 128 characters, payloads of at most
 * 1024 (`open_app`: 512), addresses of at most 2048. A received one can be sent again: its `callback_id` stays behind.
 *
 * @category models
 * @since 0.1.0
 */
export const Keyboard: Schema.Codec<Keyboard, unknown> = Schema.Struct({
  type: Schema.Literal("inline_keyboard"),
  payload: Schema.Struct({ buttons: Buttons })
}).pipe(
  Schema.decodeTo(
    Schema.Struct({
      type: Schema.Literal("inline_keyboard"),
      payload: Schema.Struct({ buttons: Schema.toType(Buttons).check(Schema.makeFilter(keyboardIssues)) }),
      callback_id: Schema.optional(Schema.Unknown)
    }),
    {
      decode: Getter.transform((keyboard) => keyboard),
      encode: Getter.transform(({ payload, type }) => ({ type, payload }))
    }
  )
)

/**
 * A button that tells the bot that it was pressed. `text` has 1 to 128 characters, `payload` at most 1024.
 *
 * @category constructors
 * @since 0.1.0
 */
export const callback = (text: string, payload?: string): Button =>
  payload === undefined ? { type: "callback", text } : { type: "callback", text, payload }

/**
 * A button that opens an address of at most 2048 characters.
 *
 * @category constructors
 * @since 0.1.0
 */
export const link = (text: string, url: string): Button => ({ type: "link", text, url })

/**
 * A button that asks for the person's contact.
 *
 * @category constructors
 * @since 0.1.0
 */
export const requestContact = (text: string): Button => ({ type: "request_contact", text })

/**
 * A button that asks for the person's location; with `quick` without a further question.
 *
 * @category constructors
 * @since 0.1.0
 */
export const requestGeoLocation = (text: string, options?: { readonly quick?: boolean | undefined }): Button => ({
  type: "request_geo_location",
  text,
  ...options
})

/**
 * A button that sends its text as a message of the person who presses it.
 *
 * @category constructors
 * @since 0.1.0
 */
export const message = (text: string): Button => ({ type: "message", text })

/**
 * A button that opens a mini-application. `payload` has at most 512 characters.
 *
 * @category constructors
 * @since 0.1.0
 */
export const openApp = (
  text: string,
  webApp: string,
  options?: { readonly contact_id?: number | undefined; readonly payload?: string | undefined }
): Button => ({ type: "open_app", text, web_app: webApp, ...options })

/**
 * A button that copies `payload`, at most 1024 characters.
 *
 * @category constructors
 * @since 0.1.0
 */
export const clipboard = (text: string, payload: string): Button => ({ type: "clipboard", text, payload })

/**
 * A keyboard of the given rows. The limits are checked when it is sent: a keyboard beyond them fails as
 * `InvalidRequest` that names the button and the limit, and nothing is sent.
 *
 * **Example**
 *
 * ```ts
 * import { Chat, Keyboard, Messages } from "@colloquy/core"
 *
 * const ask = Messages.send({
 *   chat_id: Chat.ChatId.make(4242),
 *   text: "Shall we?",
 *   attachments: [
 *     Keyboard.make([Keyboard.callback("Yes", "yes"), Keyboard.callback("No", "no")], [Keyboard.message("Later")])
 *   ]
 * })
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (...rows: ReadonlyArray<ReadonlyArray<Button>>): Keyboard => ({
  type: "inline_keyboard",
  payload: { buttons: rows }
})

/**
 * A keyboard of buttons laid out in rows of `columns`.
 *
 * **Example**
 *
 * ```ts
 * import { Keyboard } from "@colloquy/core"
 *
 * const digits = Keyboard.grid(3, ["1", "2", "3", "4", "5", "6"].map((digit) => Keyboard.callback(digit, digit)))
 * digits.payload.buttons.length // => 2
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const grid = (columns: number, buttons: ReadonlyArray<Button>): Keyboard => {
  const width = Math.max(1, Math.trunc(columns))
  return make(
    ...Array.from({ length: Math.ceil(buttons.length / width) }, (_, y) => buttons.slice(y * width, (y + 1) * width))
  )
}
