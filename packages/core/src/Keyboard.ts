/**
 * Inline keyboards: rows of buttons under a message.
 *
 * API: Request-side message body, Keyboard payload.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as Getter from "effect/SchemaGetter"
import { keyboardLimits as limits } from "./internal/assumptions.ts"
import { openList, openUnion, optional } from "./internal/wire.ts"

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
 * @assumption A The kinds of buttons besides `link`, and what they carry.
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

const isWide = (button: Button): boolean => limits.wideKinds.includes(button.type)

const lengthIssue = (value: string | null | undefined, min: number, max: number): string | undefined =>
  value == null || (value.length >= min && value.length <= max)
    ? undefined
    : `must be ${min === 0 ? `at most ${max}` : `${min} to ${max}`} characters, is ${value.length}`

type Issue = { readonly path: ReadonlyArray<PropertyKey>; readonly issue: string }

const buttonIssues = function* (button: Button): Generator<Issue> {
  if (button.type === "unknown") return
  const check = (field: string, issue: string | undefined): Array<Issue> =>
    issue === undefined ? [] : [{ path: [field], issue }]
  yield* check("text", lengthIssue(button.text, 1, limits.text))
  if (button.type === "callback") yield* check("payload", lengthIssue(button.payload, 0, limits.callbackPayload))
  if (button.type === "clipboard") yield* check("payload", lengthIssue(button.payload, 0, limits.clipboardPayload))
  if (button.type === "open_app") yield* check("payload", lengthIssue(button.payload, 0, limits.appPayload))
  if (button.type === "link") yield* check("url", lengthIssue(button.url, 1, limits.url))
}

const rowIssue = (row: ReadonlyArray<Button>): string | undefined =>
  row.length === 0
    ? "must hold at least one button"
    : row.length > limits.inRow
      ? `must hold at most ${limits.inRow} buttons, holds ${row.length}`
      : row.length > limits.inWideRow && row.some(isWide)
        ? `must hold at most ${limits.inWideRow} buttons where one is ${limits.wideKinds.join(", ")}; holds ${row.length}`
        : undefined

const keyboardIssues = (rows: ReadonlyArray<ReadonlyArray<Button>>): ReadonlyArray<Issue> => {
  const issues: Array<Issue> = []
  const total = rows.reduce((sum, row) => sum + row.length, 0)
  if (rows.length > limits.rows) {
    issues.push({ path: [], issue: `must hold at most ${limits.rows} rows, holds ${rows.length}` })
  }
  if (total > limits.buttons) {
    issues.push({ path: [], issue: `must hold at most ${limits.buttons} buttons, holds ${total}` })
  }
  rows.forEach((row, y) => {
    const issue = rowIssue(row)
    if (issue !== undefined) issues.push({ path: [y], issue })
    row.forEach((button, x) => {
      for (const { path, issue } of buttonIssues(button)) issues.push({ path: [y, x, ...path], issue })
    })
  })
  return issues
}

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
