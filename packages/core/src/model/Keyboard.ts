/**
 * Inline keyboards: rows of buttons under a message.
 *
 * API: Request-side message body, Keyboard payload.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as Getter from "effect/SchemaGetter"
import { openEnum, openList, openUnion, optional, type Unknown } from "../base/internal/wire.ts"
import * as Platform from "../base/Platform.ts"

/**
 * The fields of every button: its text, and the `intent` of buttons that were received, by which the messenger can show
 * the button in another color. A button that is sent needs none.
 *
 * @assumption buttonTypes
 */
const common = { text: Schema.String, intent: optional(openEnum("default", "positive", "negative")) }

/**
 * A button that sends the bot a `message_callback` update with its `payload`. Answer the callback by `Answers.answer`.
 *
 * @category models
 * @since 0.1.0
 */
export const CallbackButton = Schema.Struct({
  type: Schema.tag("callback"),
  ...common,
  payload: optional(Schema.String)
})

/**
 * @category models
 * @since 0.1.0
 */
export interface CallbackButton extends Schema.Schema.Type<typeof CallbackButton> {}

/**
 * A button that opens a URL.
 *
 * @category models
 * @since 0.1.0
 */
export const LinkButton = Schema.Struct({ type: Schema.tag("link"), ...common, url: Schema.String })

/**
 * @category models
 * @since 0.1.0
 */
export interface LinkButton extends Schema.Schema.Type<typeof LinkButton> {}

/**
 * A button that asks the user to send their contact.
 *
 * @category models
 * @since 0.1.0
 */
export const RequestContactButton = Schema.Struct({ type: Schema.tag("request_contact"), ...common })

/**
 * @category models
 * @since 0.1.0
 */
export interface RequestContactButton extends Schema.Schema.Type<typeof RequestContactButton> {}

/**
 * A button that asks the user to send their location. With `quick`, the messenger does not ask
 * the user again.
 *
 * @category models
 * @since 0.1.0
 */
export const RequestGeoLocationButton = Schema.Struct({
  type: Schema.tag("request_geo_location"),
  ...common,
  quick: optional(Schema.Boolean)
})

/**
 * @category models
 * @since 0.1.0
 */
export interface RequestGeoLocationButton extends Schema.Schema.Type<typeof RequestGeoLocationButton> {}

/**
 * A button that sends its text as a message of the user.
 *
 * @category models
 * @since 0.1.0
 */
export const MessageButton = Schema.Struct({ type: Schema.tag("message"), ...common })

/**
 * @category models
 * @since 0.1.0
 */
export interface MessageButton extends Schema.Schema.Type<typeof MessageButton> {}

/**
 * A button that opens a mini app.
 *
 * @category models
 * @since 0.1.0
 */
export const OpenAppButton = Schema.Struct({
  type: Schema.tag("open_app"),
  ...common,
  web_app: Schema.String,
  contact_id: optional(Schema.Int),
  payload: optional(Schema.String)
})

/**
 * @category models
 * @since 0.1.0
 */
export interface OpenAppButton extends Schema.Schema.Type<typeof OpenAppButton> {}

/**
 * A button that copies its payload to the clipboard of the user.
 *
 * @category models
 * @since 0.1.0
 */
export const ClipboardButton = Schema.Struct({
  type: Schema.tag("clipboard"),
  ...common,
  payload: Schema.String
})

/**
 * @category models
 * @since 0.1.0
 */
export interface ClipboardButton extends Schema.Schema.Type<typeof ClipboardButton> {}

const buttonTypes = () => ({
  callback: CallbackButton,
  link: LinkButton,
  request_contact: RequestContactButton,
  request_geo_location: RequestGeoLocationButton,
  message: MessageButton,
  open_app: OpenAppButton,
  clipboard: ClipboardButton
})

/**
 * A button of a type that this version does not know.
 *
 * @category models
 * @since 0.1.0
 */
export interface UnknownButton extends Unknown<"type"> {}

/**
 * A button of any type. A button of a type that this version does not know is decoded as `{ type: "unknown", raw }`.
 *
 * @assumption buttonTypes
 * @category models
 * @since 0.1.0
 */
export const Button: Schema.Codec<Button, unknown> = openUnion("type", buttonTypes)

/**
 * @category models
 * @since 0.1.0
 */
export type Button =
  | CallbackButton
  | LinkButton
  | RequestContactButton
  | RequestGeoLocationButton
  | MessageButton
  | OpenAppButton
  | ClipboardButton
  | UnknownButton

/**
 * The rows of a keyboard that was received. Their limits are not checked.
 *
 * @category models
 * @since 0.1.0
 */
export const Buttons: Schema.Codec<ReadonlyArray<ReadonlyArray<Button>>, unknown> = Schema.Array(
  openList("type", buttonTypes)
)

/**
 * An inline keyboard: an attachment of a message.
 *
 * @category models
 * @since 0.1.0
 */
export interface Keyboard {
  /** The type of the attachment. */
  readonly type: "inline_keyboard"
  /** The buttons, by row. */
  readonly payload: { readonly buttons: ReadonlyArray<ReadonlyArray<Button>> }
}

/**
 * The options of {@link requestGeoLocation}.
 *
 * @category models
 * @since 0.1.0
 */
export interface RequestGeoLocationOptions {
  /** Whether the messenger sends the location without asking the user again. Default: `false`. */
  readonly quick?: boolean | undefined
}

/**
 * The options of {@link openApp}.
 *
 * @category models
 * @since 0.1.0
 */
export interface OpenAppOptions {
  /** Sent as `contact_id`. Default: none. */
  readonly contact_id?: number | undefined
  /** The payload of the mini app, of at most 512 characters. Default: none. */
  readonly payload?: string | undefined
}

const isWide = (button: Button): boolean => Platform.wideButtonTypes.includes(button.type)

interface Issue {
  readonly path: ReadonlyArray<PropertyKey>
  readonly issue: string
}

interface FieldLength {
  readonly field: string
  readonly min: number
  readonly max: number
}

const text: FieldLength = { field: "text", min: 1, max: Platform.maxButtonTextLength }

const fieldLengths: { readonly [Type in Button["type"]]?: ReadonlyArray<FieldLength> } = {
  callback: [text, { field: "payload", min: 0, max: Platform.maxCallbackPayloadLength }],
  link: [text, { field: "url", min: 1, max: Platform.maxButtonUrlLength }],
  open_app: [
    text,
    { field: "web_app", min: 1, max: Platform.maxMiniAppUrlLength },
    { field: "payload", min: 0, max: Platform.maxAppPayloadLength }
  ],
  clipboard: [text, { field: "payload", min: 0, max: Platform.maxClipboardPayloadLength }],
  unknown: []
}

const isUnencrypted = (button: Button): boolean => button.type === "open_app" && /^http:/i.test(button.web_app)

const buttonIssues = (button: Button): ReadonlyArray<Issue> => [
  ...(isUnencrypted(button) ? [{ path: ["web_app"], issue: "must start with https://, not with http://" }] : []),
  ...(fieldLengths[button.type] ?? [text]).flatMap(({ field, max, min }) => {
    const value = (button as { readonly [key: string]: string | null | undefined })[field]
    if (value == null) return []
    const length = Platform.lengthOf(value)
    if (length >= min && length <= max) return []
    return { path: [field], issue: `must be ${min === 0 ? "at most" : `${min} to`} ${max} characters, is ${length}` }
  })
]

const countIssue = (count: number, max: number, items: string): string | undefined =>
  count > max ? `must hold at most ${max} ${items}, holds ${count}` : undefined

const rowIssue = (row: ReadonlyArray<Button>): string | undefined => {
  if (row.length === 0) return "must hold at least one button"
  const issue = countIssue(row.length, Platform.maxButtonsInRow, "buttons")
  if (issue !== undefined || !row.some(isWide)) return issue
  const wideTypes = Platform.wideButtonTypes.join(", ")
  return countIssue(row.length, Platform.maxButtonsInWideRow, `buttons if one of them is ${wideTypes}`)
}

const at = (path: ReadonlyArray<PropertyKey>, issue: string | undefined): ReadonlyArray<Issue> =>
  issue === undefined ? [] : [{ path, issue }]

const keyboardIssues = (rows: ReadonlyArray<ReadonlyArray<Button>>): ReadonlyArray<Issue> => [
  ...at([], countIssue(rows.length, Platform.maxRows, "rows")),
  ...at([], countIssue(rows.flat().length, Platform.maxButtons, "buttons")),
  ...rows.flatMap((row, y) => [
    ...at([y], rowIssue(row)),
    ...row.flatMap((button, x) => buttonIssues(button).flatMap(({ path, issue }) => at([y, x, ...path], issue)))
  ])
]

/**
 * The schema of a keyboard to send. Encoding fails if the keyboard exceeds a limit of the platform:
 *
 * - at most 30 rows and 210 buttons;
 * - at most 7 buttons in a row, and at most 3 in a row with a `link`, `open_app`, `request_geo_location` or
 *   `request_contact`;
 * - texts of 1 to 128 characters, payloads of at most 1024 (`open_app`: 512), URLs of at most 2048;
 * - the `web_app` of 1 to 1024 characters; an address of a mini app starts with `https://`.
 *
 * A keyboard that was received can be sent again. Its `callback_id` is left out.
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
 * Creates a button that sends the bot a `message_callback` update with its payload. `text` has 1 to 128 characters,
 * `payload` at most 1024. `Payload.make` creates buttons whose payload is typed by a schema.
 *
 * @category constructors
 * @since 0.1.0
 */
export const callback = (text: string, payload?: string): Button =>
  payload === undefined ? { type: "callback", text } : { type: "callback", text, payload }

/**
 * Creates a button that opens a URL of at most 2048 characters.
 *
 * @category constructors
 * @since 0.1.0
 */
export const link = (text: string, url: string): Button => ({ type: "link", text, url })

/**
 * Creates a button that asks the user to send their contact.
 *
 * @category constructors
 * @since 0.1.0
 */
export const requestContact = (text: string): Button => ({ type: "request_contact", text })

/**
 * Creates a button that asks the user to send their location.
 *
 * @category constructors
 * @since 0.1.0
 */
export const requestGeoLocation = (text: string, options?: RequestGeoLocationOptions): Button => ({
  type: "request_geo_location",
  text,
  ...options
})

/**
 * Creates a button that sends its text as a message of the user.
 *
 * @category constructors
 * @since 0.1.0
 */
export const message = (text: string): Button => ({ type: "message", text })

/**
 * Creates a button that opens a mini app. `webApp` is sent as `web_app`: at most 1024 characters, and not an address with
 * `http://`.
 *
 * @assumption miniAppUrl
 * @category constructors
 * @since 0.1.0
 */
export const openApp = (text: string, webApp: string, options?: OpenAppOptions): Button => ({
  type: "open_app",
  text,
  web_app: webApp,
  ...options
})

/**
 * Creates a button that copies `payload`, of at most 1024 characters, to the clipboard of the user.
 *
 * @category constructors
 * @since 0.1.0
 */
export const clipboard = (text: string, payload: string): Button => ({ type: "clipboard", text, payload })

/**
 * Creates a keyboard from its rows. The limits are checked when the keyboard is sent: the call fails with an
 * `InvalidRequest` that names the button and the limit, and nothing is sent.
 *
 * **Example** (A question with three answers)
 *
 * ```ts
 * import { Chat, Keyboard, Messages } from "@colloquy/core"
 *
 * const ask = Messages.send({
 *   chat_id: Chat.ChatId.make(4242),
 *   text: "Shall we meet?",
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
 * Creates a keyboard from a list of buttons, with `columns` buttons in each row. The last row may have fewer.
 *
 * **Example** (Six buttons in two rows)
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
