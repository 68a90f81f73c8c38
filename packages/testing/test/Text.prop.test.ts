import * as Text from "@colloquy/core/Text"
import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { parseHtml } from "../src/internal/text/html.ts"
import { parseMarkdown } from "../src/internal/text/markdown.ts"
import type { Parsed } from "../src/internal/text/markup.ts"

/** One visible code unit and what formats it: the specification, written without the library. */
interface Cell {
  readonly unit: string
  readonly marks: ReadonlyArray<string>
}

interface Subject {
  readonly text: Text.Text
  readonly cells: ReadonlyArray<Cell>
}

const isTarget = (mark: string): boolean => mark.startsWith("link ") || mark.startsWith("user_mention ")

const isBlock = (cell: Cell): boolean => cell.marks.includes("quote") || cell.marks.includes("heading")

const plain = (string: string): Subject => ({
  text: Text.plain(string),
  cells: string
    .replace(/\r\n?/g, "\n")
    .split("")
    .map((unit) => ({ unit, marks: [] }))
})

const concat = (subjects: ReadonlyArray<Subject>): Subject => {
  const cells: Array<Cell> = []
  for (const subject of subjects) {
    const left = cells.at(-1)
    const right = subject.cells[0]
    const apart = (left && right && isBlock(right)) || (left && right && isBlock(left) && right.unit !== "\n")
    if (apart && left.unit !== "\n") cells.push({ unit: "\n", marks: [] })
    cells.push(...subject.cells)
  }
  return { text: Text.concat(...subjects.map(({ text }) => text)), cells }
}

const mark =
  (name: string, build: (text: Text.Text) => Text.Text) =>
  (subject: Subject): Subject => ({
    text: build(subject.text),
    cells: subject.cells.map(({ marks, unit }) => ({
      unit,
      marks: marks.includes(name) || (isTarget(name) && marks.some(isTarget)) ? marks : [...marks, name]
    }))
  })

const wraps = [
  mark("strong", Text.bold),
  mark("emphasized", Text.italic),
  mark("strikethrough", Text.strikethrough),
  mark("underline", Text.underline),
  mark("highlighted", Text.highlighted),
  mark("monospaced", Text.monospaced),
  mark("link https://e.com/?a=1&b=%22_x_*y*", (text) => Text.link(text, 'https://e.com/?a=1&b="_x_*y*')),
  mark("user_mention 42", (text) => Text.mention(42, text))
]

const blocks = [mark("quote", Text.quote), mark("heading", Text.heading)]

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
    default:
      return String.fromCharCode(rest)
  }
}

/** A stack machine: every list of numbers is some nested text, and shorter lists are simpler texts. */
const anything = (program: ReadonlyArray<number>): Subject => {
  const stack: Array<Subject> = []
  for (const n of program) {
    const rest = n >> 3
    if ((n & 7) < 4) stack.push(plain(anyString(rest)))
    else if ((n & 7) < 6) stack.push(concat(stack.splice(-1 - (rest % 4))))
    else stack.push(pick([...wraps, ...blocks], rest)(stack.pop() ?? plain("")))
  }
  return concat(stack)
}

/** Formatting that begins and ends between words, around any content. */
const worded = (program: ReadonlyArray<number>): Subject => {
  const stack: Array<Subject> = [plain("start")]
  for (const n of program) {
    const rest = n >> 2
    if ((n & 3) < 2) stack.push(plain(`${pick(words, rest)}${anyString(rest)}${pick(words, rest >> 4)}`))
    else if ((n & 3) === 2) {
      const parts = stack.splice(-1 - (rest % 4))
      stack.push(concat(parts.flatMap((part, i) => (i === 0 ? [part] : [plain(" "), part]))))
    } else stack.push(pick(wraps, rest)(stack.pop() ?? plain("a")))
  }
  return concat(stack.flatMap((part, i) => (i === 0 ? [part] : [plain(" "), part])))
}

const program = Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2 ** 22 }))).check(
  Schema.isMaxLength(60)
)

const cellsOf = ({ markup, text }: Parsed): ReadonlyArray<Cell> => {
  const marks: Array<Array<string>> = Array.from(text, () => []).concat([])
  const cells = text.split("").map((unit, i) => ({ unit, marks: (marks[i] ??= []) }))
  for (const { from, length, type, url, user_id } of markup) {
    const name = url !== undefined ? `${type} ${url}` : user_id !== undefined ? `${type} ${user_id}` : type
    for (let i = from; i < from + length; i++) if (!cells[i].marks.includes(name)) cells[i].marks.push(name)
  }
  return cells
}

const sorted = (cells: ReadonlyArray<Cell>) => cells.map(({ marks, unit }) => [unit, [...marks].sort().join()])

const string = (cells: ReadonlyArray<Cell>) => cells.map(({ unit }) => unit).join("")

const check = { arbitrary: { runs: 500, size: 60 }, timeout: 60_000 }

describe("Text never lets input change its structure", () => {
  it.prop(
    "HTML reads back as exactly the text and the formatting it was made of",
    [program],
    ([program]) => {
      const { cells, text } = anything(program)
      assert.strictEqual(Text.toPlain(text), string(cells))
      assert.deepStrictEqual(sorted(cellsOf(parseHtml(Text.toHtml(text)))), sorted(cells))
    },
    check
  )

  it.prop(
    "markdown reads back as exactly the text, and formats nothing that was not formatted",
    [program],
    ([program]) => {
      const { cells, text } = anything(program)
      const source = Text.toMarkdown(text)
      const read = cellsOf(parseMarkdown(source))
      assert.strictEqual(string(read), string(cells), source)
      for (const [i, { marks, unit }] of read.entries()) {
        if (unit !== "\n")
          assert.deepStrictEqual(
            marks.filter((mark) => !cells[i].marks.includes(mark)),
            [],
            source
          )
      }
      for (const [i, { marks, unit }] of cells.entries()) {
        if (unit === "\n" || unit.trim() === "") continue
        for (const block of ["quote", "heading"]) {
          assert.strictEqual(read[i].marks.includes(block), marks.includes(block), source)
        }
      }
    },
    check
  )

  it.prop(
    "markdown keeps all formatting that begins and ends between words",
    [program],
    ([program]) => {
      const { cells, text } = worded(program)
      const source = Text.toMarkdown(text)
      const read = cellsOf(parseMarkdown(source))
      const seen = (cells: ReadonlyArray<Cell>, wanted: ReadonlyArray<Cell>) =>
        sorted(
          cells.filter((_, i) => {
            const { marks, unit } = wanted[i]
            return unit.trim() !== "" && !(marks.includes("monospaced") && (unit === "`" || unit === "\\"))
          })
        )
      assert.strictEqual(string(read), string(cells), source)
      assert.deepStrictEqual(seen(read, cells), seen(cells, cells), source)
    },
    check
  )

  it.prop(
    "a received body rebuilds the text",
    [program],
    ([program]) => {
      const { text } = anything(program)
      const body = parseHtml(Text.toHtml(text))
      const again = Text.fromBody(body)
      assert.strictEqual(Text.toPlain(again), Text.toPlain(text))
      assert.deepStrictEqual(cellsOf(parseHtml(Text.toHtml(again))), cellsOf(body))
    },
    check
  )

  it.prop(
    "a body with arbitrary elements keeps its text and never throws",
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
      const text = Text.toPlain(anything(program).text)
      const rebuilt = Text.fromBody({ text, markup })
      assert.strictEqual(Text.toPlain(rebuilt), text)
      assert.strictEqual(parseHtml(Text.toHtml(rebuilt)).text, text)
      assert.strictEqual(parseMarkdown(Text.toMarkdown(rebuilt)).text, text)
    },
    check
  )
})

describe("Text.split", () => {
  const limit = Schema.Int.check(Schema.isBetween({ minimum: 16, maximum: 400 }))

  const positions = (whole: string, parts: ReadonlyArray<Text.Text>): ReadonlyArray<number> => {
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
      `every part is within the limit as ${format}, and only white space is dropped`,
      [program, limit],
      ([program, limit]) => {
        const { text } = anything(program)
        const parts = Text.split(text, { limit, format })
        for (const part of parts) assert.isAtMost(Text.message(part, { format }).text.length, limit)
        positions(Text.toPlain(text), parts)
      },
      check
    )
  }

  it.prop(
    "formatting that is cut goes on in the next part",
    [program],
    ([program]) => {
      const { cells, text } = anything([...program, ...program, ...program])
      const parts = Text.split(text, { limit: 300 })
      for (const [i, start] of positions(Text.toPlain(text), parts).entries()) {
        const read = cellsOf(parseHtml(Text.toHtml(parts[i])))
        assert.deepStrictEqual(sorted(read), sorted(cells.slice(start, start + read.length)))
      }
    },
    check
  )

  it.prop(
    "a cut is never inside what is seen as one character",
    [program],
    ([program]) => {
      const { text } = anything([...program, ...program, ...program])
      const whole = Text.toPlain(text)
      const starts = new Set(Array.from(new Intl.Segmenter().segment(whole), ({ index }) => index))
      for (const start of positions(whole, Text.split(text, { limit: 300 }))) {
        assert.isTrue(starts.has(start) || /\s/.test(whole[start - 1]), `${start} of ${JSON.stringify(whole)}`)
      }
    },
    check
  )
})
