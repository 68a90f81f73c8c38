/**
 * The parts of a page of a `Menu`: buttons, blocks of rows, and the outcomes of presses.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type * as Handler from "../inbox/Handler.ts"
import type * as Keyboard from "../model/Keyboard.ts"
import type { NewMessageBody } from "../model/NewMessage.ts"
import type * as Update from "../model/Update.ts"
import * as Schema from "effect/Schema"
import * as PermanentError from "../base/PermanentError.ts"
import { TaggedError } from "../base/TaggedError.ts"

const ButtonTypeId = "~@colloquy/core/MenuPage/Button"

const BlockTypeId = "~@colloquy/core/MenuPage/Block"

const OutcomeTypeId = "~@colloquy/core/MenuPage/Outcome"

/**
 * A page of a menu cannot be shown: it exceeds a limit of the platform, it has no content, two of its buttons or lists have the same
 * name, or a button opens a page that does not exist. Nothing was sent.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidMenu extends TaggedError("InvalidMenu", () => ({
  /** The name of the menu. */
  menuName: Schema.String,
  /** The name of the page. */
  page: Schema.String,
  /** What is wrong, and what to do about it. */
  problem: Schema.String
})) {
  get [PermanentError.TypeId](): true {
    return true
  }

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
  readonly [OutcomeTypeId]: typeof OutcomeTypeId
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

/** @internal */
export const makeOutcome = (next: Next, notification?: string): Outcome => ({
  [OutcomeTypeId]: OutcomeTypeId,
  next,
  notification
})

/**
 * Returns `true` if the value is an {@link Outcome}.
 *
 * @category guards
 * @since 0.1.0
 */
export const isOutcome = (u: unknown): u is Outcome => Predicate.hasProperty(u, OutcomeTypeId)

/**
 * The result of the function of a button: an effect, whose success can be an {@link Outcome}, or an outcome. Without an
 * outcome, the page is shown again.
 *
 * @category models
 * @since 0.1.0
 */
export type Return<E = unknown, R = unknown> = Effect.Effect<unknown, E, R> | Outcome | undefined

/**
 * The errors of the result of a function, without `NotHandled`.
 *
 * @category utility types
 * @since 0.1.0
 */
export type ReturnError<O> = Exclude<Effect.Error<O>, Handler.NotHandled>

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
  readonly [ButtonTypeId]: typeof ButtonTypeId
  /** The text, of 1 to 128 characters. */
  readonly text: string
  /** The action of the button. */
  readonly action: Action<E, R>
}

/** @internal */
export const makeButton = <E = never, R = never>(text: string, action: Action<E, R>): Button<E, R> => ({
  [ButtonTypeId]: ButtonTypeId,
  text,
  action
})

/**
 * Returns `true` if the value is a {@link Button}.
 *
 * @category guards
 * @since 0.1.0
 */
export const isButton = (u: unknown): u is Button<unknown, unknown> => Predicate.hasProperty(u, ButtonTypeId)

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
  readonly [BlockTypeId]: typeof BlockTypeId
  /** The name of a list. */
  readonly name?: string | undefined
  /** Returns the rows of a part of the list, counted from 0. Without such a part, the rows of the nearest part. */
  readonly rowsAt: (part: number) => Effect.Effect<ReadonlyArray<Row<E, R>>, LoadE, R>
  /** All rows, where they are known without an effect: buttons in other parts can still be pressed. */
  readonly allRows: () => ReadonlyArray<Row<E, R>>
}

/** @internal */
export const makeBlock = <E, R, LoadE>(block: Omit<Block<E, R, LoadE>, typeof BlockTypeId>): Block<E, R, LoadE> => ({
  [BlockTypeId]: BlockTypeId,
  ...block
})

/**
 * Returns `true` if the value is a {@link Block}.
 *
 * @category guards
 * @since 0.1.0
 */
export const isBlock = (u: unknown): u is Block<unknown, unknown, unknown> => Predicate.hasProperty(u, BlockTypeId)

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
