import * as Effect from "effect/Effect"
import type * as Keyboard from "../../../model/Keyboard.ts"
import type { Block, Button, ListOptions, LoadedItems, Row } from "../../Menu.ts"
import { makeBlock, makeButton } from "./parts.ts"

type Cell<E, R> = Button<E, R> | Keyboard.Button

const isRow = <E, R>(item: Cell<E, R> | Row<E, R>): item is Row<E, R> => Array.isArray(item)

const toRows = <E, R>(items: ReadonlyArray<Cell<E, R> | Row<E, R>>, columns: number): ReadonlyArray<Row<E, R>> => {
  const rows: Array<Row<E, R>> = []
  let current: Array<Cell<E, R>> | undefined
  for (const item of items) {
    if (isRow(item)) {
      rows.push(item)
      current = undefined
    } else if (current !== undefined && current.length < columns) {
      current.push(item)
    } else {
      current = [item]
      rows.push(current)
    }
  }
  return rows
}

const atLeastOne = (count: number): number => Math.max(1, Math.trunc(count))

/** Buttons in columns. */
export const grid = <E, R>(buttons: ReadonlyArray<Button<E, R>>, columns: number): Block<E, R> => {
  const rows = toRows(buttons, atLeastOne(columns))
  return makeBlock({ rowsAt: () => Effect.succeed(rows), allRows: () => rows })
}

type Items<A, E, R> = ReadonlyArray<A> | LoadedItems<A, E, R>

const isLoaded = <A, E, R>(items: Items<A, E, R>): items is LoadedItems<A, E, R> => !Array.isArray(items)

/** Items in parts of the same size, and under them the buttons that show other parts. */
export const list = <A, E, R, LoadE>(
  name: string,
  items: Items<A, LoadE, R>,
  show: (item: A, index: number) => Cell<E, R> | Row<E, R>,
  { columns = 1, labels = {}, perPage = 8 }: ListOptions
): Block<E, R, LoadE> => {
  const { next = "›", position = (part, parts) => `${part}/${parts}`, previous = "‹" } = labels
  const size = atLeastOne(perPage)
  const total = isLoaded(items) ? items.total : items.length
  const parts = atLeastOne(Math.ceil(total / size))
  const turnTo = (text: string, to: number): Button => makeButton(text, { _tag: "Turn", list: name, to })

  const pager = (part: number): ReadonlyArray<Row> =>
    parts === 1
      ? []
      : [
          [
            ...(part > 0 ? [turnTo(previous, part - 1)] : []),
            turnTo(position(part + 1, parts), part),
            ...(part < parts - 1 ? [turnTo(next, part + 1)] : [])
          ]
        ]

  return makeBlock({
    name,
    rowsAt: (requested) => {
      const part = Math.min(Math.max(0, requested), parts - 1)
      const offset = part * size
      const loaded: Effect.Effect<ReadonlyArray<A>, LoadE, R> = isLoaded(items)
        ? items.load({ offset, limit: size })
        : Effect.succeed(items.slice(offset, offset + size))
      return Effect.map(loaded, (loaded) => [
        ...toRows(
          loaded.map((item, index) => show(item, offset + index)),
          atLeastOne(columns)
        ),
        ...pager(part)
      ])
    },
    allRows: () => (isLoaded(items) ? [] : toRows(items.map(show), atLeastOne(columns)))
  })
}
