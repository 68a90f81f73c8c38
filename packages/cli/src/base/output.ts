import * as Json from "@colloquy/core/base/Json"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { stripVTControlCharacters, styleText } from "node:util"
import { isJson, Process } from "./settings.ts"

// A message of a user must not move the cursor or change colours.
const printable = (text: string): string => stripVTControlCharacters(text).replaceAll(/[^\P{Cc}\t\n]/gu, "\uFFFD")

/** Prints a value: as JSON with `--json`, otherwise as text. */
export const print = (value: unknown, text: string) =>
  Effect.flatMap(isJson, (json) => Console.log(json ? Json.stringify(value) : printable(text)))

/** The color of a line. */
export type Color = "gray" | "green" | "red" | "yellow"

/** Prints a value as {@link print}, in a color if standard output is a terminal and `NO_COLOR` is not set. */
export const printColored = (value: unknown, text: string, color: Color) =>
  Effect.gen(function* () {
    const { columns, env } = yield* Process
    const isColored = columns !== undefined && !env["NO_COLOR"] && !(yield* isJson)
    if (isColored) yield* Console.log(styleText(color, printable(text), { validateStream: false }))
    else yield* print(value, text)
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

/**
 * Prints the first rows of a list, or a notice that no rows match. Notices about further rows go to standard error, so
 * that standard output has only rows.
 */
export const printRows = <A, E, R, E2, R2>(
  rows: Stream.Stream<A, E, R>,
  limit: number,
  nothing: string,
  printRow: (row: A) => Effect.Effect<void, E2, R2>
) =>
  Effect.gen(function* () {
    const found = yield* rows.pipe(
      Stream.take(limit + 1),
      Stream.zipWithIndex,
      Stream.tap(([row, index]) => (index < limit ? printRow(row) : Effect.void)),
      Stream.runCount
    )
    if (found === 0) return yield* printText(nothing)
    if (found <= limit) return
    yield* noteMore(limit)
  })

/** A time in UTC, without the milliseconds. */
export const time = (millis: number): string => {
  const date = new Date(millis)
  return Number.isNaN(date.getTime()) ? String(millis) : date.toISOString().replace(/\.\d+Z$/, "Z")
}

const units = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1000]
] as const

/** A duration in its two largest units, such as `3h 20m`. */
export const duration = (millis: number): string => {
  const first = units.findIndex(([, size]) => millis >= size)
  if (first < 0) return "0s"
  let rest = millis
  return units
    .slice(first, first + 2)
    .flatMap(([unit, size]) => {
      const count = Math.floor(rest / size)
      rest -= count * size
      return count === 0 ? [] : [`${count}${unit}`]
    })
    .join(" ")
}

/** Rows with aligned columns. */
export const table = (rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join("  ")
        .trimEnd()
    )
    .join("\n")
}

/** `1 update`, `2 updates`. */
export const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? "" : "s"}`
