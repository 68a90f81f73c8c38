import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as FieldIssue from "../../../base/FieldIssue.ts"
import * as Keyboard from "../../../model/Keyboard.ts"
import type { Button, Content, InvalidMenu, MenuMessage, Page, Pages, Row } from "../../Menu.ts"
import { isBlock, isButton, makeButton, makeOutcome } from "./parts.ts"
import type { Payload } from "../../../bot/Payload.ts"
import * as Platform from "../../../base/Platform.ts"
import type { Update } from "../../../model/Update.ts"
import { nonceOf } from "./once.ts"
import { type Act, isSameAct, type PageCodecs, type Place, placeOf, type Pressed } from "./location.ts"

type AnyContent = Content<unknown, unknown>

type AnyButton = Button<unknown, unknown>

type AnyRow = Row<unknown, unknown>

/** The function of a page. */
export type Render = (page: Page<Pages, unknown>) => AnyContent | Effect.Effect<AnyContent, unknown, unknown>

/** A menu, without its types. */
export interface Definition {
  readonly name: string
  readonly codecs: PageCodecs
  /** Returns the error of a page that cannot be shown. */
  readonly invalid: (page: string, problem: string) => InvalidMenu
  readonly renders: ReadonlyMap<string, Render>
  readonly payload: Payload<Pressed, unknown>
  readonly isOwned: boolean
  readonly version: number
}

const currentOf = (places: ReadonlyArray<Place>): Place => places.at(-1)!

const pageOf = (place: Place, update: Update | undefined): Page<Pages, unknown> => ({
  params: place.params,
  update,
  open: (text, page, params) => makeButton(text, { _tag: "Open", page, params }),
  go: (page, params) => makeOutcome({ _tag: "Go", page, params })
})

/** Runs the function of the current page. */
const render = (
  menu: Definition,
  places: ReadonlyArray<Place>,
  update: Update | undefined
): Effect.Effect<AnyContent, unknown, unknown> =>
  Effect.suspend(() => {
    const place = currentOf(places)
    const rendered = menu.renders.get(place.frame.p)!(pageOf(place, update))
    return Effect.isEffect(rendered) ? rendered : Effect.succeed(rendered)
  })

/** Whether the current page has a list. Its items are not loaded. */
export const hasList = (menu: Definition, places: ReadonlyArray<Place>, update: Update, list: string) =>
  Effect.map(render(menu, places, update), ({ rows }) => rows.some((row) => isBlock(row) && row.name === list))

/** Runs the function of the current page, and arranges its rows. */
export const layOut = Effect.fnUntraced(function* (
  menu: Definition,
  places: ReadonlyArray<Place>,
  update: Update | undefined
) {
  const place = currentOf(places)
  const invalid = (problem: string) => menu.invalid(place.frame.p, problem)
  const content = yield* render(menu, places, update)
  const rows: Array<AnyRow> = []
  const lists = new Set<string>()
  for (const row of content.rows) {
    if (isBlock(row)) {
      if (row.name !== undefined && lists.has(row.name)) {
        return yield* invalid(
          `two of its lists have the same name, ${JSON.stringify(row.name)}. Give each list a name of its own`
        )
      }
      if (row.name !== undefined) lists.add(row.name)
      const part = row.name === undefined ? 0 : (place.frame.l?.[row.name] ?? 0)
      rows.push(...(yield* row.rowsAt(part)))
    } else rows.push(row)
  }
  return { menu, places, update, content, rows, invalid }
})

/** The current page, made again for this update. */
type Layout = Effect.Success<ReturnType<typeof layOut>>

const actOf = ({ menu }: Layout, { action }: AnyButton): Effect.Effect<Act, InvalidMenu> => {
  switch (action._tag) {
    case "Press":
      return Effect.succeed(action.value === undefined ? ["press", action.name] : ["press", action.name, action.value])
    case "Open":
      return Effect.map(placeOf(menu, action.page, action.params), ({ frame }) => ["open", frame] as const)
    case "Turn":
      return Effect.succeed(["turn", action.list, action.to])
    case "Back":
      return Effect.succeed(["back"])
    case "Close":
      return Effect.succeed(["close"])
    case "Refresh":
      return Effect.succeed(["refresh"])
  }
}

/** Returns the button with an act. A button of another part of a list that is known as a whole counts too. */
export const find = Effect.fnUntraced(function* (layout: Layout, act: Act) {
  const blocks = layout.content.rows.flatMap((row) => (isBlock(row) ? [row] : []))
  const parts = [() => layout.rows, ...blocks.map(({ allRows }) => allRows)]
  for (const rows of parts) {
    for (const button of rows().flat()) {
      if (isButton(button) && isSameAct(yield* actOf(layout, button), act)) return button
    }
  }
  return undefined
})

const adviceFor = (rows: ReadonlyArray<ReadonlyArray<unknown>>): string =>
  rows.length > Platform.maxRows || rows.flat().length > Platform.maxButtons
    ? ". Show long lists by Menu.list, which has pages"
    : ""

const encodeKeyboard = Schema.encodeEffect(Keyboard.Keyboard, { errors: "all" })

const toKeyboard = Effect.fnUntraced(function* (layout: Layout, owner: number | undefined) {
  const { invalid, menu, places, rows, update } = layout
  const nonce = yield* nonceOf(update)
  const at = places.map(({ frame }) => frame)
  const textsOfActs = new Map<string, string>()
  const keyboardRows: Array<ReadonlyArray<Keyboard.Button>> = []
  for (const row of rows) {
    const buttons: Array<Keyboard.Button> = []
    for (const button of row) {
      if (!isButton(button)) {
        buttons.push(button)
        continue
      }
      const act = yield* actOf(layout, button)
      const other = textsOfActs.get(JSON.stringify(act))
      if (act[0] === "press" && other !== undefined) {
        return yield* invalid(
          `the buttons "${other}" and "${button.text}" have the same name, ${JSON.stringify(act[1])}. Give each button a name of its own`
        )
      }
      textsOfActs.set(JSON.stringify(act), button.text)
      const isOnce = button.action._tag === "Press" && button.action.isOnce
      const pressed: Pressed = {
        at,
        do: act,
        ...(owner === undefined ? {} : { by: owner }),
        ...(menu.version === 1 ? {} : { v: menu.version }),
        ...(isOnce ? { n: nonce } : {})
      }
      buttons.push(Keyboard.callback(button.text, yield* menu.payload.encode(pressed)))
    }
    keyboardRows.push(buttons)
  }
  const keyboard = Keyboard.make(...keyboardRows.filter((row) => row.length > 0))
  yield* Effect.mapError(encodeKeyboard(keyboard), ({ issue }) =>
    invalid(`its keyboard ${FieldIssue.formatSchemaIssue(issue)}${adviceFor(keyboardRows)}`)
  )
  return keyboard
})

/** Returns the message of a page. */
export const toMessage = Effect.fnUntraced(function* (
  layout: Layout,
  owner: number | undefined,
  withKeyboard: boolean
) {
  const { rows: _, attachments, ...content } = layout.content
  const media = attachments ?? []
  if (!withKeyboard) return { ...content, attachments: media } satisfies MenuMessage
  const keyboard = yield* toKeyboard(layout, owner)
  const all = keyboard.payload.buttons.length > 0 ? [...media, keyboard] : media
  if (!content.text && all.length === 0 && content.link == null) {
    return yield* layout.invalid("it has no text, no attachments and no buttons. Give it a text")
  }
  return { ...content, attachments: all } satisfies MenuMessage
})
