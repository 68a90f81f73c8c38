import * as Json from "@colloquy/core/base/Json"
import { displayWidth } from "effect/cli/CliOutput"
import * as Console from "effect/Console"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import { stripVTControlCharacters, styleText } from "node:util"
import { isJson, type Place, Process } from "./settings.ts"

// A message of a user must not move the cursor or change colours.
const printable = (text: string): string => stripVTControlCharacters(text).replaceAll(/[^\P{Cc}\t\n]/gu, "\uFFFD")

/** The color of a line. */
export type Color = "gray" | "green" | "red" | "yellow"

/** Colors a text if standard output is a terminal and `NO_COLOR` is not set. */
export const colored = ({ columns, env }: Place, text: string, color: Color | undefined): string =>
  color === undefined || columns === undefined || env["NO_COLOR"]
    ? text
    : styleText(color, text, { validateStream: false })

/** Prints a value: as JSON with `--json`, otherwise as text, which may have a color as in {@link colored}. */
export const print = Effect.fnUntraced(function* (value: unknown, text: string, color?: Color) {
  const shown = (yield* isJson) ? Json.stringify(value) : colored(yield* Process, printable(text), color)
  yield* Console.log(shown)
})

/** Prints a text for people, which `--json` leaves out. */
export const printText = (text: string) =>
  Effect.flatMap(isJson, (json) => (json ? Effect.void : Console.log(printable(text))))

/** Says on standard error that a list has more rows, so that standard output has only rows. */
export const noteMore = (limit: number) =>
  Effect.flatMap(isJson, (json) =>
    Console.error(
      json ? Json.stringify({ more: true, limit }) : `There are more than these ${limit}: set a higher --limit.`
    )
  )

/** A row of a list. */
export interface Row {
  /** The row as JSON. */
  readonly value: unknown
  /** The columns. */
  readonly cells: ReadonlyArray<string | undefined>
  /** A line below the columns. */
  readonly below?: string
  /** The color of the columns, by the state of the row. */
  readonly color?: Color | undefined
}

const withBelow = (line: string, { below }: Row): string =>
  below === undefined ? line : `${line}\n    ${printable(below)}`

/** Prints a row as JSON, or its columns. */
const printRow = (row: Row) => print(row.value, withBelow(row.cells.filter(Predicate.isNotUndefined).join("  "), row))

/** Prints rows in a terminal: aligned, in colors, and at most as wide as the terminal. */
const printAligned = (rows: ReadonlyArray<Row>, place: Place, width: number) => {
  const lines = table(
    rows.map(({ cells }) => cells),
    width
  )
  return Effect.forEach(rows, (row, index) => Console.log(withBelow(colored(place, lines[index]!, row.color), row)), {
    discard: true
  })
}

/**
 * Prints the first rows of a list, or a notice that no rows match. Rows are aligned in a terminal. Notices about further rows go to
 * standard error, so that standard output has only rows.
 */
export const printRows = <A, E, R>(
  rows: Stream.Stream<A, E, R>,
  limit: number,
  nothing: string,
  toRow: (row: A) => Row
) =>
  Effect.gen(function* () {
    const place = yield* Process
    const width = (yield* isJson) ? undefined : place.columns?.()
    const aligned: Array<Row> = []
    const show = (row: Row) => (width === undefined ? printRow(row) : Effect.sync(() => void aligned.push(row)))
    const found = yield* rows.pipe(
      Stream.take(limit + 1),
      Stream.zipWithIndex,
      Stream.tap(([row, index]) => (index < limit ? show(toRow(row)) : Effect.void)),
      Stream.runCount
    )
    if (found === 0) return yield* printText(nothing)
    if (width !== undefined) yield* printAligned(aligned, place, width)
    if (found > limit) yield* noteMore(limit)
  })

/** A time in UTC, without the milliseconds. */
export const time = (millis: number): string => {
  const date = new Date(millis)
  return Number.isNaN(date.getTime()) ? String(millis) : date.toISOString().replace(/\.\d+Z$/, "Z")
}

/** A duration in its two largest units, such as `3h 20m`. */
export const duration = (millis: number): string => {
  const { days, hours, minutes, seconds } = Duration.parts(Duration.millis(Math.max(0, millis)))
  const parts = [`${days}d`, `${hours}h`, `${minutes}m`, `${seconds}s`]
  const isZero = (part: string) => part.startsWith("0")
  const first = parts.findIndex((part) => !isZero(part))
  const shown = parts.slice(first, first + 2).filter((part) => !isZero(part))
  return first < 0 ? "0s" : shown.join(" ")
}

const segmenter = new Intl.Segmenter()

/** Cuts a text to a width in a terminal, with an ellipsis in place of the rest. */
export const cut = (text: string, width: number): string => {
  if (displayWidth(text) <= width) return text
  let shown = ""
  let left = width - 1
  for (const { segment } of segmenter.segment(text)) {
    left -= displayWidth(segment)
    if (left < 0) break
    shown += segment
  }
  return `${shown}…`
}

/**
 * Returns rows as lines with aligned columns, without columns that are empty. The widest columns are cut until the lines have the
 * width.
 */
export const table = (
  rows: ReadonlyArray<ReadonlyArray<string | undefined>>,
  width = Number.POSITIVE_INFINITY
): ReadonlyArray<string> => {
  const texts = rows.map((row) => row.map((cell = "") => printable(cell).replaceAll(/\s+/g, " ")))
  const widths = (texts[0] ?? []).map((_, column) =>
    texts.reduce((widest, row) => Math.max(widest, displayWidth(row[column]!)), 0)
  )
  const gaps = 2 * (widths.filter((width) => width > 0).length - 1)
  const excess = () => widths.reduce((sum, width) => sum + width, gaps) - width
  while (excess() > 0 && Math.max(...widths) > 1) widths[widths.lastIndexOf(Math.max(...widths))]!--
  return texts.map((row) =>
    row
      .flatMap((text, column) => {
        const width = widths[column]!
        const cell = cut(text, width)
        return width === 0 ? [] : [cell + " ".repeat(width - displayWidth(cell))]
      })
      .join("  ")
      .trimEnd()
  )
}

/** `1 update`, `2 updates`. */
export const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? "" : "s"}`
