/** How a terminal shows texts: in its width, and with colors if it has them. */
import type { Markup } from "@colloquy/core"
import { styleText } from "node:util"
import wrapAnsi from "wrap-ansi"

type Format = Exclude<Parameters<typeof styleText>[0], ReadonlyArray<unknown>>

export interface Style {
  /** The width of the terminal. `Infinity`: lines are not wrapped. */
  readonly columns: number
  readonly hasColors: boolean
}

/** For the standard output of a program without a terminal. */
export const plain: Style = { columns: Infinity, hasColors: false }

/** An output that may be a terminal. */
export type Output = NodeJS.WritableStream & { readonly columns?: number; readonly hasColors?: () => boolean }

/** The style of a terminal, which the user may have resized. */
export const styleOf = (output: Output): Style => ({
  columns: output.columns ?? Infinity,
  hasColors: output.hasColors?.() ?? false
})

/** Applies formats to a text, if the terminal has colors. */
export const format = ({ hasColors }: Style, formats: ReadonlyArray<Format>, text: string): string =>
  hasColors && formats.length > 0 && text !== "" ? styleText([...formats], text, { validateStream: false }) : text

const formats: Readonly<Partial<Record<Markup.MarkupElement["type"], ReadonlyArray<Format>>>> = {
  strong: ["bold"],
  heading: ["bold", "underline"],
  emphasized: ["italic"],
  strikethrough: ["strikethrough"],
  underline: ["underline"],
  monospaced: ["yellow"],
  highlighted: ["inverse"],
  quote: ["dim"],
  link: ["blue", "underline"],
  user_mention: ["blue"]
}

/** Applies the formatting of a message to its text. */
export const formatMarkup = (
  style: Style,
  text: string,
  markup: ReadonlyArray<Markup.MarkupElement> | null | undefined
): string => {
  const spans = (markup ?? []).flatMap((element) =>
    "from" in element
      ? [{ from: element.from, to: element.from + element.length, formats: formats[element.type] ?? [] }]
      : []
  )
  const ends = [...new Set([0, text.length, ...spans.flatMap(({ from, to }) => [from, to])])].sort((a, b) => a - b)
  return ends
    .slice(1)
    .map((to, index) => {
      const from = ends[index] ?? 0
      const active = spans.filter((span) => span.from <= from && span.to >= to).flatMap(({ formats }) => formats)
      return format(style, active, text.slice(from, to))
    })
    .join("")
}

/** Breaks the lines of a text at words. All lines after the first begin below the first. */
export const wrap = ({ columns }: Style, indent: number, text: string): string => {
  const width = Math.max(columns - indent, 16)
  return text
    .split("\n")
    .flatMap((line) => {
      // A line that fits keeps its spaces, as in code.
      const fits = columns === Infinity || !wrapAnsi(line, width, { hard: true, trim: false }).includes("\n")
      return fits ? [line] : wrapAnsi(line, width, { hard: true }).split("\n")
    })
    .join(`\n${" ".repeat(indent)}`)
}
