import * as Text from "@colloquy/core/Text"
import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { parseHtml } from "../../src/internal/text/html.ts"
import { parseMarkdown } from "../../src/internal/text/markdown.ts"
import type { Parsed } from "../../src/internal/text/markup.ts"

/** A visible code unit and its formats. Samples are built beside the library, so that they can be compared with its output. */
interface Cell {
  readonly unit: string
  readonly formats: ReadonlyArray<string>
}

interface Sample {
  readonly text: Text.Text
  readonly cells: ReadonlyArray<Cell>
}

const isLink = (format: string): boolean => format.startsWith("link ") || format.startsWith("user_mention ")

const isBlock = (cell: Cell): boolean => cell.formats.includes("quote") || cell.formats.includes("heading")

const plain = (string: string): Sample => ({
  text: Text.plain(string),
  cells: string
    .replace(/\r\n?/g, "\n")
    .split("")
    .map((unit) => ({ unit, formats: [] }))
})

const concat = (samples: ReadonlyArray<Sample>): Sample => {
  const cells: Array<Cell> = []
  for (const sample of samples) {
    const left = cells.at(-1)
    const right = sample.cells[0]
    const needsLineBreak = (left && right && isBlock(right)) || (left && right && isBlock(left) && right.unit !== "\n")
    if (needsLineBreak && left.unit !== "\n") cells.push({ unit: "\n", formats: [] })
    cells.push(...sample.cells)
  }
  return { text: Text.concat(...samples.map(({ text }) => text)), cells }
}

const withFormat =
  (name: string, build: (text: Text.Text) => Text.Text) =>
  (sample: Sample): Sample => ({
    text: build(sample.text),
    cells: sample.cells.map(({ formats, unit }) => ({
      unit,
      formats: formats.includes(name) || (isLink(name) && formats.some(isLink)) ? formats : [...formats, name]
    }))
  })

const inlineFormats = [
  withFormat("strong", Text.bold),
  withFormat("emphasized", Text.italic),
  withFormat("strikethrough", Text.strikethrough),
  withFormat("underline", Text.underline),
  withFormat("highlighted", Text.highlighted),
  withFormat("monospaced", Text.monospaced),
  withFormat("link https://e.com/?a=1&b=%22_x_*y*", (text) => Text.link(text, 'https://e.com/?a=1&b="_x_*y*')),
  withFormat("user_mention 42", (text) => Text.mention(42, text))
]

const blockFormats = [withFormat("quote", Text.quote), withFormat("heading", Text.heading)]

const special = [
  "*",
  "**",
  "_",
  "__",
  "~~",
  "+",
  "++",
  "^^",
  "^",
  "`",
  "``",
  "[",
  "]",
  "](",
  "(",
  ")",
  "[a](b)",
  "!",
  ">",
  "> ",
  "#",
  "# ",
  "\\",
  "<",
  "</",
  "<b>",
  "</b>",
  "&",
  "&amp;",
  "&#39;",
  '"',
  "'",
  '<a href="x">',
  "https://e.com",
  "\u2028",
  "\r"
]

const words = ["a", "word", "слово", "9", "é", "漢字"]

const pick = <A>(items: ReadonlyArray<A>, n: number): A => items[n % items.length]

const anyString = (n: number): string => {
  const rest = n >> 3
  switch (n & 7) {
    case 0:
    case 1:
    case 2:
      return pick(special, rest)
    case 3:
      return pick(words, rest)
    case 4:
      return pick([" ", "\n", "\n\n", "\t", "  "], rest)
    case 5:
      return pick(["👍", "👨‍👩‍👧", "🇫🇷", "e\u0301", "\u200b", "\ufeff"], rest)
    default: {
      const unit = String.fromCharCode(rest)
      // A low surrogate could complete a character with the part before it, and markup never divides a character.
      return /^[\udc00-\udfff]$/.test(unit) ? unit.toWellFormed() : unit
    }
  }
}

/** Builds nested text from a list of numbers, as a stack machine. A shorter list is a simpler text, so failures shrink. */
const sampleFrom = (program: ReadonlyArray<number>): Sample => {
  const stack: Array<Sample> = []
  for (const n of program) {
    const rest = n >> 3
    if ((n & 7) < 4) stack.push(plain(anyString(rest)))
    else if ((n & 7) < 6) stack.push(concat(stack.splice(-1 - (rest % 4))))
    else stack.push(pick([...inlineFormats, ...blockFormats], rest)(stack.pop() ?? plain("")))
  }
  return concat(stack)
}

/** Builds text whose formatting begins and ends between words, around any content. */
const wordSampleFrom = (program: ReadonlyArray<number>): Sample => {
  const stack: Array<Sample> = [plain("start")]
  for (const n of program) {
    const rest = n >> 2
    if ((n & 3) < 2) stack.push(plain(`${pick(words, rest)}${anyString(rest)}${pick(words, rest >> 4)}`))
    else if ((n & 3) === 2) {
      const parts = stack.splice(-1 - (rest % 4))
      stack.push(concat(parts.flatMap((part, i) => (i === 0 ? [part] : [plain(" "), part]))))
    } else stack.push(pick(inlineFormats, rest)(stack.pop() ?? plain("a")))
  }
  return concat(stack.flatMap((part, i) => (i === 0 ? [part] : [plain(" "), part])))
}

const program = Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2 ** 22 }))).check(
  Schema.isMaxLength(60)
)

const cellsOf = ({ markup, text }: Parsed): ReadonlyArray<Cell> => {
  const formats: Array<Array<string>> = Array.from(text, () => []).concat([])
  const cells = text.split("").map((unit, i) => ({ unit, formats: (formats[i] ??= []) }))
  for (const { from, length, type, url, user_id } of markup) {
    const name = url !== undefined ? `${type} ${url}` : user_id !== undefined ? `${type} ${user_id}` : type
    for (let i = from; i < from + length; i++) if (!cells[i].formats.includes(name)) cells[i].formats.push(name)
  }
  return cells
}

const sorted = (cells: ReadonlyArray<Cell>) => cells.map(({ formats, unit }) => [unit, [...formats].sort().join()])

const textOf = (cells: ReadonlyArray<Cell>) => cells.map(({ unit }) => unit).join("")

const options = { arbitrary: { runs: 500, size: 60 } }

describe("Text", () => {
  it.prop(
    "renders HTML that parses to the same text and formatting",
    [program],
    ([program]) => {
      const { cells, text } = sampleFrom(program)
      assert.strictEqual(Text.toPlain(text), textOf(cells))
      assert.deepStrictEqual(sorted(cellsOf(parseHtml(Text.toHtml(text)))), sorted(cells))
    },
    options
  )

  it.prop(
    "renders markdown that parses to the same text, without additional formatting",
    [program],
    ([program]) => {
      const { cells, text } = sampleFrom(program)
      const source = Text.toMarkdown(text)
      const read = cellsOf(parseMarkdown(source))
      assert.strictEqual(textOf(read), textOf(cells), source)
      for (const [i, { formats, unit }] of read.entries()) {
        if (unit !== "\n")
          assert.deepStrictEqual(
            formats.filter((format) => !cells[i].formats.includes(format)),
            [],
            source
          )
      }
      for (const [i, { formats, unit }] of cells.entries()) {
        if (unit === "\n" || unit.trim() === "") continue
        for (const block of ["quote", "heading"]) {
          assert.strictEqual(read[i].formats.includes(block), formats.includes(block), source)
        }
      }
    },
    options
  )

  it.prop(
    "renders markdown with all formatting that begins and ends between words",
    [program],
    ([program]) => {
      const { cells, text } = wordSampleFrom(program)
      const source = Text.toMarkdown(text)
      const read = cellsOf(parseMarkdown(source))
      const seen = (cells: ReadonlyArray<Cell>, wanted: ReadonlyArray<Cell>) =>
        sorted(
          cells.filter((_, i) => {
            const { formats, unit } = wanted[i]
            return unit.trim() !== "" && !(formats.includes("monospaced") && (unit === "`" || unit === "\\"))
          })
        )
      assert.strictEqual(textOf(read), textOf(cells), source)
      assert.deepStrictEqual(seen(read, cells), seen(cells, cells), source)
    },
    options
  )

  it.prop(
    "creates the same text from a received body",
    [program],
    ([program]) => {
      const { text } = sampleFrom(program)
      const body = parseHtml(Text.toHtml(text))
      const again = Text.fromBody(body)
      assert.strictEqual(Text.toPlain(again), Text.toPlain(text))
      assert.deepStrictEqual(cellsOf(parseHtml(Text.toHtml(again))), cellsOf(body))
    },
    options
  )

  it.prop(
    "keeps the visible text of a body with arbitrary markup elements",
    [
      program,
      Schema.Array(
        Schema.Struct({
          type: Schema.Literals([
            "strong",
            "emphasized",
            "monospaced",
            "quote",
            "heading",
            "link",
            "user_mention",
            "new"
          ]),
          from: Schema.Int.check(Schema.isBetween({ minimum: -3, maximum: 40 })),
          length: Schema.Int.check(Schema.isBetween({ minimum: -3, maximum: 40 })),
          url: Schema.String,
          user_id: Schema.Int
        })
      )
    ],
    ([program, markup]) => {
      const text = Text.toPlain(sampleFrom(program).text)
      const rebuilt = Text.fromBody({ text, markup })
      assert.strictEqual(Text.toPlain(rebuilt), text)
      assert.strictEqual(parseHtml(Text.toHtml(rebuilt)).text, text)
      assert.strictEqual(parseMarkdown(Text.toMarkdown(rebuilt)).text, text)
    },
    options
  )
})

describe("Text.split", () => {
  const limit = Schema.Int.check(Schema.isBetween({ minimum: 16, maximum: 400 }))

  const startsOf = (whole: string, parts: ReadonlyArray<Text.Text>): ReadonlyArray<number> => {
    let at = 0
    const starts = parts.map(({ text }) => {
      const start = whole.indexOf(text, at)
      assert.isAtLeast(start, at)
      assert.strictEqual(whole.slice(at, start).trim(), "")
      assert.notStrictEqual(text.trim(), "")
      at = start + text.length
      return start
    })
    assert.strictEqual(whole.slice(at).trim(), "")
    return starts
  }

  for (const format of ["html", "markdown"] as const) {
    it.prop(
      `returns parts within the limit as ${format}, and drops only white space`,
      [program, limit],
      ([program, limit]) => {
        const { text } = sampleFrom(program)
        const parts = Text.split(text, { limit, format })
        for (const part of parts) assert.isAtMost(Text.message(part, { format }).text.length, limit)
        startsOf(Text.toPlain(text), parts)
      },
      options
    )
  }

  it.prop(
    "continues formatting in the next part",
    [program],
    ([program]) => {
      const { cells, text } = sampleFrom([...program, ...program, ...program])
      const parts = Text.split(text, { limit: 300 })
      for (const [i, start] of startsOf(Text.toPlain(text), parts).entries()) {
        const read = cellsOf(parseHtml(Text.toHtml(parts[i])))
        assert.deepStrictEqual(sorted(read), sorted(cells.slice(start, start + read.length)))
      }
    },
    options
  )

  it.prop(
    "never splits a grapheme",
    [program],
    ([program]) => {
      const { text } = sampleFrom([...program, ...program, ...program])
      const whole = Text.toPlain(text)
      const starts = new Set(Array.from(new Intl.Segmenter().segment(whole), ({ index }) => index))
      for (const start of startsOf(whole, Text.split(text, { limit: 300 }))) {
        assert.isTrue(starts.has(start) || /\s/.test(whole[start - 1]), `${start} of ${JSON.stringify(whole)}`)
      }
    },
    options
  )
})
