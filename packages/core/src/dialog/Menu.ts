/**
 * Menus: inline keyboards with pages, toggles, choices and lists, whose presses edit the message.
 *
 * A menu is a value. Its pages are functions that return a text and rows of buttons, mostly from `State`. When a button
 * is pressed, the page is made again for the user who pressed. If the page still has the button, the function of the
 * button runs, and the message shows the page after the change.
 *
 * The payload of each button contains the open pages and their parameters. So the buttons of old messages work after a
 * restart and after a deploy, without stored data.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { downcast } from "../base/internal/downcast.ts"
import type * as Answers from "../endpoints/Answers.ts"
import type { BotApi } from "../client/BotApi.ts"
import type * as Endpoint from "../client/Endpoint.ts"
import type * as Handler from "../inbox/Handler.ts"
import type { ValueSchema } from "../bot/internal/handlers/namedValue.ts"
import * as blocks from "./internal/menu/blocks.ts"
import * as choices from "./internal/menu/choices.ts"
import type { Render } from "./internal/menu/layout.ts"
import * as menus from "./internal/menu/menu.ts"
import type * as Keyboard from "../model/Keyboard.ts"
import type { Message } from "../model/Message.ts"
import type * as Messages from "../endpoints/Messages.ts"
import type { NewMessageBody } from "../model/NewMessage.ts"
import type * as Payload from "../bot/Payload.ts"
import type { MessageId } from "../model/Recipient.ts"
import type { InvalidState, NoStateKey, StaleState } from "../bot/State.ts"
import type { StoreError } from "../base/StoreError.ts"
import type * as Update from "../model/Update.ts"
import * as parts from "./internal/menu/parts.ts"
import { PermanentTaggedError } from "../base/internal/permanentTaggedError.ts"

/**
 * A page of a menu cannot be shown: it exceeds a limit of the platform, it has no content, two of its buttons or lists have the same
 * name, or a button opens a page that does not exist. Nothing was sent.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidMenu extends PermanentTaggedError("InvalidMenu", () => ({
  /** The name of the menu. */
  menuName: Schema.String,
  /** The name of the page. */
  page: Schema.String,
  /** The problem, and how to solve it. */
  problem: Schema.String
})) {
  override get message() {
    return `Cannot show the page "${this.page}" of the menu "${this.menuName}": ${this.problem.replace(/\.$/, "")}.`
  }
}

/**
 * The outcome of a press. See `Menu.notify`, `Menu.goBack`, `Menu.finish`, `Menu.answered`, and `go` of {@link Page}.
 *
 * @category outcomes
 * @since 0.1.0
 */
export interface Outcome {
  readonly [parts.OutcomeTypeId]: typeof parts.OutcomeTypeId
  /** The content after the press. */
  readonly next: Next
  /** A text that is shown once to the user. */
  readonly notification?: string | undefined
}

/**
 * The content after a press: the same page, another page, the page before, the message without its keyboard, or no
 * change.
 *
 * @category outcomes
 * @since 0.1.0
 */
export type Next =
  | { readonly _tag: "Stay" }
  | { readonly _tag: "Go"; readonly page: string; readonly params: unknown }
  | { readonly _tag: "Back" }
  | { readonly _tag: "Finish"; readonly message?: NewMessageBody | undefined }
  | { readonly _tag: "Answered" }

/**
 * The result of the function of a button: an effect, whose success can be an {@link Outcome}, or an outcome. Without an
 * outcome, the page is shown again.
 *
 * @category models
 * @since 0.1.0
 */
export type Return<E = unknown, R = unknown> = Effect.Effect<unknown, E, R> | Outcome | undefined

/**
 * The action of a button. The function of `Press` runs only if the page, made again for the user who pressed, still has
 * the button.
 *
 * @category models
 * @since 0.1.0
 */
export type Action<E = never, R = never> =
  | {
      readonly _tag: "Press"
      /** The name, which identifies the button on its page. */
      readonly name: string
      /** Distinguishes buttons of the same name. */
      readonly value?: string | undefined
      /** Whether only the first press of the button counts each time that the button is shown. */
      readonly isOnce: boolean
      readonly run: (update: Update.Of<"message_callback">) => Return<E | Handler.NotHandled, R>
    }
  | { readonly _tag: "Open"; readonly page: string; readonly params: unknown }
  | { readonly _tag: "Turn"; readonly list: string; readonly to: number }
  | { readonly _tag: "Back" }
  | { readonly _tag: "Close" }
  | { readonly _tag: "Refresh" }

/**
 * A button of a page, whose press the menu handles. `E` are the errors and `R` the services of its function.
 *
 * @category models
 * @since 0.1.0
 */
export interface Button<out E = never, out R = never> {
  readonly [parts.ButtonTypeId]: typeof parts.ButtonTypeId
  /** The text, of 1 to 128 characters. */
  readonly text: string
  /** The action of the button. */
  readonly action: Action<E, R>
}

/**
 * A row of buttons. Buttons of `Keyboard`, such as links, are part of a row as they are.
 *
 * @category models
 * @since 0.1.0
 */
export type Row<E = never, R = never> = ReadonlyArray<Button<E, R> | Keyboard.Button>

/**
 * Several rows that belong together, such as a list with pages. A block is used instead of a row. `LoadE` are the
 * errors of loading its items.
 *
 * @category models
 * @since 0.1.0
 */
export interface Block<out E = never, out R = never, out LoadE = never> {
  readonly [parts.BlockTypeId]: typeof parts.BlockTypeId
  /** The name of a list. */
  readonly name?: string | undefined
  /** Returns the rows of a part of the list, counted from 0. Without such a part, the rows of the nearest part. */
  readonly rowsAt: (part: number) => Effect.Effect<ReadonlyArray<Row<E, R>>, LoadE, R>
  /** All rows, where they are known without an effect: buttons in other parts can still be pressed. */
  readonly allRows: () => ReadonlyArray<Row<E, R>>
}

/**
 * The content of a page: the fields of a message, and rows of buttons. `attachments` are shown with the keyboard. A
 * page without `text` keeps the text of the page before.
 *
 * @category models
 * @since 0.1.0
 */
export interface Content<E = never, R = never> extends NewMessageBody {
  /** The rows of the keyboard. */
  readonly rows: ReadonlyArray<Row<E, R> | Block<E, R, E>>
  /** Whether links of the text are shown without a preview. Default: `false`. */
  readonly disable_link_preview?: boolean | undefined
}

/**
 * The errors of buttons, rows and blocks.
 *
 * @category utility types
 * @since 0.1.0
 */
export type RowsError<T> =
  T extends Button<infer E, infer _R>
    ? E
    : T extends Block<infer E, infer _R, infer LoadE>
      ? E | LoadE
      : T extends ReadonlyArray<infer Item>
        ? RowsError<Item>
        : never

/**
 * The errors of loading the items of blocks.
 *
 * @category utility types
 * @since 0.1.0
 */
export type LoadError<T> =
  T extends Block<infer _E, infer _R, infer LoadE>
    ? LoadE
    : T extends ReadonlyArray<infer Item>
      ? LoadError<Item>
      : never

/**
 * The services that buttons, rows and blocks require.
 *
 * @category utility types
 * @since 0.1.0
 */
export type RowsServices<T> =
  T extends Button<infer _E, infer R>
    ? R
    : T extends Block<infer _E, infer R, infer _LoadE>
      ? R
      : T extends ReadonlyArray<infer Item>
        ? RowsServices<Item>
        : never

/**
 * The parameters of the pages of a menu, by name.
 *
 * @category models
 * @since 0.1.0
 */
export type Pages = { readonly [page: string]: unknown }

/**
 * A page with its parameters, as arguments. A page without parameters needs only its name.
 *
 * @category utility types
 * @since 0.1.0
 */
export type To<P extends Pages> = {
  readonly [K in keyof P & string]: void extends P[K] ? [page: K, params?: P[K]] : [page: K, params: P[K]]
}[keyof P & string]

/**
 * The argument of the function of a page.
 *
 * @category models
 * @since 0.1.0
 */
export interface Page<P extends Pages, out Params> {
  /** The parameters with which the page was opened. */
  readonly params: Params
  /** The update that is being handled. `undefined`: none, or several together, are being handled. */
  readonly update: Update.Update | undefined
  /** Returns a button that opens a page of the menu. */
  readonly open: (text: string, ...to: To<P>) => Button
  /** The outcome of a press that opens a page of the menu. A page that is open already is returned to. */
  readonly go: (...to: To<P>) => Outcome
}

/**
 * A menu with pages `P`. A menu is a part of a bot: the handler of the presses on all of its pages. `E` are the errors of its pages and of their buttons, `R` the services that they require, and
 * `RenderE` the errors of its pages alone.
 *
 * @category models
 * @since 0.1.0
 */
export interface Menu<P extends Pages, out RenderE = never, out E = never, out R = never> extends Handler.Handler<
  | E
  | InvalidMenu
  | Payload.InvalidPayload
  | Endpoint.Errors<typeof Answers.send>
  | Endpoint.Errors<typeof Messages.edit>,
  R | BotApi
> {
  /** The name. */
  readonly name: string
  /**
   * Returns the message of a page, to be sent by other means. Default: the page `main`, if the page has no parameters.
   * Buttons of a menu of a `userInChat` belong to the user of the update that is being handled.
   */
  readonly message: (...to: Start<P>) => Effect.Effect<MenuMessage, RenderE | InvalidMenu | Payload.InvalidPayload, R>
  /** Sends a page to the chat of an update, as `Messages.reply` does. Default: the page `main`. */
  readonly reply: <U extends Update.Repliable>(
    update: U,
    ...to: Start<P>
  ) => Effect.Effect<
    Message,
    RenderE | InvalidMenu | Payload.InvalidPayload | Effect.Error<Messages.Reply<U>>,
    R | BotApi
  >
  /** Sends a page to a chat or a user, as `Messages.send` does. Default: the page `main`. */
  readonly send: (
    to: Messages.To,
    ...page: Start<P>
  ) => Effect.Effect<
    Message,
    RenderE | InvalidMenu | Payload.InvalidPayload | Endpoint.Errors<typeof Messages.send>,
    R | BotApi
  >
  /** Shows a page in a message that was sent before, as `Messages.edit` does. Default: the page `main`. */
  readonly edit: (
    message_id: MessageId,
    ...to: Start<P>
  ) => Effect.Effect<
    void,
    RenderE | InvalidMenu | Payload.InvalidPayload | Endpoint.Errors<typeof Messages.edit>,
    R | BotApi
  >
}

/**
 * A page with its parameters, as arguments. The arguments may be omitted for the page `main` without parameters.
 *
 * @category utility types
 * @since 0.1.0
 */
export type Start<P extends Pages> = To<P> | (P extends { readonly main: infer Main } ? StartOf<Main> : never)

type StartOf<Main> = void extends Main ? [] : never

/**
 * The message of a page.
 *
 * @category models
 * @since 0.1.0
 */
export interface MenuMessage extends NewMessageBody {
  /** Whether links of the text are shown without a preview. Default: `false`. */
  readonly disable_link_preview?: boolean | undefined
}

/**
 * The options of {@link make}.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options<O extends Return = Return> {
  /**
   * The users who may press: `"chat"`: every member of the chat. `"userInChat"`: the user to whom the menu was sent,
   * that is, the user of the update that was being handled, or the user of `send`. Default: `"chat"`.
   */
  readonly of?: "chat" | "userInChat" | undefined
  /**
   * Runs if the page no longer has the button that was pressed, or if the page no longer exists. Then the current page
   * is shown, or the last open page that still exists, or `main`. Default: shows the notification "This menu was out of
   * date and has been updated."
   */
  readonly onOutdated?: ((update: Update.Of<"message_callback">) => O) | undefined
  /**
   * The version of the menu, a positive whole number. Increase the version for changes that older programs cannot show,
   * such as a new page: while both programs run, presses in a message of the newer version wait for the newer program.
   * Default: 1.
   */
  readonly version?: number | undefined
  /** The notification for a user who may not press. Default: "These buttons are for somebody else." */
  readonly notYours?: string | ((update: Update.Of<"message_callback">) => string) | undefined
}

type Rendered<T> = T extends Effect.Effect<infer A, infer _E, infer _R> ? A : T

type RowsOf<T> = Rendered<T> extends { readonly rows: infer Rows } ? Rows : never

type AnyRender<P extends Pages, K extends keyof P> = (
  page: Page<P, P[K]>
) => Content<unknown, unknown> | Effect.Effect<Content<unknown, unknown>, unknown, unknown>

type Made<P extends Pages, T, O extends Return> = Menu<
  P,
  Effect.Error<T> | LoadError<RowsOf<T>>,
  Effect.Error<T> | RowsError<RowsOf<T>> | Handler.ReturnError<O>,
  Effect.Services<T> | RowsServices<RowsOf<T>> | Effect.Services<O>
>

/** The pages of a menu of one page. */
type Single = { readonly main: void }

type PagesOf<S extends { readonly [page: string]: ValueSchema }> = { readonly [K in keyof S]: S[K]["Type"] }

/**
 * Defines a menu with a name and the functions of its pages.
 *
 * - The function of a page returns the fields of a message and `rows` of buttons, or an effect of them. The function
 *   receives a {@link Page}: its `params`, and `open` and `go` to the other pages.
 * - A menu of several pages has the option `pages`: a schema of the parameters of each page, `Schema.Void` for a page without
 *   parameters. `main` is the page that is shown first.
 * - The menu is a part of the bot: pass the menu to `Bot.make`. Its pages cannot be shown in a handler of a bot that does
 *   not have the menu: the attempt dies.
 *
 * The function of a page runs twice for a press: to find the button, and to show the result. The function must not
 * change state.
 *
 * Names of menus contain letters, digits and `_`, and are unique within a bot. Throws if the name or the version is invalid. `reply`, `send` and
 * the menu itself fail with {@link InvalidMenu} if a page exceeds a limit of the platform (30 rows, 210 buttons, 7 in a row), and with
 * `InvalidPayload` if the parameters of the open pages have more than about 900 characters.
 *
 * **Example** (Settings)
 *
 * ```ts
 * import { Bot, Command, Menu, State } from "@colloquy/core"
 * import { Effect, Schema } from "effect"
 *
 * const Settings = State.make("settings", Schema.Struct({ sound: Schema.Boolean, language: Schema.Literals(["en", "ru"]) }), {
 *   of: "user",
 *   initial: () => ({ sound: true, language: "en" as const })
 * })
 *
 * const settings = Menu.make("settings", () =>
 *   Effect.map(Settings.get, ({ language, sound }) => ({
 *     text: "Settings",
 *     rows: [
 *       [Menu.toggle("sound", "Sound", sound, (sound) => Settings.update((all) => ({ ...all, sound })))],
 *       Menu.radio("language", {
 *         choices: { en: "English", ru: "Русский" },
 *         chosen: language,
 *         set: (language) => Settings.update((all) => ({ ...all, language }))
 *       }),
 *       [Menu.close("Close")]
 *     ]
 *   }))
 * )
 *
 * const bot = Bot.make(
 *   Command.make("settings").on((update) => settings.reply(update)),
 *   settings
 * )
 * ```
 *
 * **Example** (A list of products, and a page for each)
 *
 * ```ts
 * import { Menu } from "@colloquy/core"
 * import { Effect, Schema } from "effect"
 *
 * interface Product {
 *   readonly id: number
 *   readonly title: string
 * }
 *
 * declare const products: Effect.Effect<ReadonlyArray<Product>>
 * declare const order: (id: number) => Effect.Effect<void>
 *
 * const shop = Menu.make(
 *   "shop",
 *   { pages: { main: Schema.Void, product: Schema.Struct({ id: Schema.Int }) } },
 *   {
 *     main: ({ open }) =>
 *       Effect.map(products, (all) => ({
 *         text: "What would you like?",
 *         rows: [Menu.list("products", all, ({ id, title }) => open(title, "product", { id }))]
 *       })),
 *     product: ({ go, params: { id } }) => ({
 *       text: `Product ${id}`,
 *       rows: [
 *         [Menu.button("order", "Order", () => Effect.as(order(id), Menu.notify("Ordered", go("main"))))],
 *         [Menu.back("Back")]
 *       ]
 *     })
 *   }
 * )
 * ```
 *
 * API: POST /answers, Keyboard payload.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make: {
  <T extends ReturnType<AnyRender<Single, "main">>>(
    name: string,
    render: (page: Page<Single, void>) => T
  ): Made<Single, T, undefined>
  <T extends ReturnType<AnyRender<Single, "main">>, O extends Return = undefined>(
    name: string,
    options: Options<O> & { readonly pages?: undefined },
    render: (page: Page<Single, void>) => T
  ): Made<Single, T, O>
  <
    const S extends { readonly [page: string]: ValueSchema },
    const F extends { readonly [K in keyof S]: AnyRender<PagesOf<S>, K> },
    O extends Return = undefined
  >(
    name: string,
    options: Options<O> & {
      /** The schemas of the parameters of the pages, by name. Default: one page, `main`, without parameters. */
      readonly pages: S
    },
    renders: F
  ): Made<PagesOf<S>, ReturnType<F[keyof S]>, O>
} = ((name: string, ...rest: ReadonlyArray<unknown>) => {
  const [options, render] = (rest.length === 1 ? [{}, rest[0]] : rest) as [
    Options & { readonly pages?: Record<string, ValueSchema> },
    Render | Record<string, Render>
  ]
  const { pages = { main: Schema.Void } } = options
  const renders = typeof render === "function" ? { main: render } : render
  const invalid = (page: string, problem: string) => new InvalidMenu({ menuName: name, page, problem })
  return menus.make(name, pages, renders, options, invalid)
}) as never

/**
 * Creates a button. `name` identifies the button on its page: the name is unique on the page, and does not change with
 * the text. `run` receives the update of the press. If `run` returns an `Outcome`, or an effect that succeeds with an
 * `Outcome`, the outcome is carried out. Otherwise, the page is shown again.
 *
 * A double tap runs `run` twice. With {@link once}, `run` runs once.
 *
 * **Example** (A counter)
 *
 * ```ts
 * import { Menu, State } from "@colloquy/core"
 * import { Effect, Schema } from "effect"
 *
 * const Count = State.make("count", Schema.Int, { of: "chat", initial: () => 0 })
 *
 * const counter = Menu.make("counter", () =>
 *   Effect.map(Count.get, (count) => ({
 *     text: `Count: ${count}`,
 *     rows: [[Menu.button("add", "Add one", () => Count.update((count) => count + 1))]]
 *   }))
 * )
 * ```
 *
 * @category buttons
 * @since 0.1.0
 */
export const button = <O extends Return>(
  name: string,
  text: string,
  run: (update: Update.Of<"message_callback">) => O
): Button<Handler.ReturnError<O>, Effect.Services<O>> =>
  downcast(parts.makeButton<unknown, unknown>(text, { _tag: "Press", name, isOnce: false, run }))

/**
 * The errors of {@link once}.
 *
 * @category utility types
 * @since 0.1.0
 */
export type OnceError = NoStateKey | StaleState | InvalidState | StoreError

/**
 * Counts only the first press of a button each time that the button is shown: a second tap, or the tap of another
 * person, is answered with the notification of an outdated button, and the message keeps the outcome of the first press. The last
 * 100 such presses of a chat are kept in its state, for 7 days.
 *
 * **Example** (An order is placed once)
 *
 * ```ts
 * import { Menu } from "@colloquy/core"
 * import type { Effect } from "effect"
 *
 * declare const order: Effect.Effect<void>
 *
 * const row = [Menu.once(Menu.button("order", "Order", () => order)), Menu.close("Cancel")]
 * ```
 *
 * @category buttons
 * @since 0.1.0
 */
export const once = <E, R>(button: Button<E, R>): Button<E | OnceError, R> =>
  button.action._tag === "Press" ? parts.makeButton(button.text, { ...button.action, isOnce: true }) : button

/**
 * The options of {@link toggle}, {@link radio} and {@link checkboxes}.
 *
 * @category models
 * @since 0.1.0
 */
export interface MarkOptions {
  /** The text before the text of a button that is on, and of a button that is off. Default: `["✓ ", ""]`. */
  readonly marks?: readonly [on: string, off: string] | undefined
}

/**
 * Creates a button that is on or off. `set` receives the new value. Two presses, one soon after the other, set the same
 * value twice: the second press is answered like a press of an outdated button.
 *
 * **Example** (Sound)
 *
 * ```ts
 * import { Menu, State } from "@colloquy/core"
 * import { Effect, Schema } from "effect"
 *
 * const Sound = State.make("sound", Schema.Boolean, { of: "user", initial: () => true })
 *
 * const settings = Menu.make("settings", () =>
 *   Effect.map(Sound.get, (isOn) => ({ text: "Settings", rows: [[Menu.toggle("sound", "Sound", isOn, Sound.set)]] }))
 * )
 * ```
 *
 * @category buttons
 * @since 0.1.0
 */
export const toggle = <O extends Return>(
  name: string,
  text: string,
  isOn: boolean,
  set: (isOn: boolean, update: Update.Of<"message_callback">) => O,
  options?: MarkOptions
): Button<Handler.ReturnError<O>, Effect.Services<O>> =>
  downcast(choices.toggle(name, { text, isOn, marks: options?.marks }, set))

/**
 * Options of {@link radio} and {@link checkboxes}.
 *
 * @category models
 * @since 0.1.0
 */
export interface ChoiceOptions<K extends string> extends MarkOptions {
  /** The texts of the choices, in their order, by the value that is set. */
  readonly choices: { readonly [Key in K]: string }
  /** Number of buttons in a row. Default: 1. */
  readonly columns?: number | undefined
}

/**
 * Creates a button for each of several choices. One choice is chosen. `set` receives the key of the pressed choice.
 *
 * **Example** (A language)
 *
 * ```ts
 * import { Menu, State } from "@colloquy/core"
 * import { Effect, Schema } from "effect"
 *
 * const Language = State.make("language", Schema.Literals(["en", "ru"]), { of: "user", initial: () => "en" as const })
 *
 * const languages = Menu.make("languages", () =>
 *   Effect.map(Language.get, (chosen) => ({
 *     text: "Language",
 *     rows: [Menu.radio("language", { choices: { en: "English", ru: "Русский" }, chosen, set: Language.set })]
 *   }))
 * )
 * ```
 *
 * @category blocks
 * @since 0.1.0
 */
export const radio = <const K extends string, O extends Return>(
  name: string,
  options: ChoiceOptions<K> & {
    /** The key of the choice that is chosen. `undefined`: none. */
    readonly chosen: NoInfer<K> | undefined
    readonly set: (chosen: NoInfer<K>, update: Update.Of<"message_callback">) => O
  }
): Block<Handler.ReturnError<O>, Effect.Services<O>> => downcast(choices.radio(name, options))

/**
 * Creates a button for each of several choices, of which any number is chosen. `set` receives the keys that are chosen after the
 * press, in the order of `choices`.
 *
 * **Example** (Toppings)
 *
 * ```ts
 * import { Menu, State } from "@colloquy/core"
 * import { Effect, Schema } from "effect"
 *
 * const Toppings = State.make("toppings", Schema.Array(Schema.Literals(["ham", "olives"])), { of: "userInChat", initial: () => [] })
 *
 * const toppings = Menu.make("toppings", { of: "userInChat" }, () =>
 *   Effect.map(Toppings.get, (chosen) => ({
 *     text: "Toppings",
 *     rows: [Menu.checkboxes("topping", { choices: { ham: "Ham", olives: "Olives" }, chosen, set: Toppings.set, columns: 2 })]
 *   }))
 * )
 * ```
 *
 * @category blocks
 * @since 0.1.0
 */
export const checkboxes = <const K extends string, O extends Return>(
  name: string,
  options: ChoiceOptions<K> & {
    /** The keys of the choices that are chosen. */
    readonly chosen: ReadonlyArray<NoInfer<K>>
    readonly set: (chosen: ReadonlyArray<NoInfer<K>>, update: Update.Of<"message_callback">) => O
  }
): Block<Handler.ReturnError<O>, Effect.Services<O>> => downcast(choices.checkboxes(name, options))

/**
 * Items of {@link list} that are loaded when they are shown, such as rows of a database.
 *
 * @category models
 * @since 0.1.0
 */
export interface LoadedItems<out A, out E = never, out R = never> {
  /** Number of all items. */
  readonly total: number
  /** Returns at most `limit` items, without the first `offset` items. */
  readonly load: (range: { readonly offset: number; readonly limit: number }) => Effect.Effect<ReadonlyArray<A>, E, R>
}

/**
 * The options of {@link list}.
 *
 * @category models
 * @since 0.1.0
 */
export interface ListOptions {
  /** Number of items that are shown at a time. Default: 8. */
  readonly perPage?: number | undefined
  /** Number of buttons in a row. Default: 1. */
  readonly columns?: number | undefined
  /** The texts of the buttons that show other items. Default: `‹`, `›`, and `2/5` between them. */
  readonly labels?:
    | {
        readonly previous?: string | undefined
        readonly next?: string | undefined
        readonly position?: ((part: number, parts: number) => string) | undefined
      }
    | undefined
}

/**
 * Shows items in parts, with buttons to go back and forth where there is more than one part. `show` returns the button of an item, or
 * a row of buttons. Buttons of different items have different names.
 *
 * `items` is an array, or {@link LoadedItems}. An item of an array can be pressed as long as the array contains the
 * item, at any position. A loaded item can be pressed as long as the part of the list in its message contains the item.
 *
 * **Example** (A cart whose items can be removed)
 *
 * ```ts
 * import { Menu, State } from "@colloquy/core"
 * import { Effect, Schema } from "effect"
 *
 * const Cart = State.make("cart", Schema.Array(Schema.String), { of: "user", initial: () => [] })
 *
 * const cart = Menu.make("cart", () =>
 *   Effect.map(Cart.get, (items) => ({
 *     text: "Press an item to remove it",
 *     rows: [
 *       Menu.list("items", items, (item) =>
 *         Menu.button(`remove ${item}`, item, () => Cart.update((items) => items.filter((other) => other !== item)))
 *       )
 *     ]
 *   }))
 * )
 * ```
 *
 * @category blocks
 * @since 0.1.0
 */
export const list = <
  A,
  B extends Button<unknown, unknown> | Keyboard.Button | Row<unknown, unknown>,
  E = never,
  R = never
>(
  name: string,
  items: ReadonlyArray<A> | LoadedItems<A, E, R>,
  show: (item: A, index: number) => B,
  options: ListOptions = {}
): Block<RowsError<B>, NoInfer<R> | RowsServices<B>, NoInfer<E>> =>
  downcast(blocks.list<A, unknown, unknown, unknown>(name, items, show, options))

/**
 * Creates a button that shows the page from which the current page was opened, or otherwise `main`.
 *
 * @category buttons
 * @since 0.1.0
 */
export const back = (text: string): Button => parts.makeButton(text, { _tag: "Back" })

/**
 * Creates a button that removes the keyboard. The text and the attachments of the page stay. If the page has neither, the message is
 * removed, because the platform accepts no message without a content.
 *
 * @category buttons
 * @since 0.1.0
 */
export const close = (text: string): Button => parts.makeButton(text, { _tag: "Close" })

/**
 * Creates a button that shows the page again, with its current content.
 *
 * @category buttons
 * @since 0.1.0
 */
export const refresh = (text: string): Button => parts.makeButton(text, { _tag: "Refresh" })

/**
 * The outcome of a press that shows a text once to the user who pressed. Default of `then`: the page is shown again.
 *
 * **Example** (A notification, and the page before)
 *
 * ```ts
 * import { Menu } from "@colloquy/core"
 * import { Effect } from "effect"
 *
 * declare const save: Effect.Effect<void>
 *
 * const button = Menu.button("save", "Save", () => Effect.as(save, Menu.notify("Saved", Menu.goBack)))
 * ```
 *
 * @category outcomes
 * @since 0.1.0
 */
export const notify = (text: string, then?: Outcome): Outcome => parts.makeOutcome(then?.next ?? { _tag: "Stay" }, text)

/**
 * The outcome of a press that shows the page from which the current page was opened, or otherwise `main`.
 *
 * @category outcomes
 * @since 0.1.0
 */
export const goBack: Outcome = parts.makeOutcome({ _tag: "Back" })

/**
 * The outcome of a press that removes the keyboard. With `message`, the outcome also replaces the content of the
 * message. A message without content is removed.
 *
 * @category outcomes
 * @since 0.1.0
 */
export const finish = (message?: string | NewMessageBody): Outcome =>
  parts.makeOutcome({ _tag: "Finish", message: typeof message === "string" ? { text: message } : message })

/**
 * The outcome of a press whose callback the function has answered itself. The message is not changed.
 *
 * @category outcomes
 * @since 0.1.0
 */
export const answered: Outcome = parts.makeOutcome({ _tag: "Answered" })
