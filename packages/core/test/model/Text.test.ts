import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { parseHtml } from "../../../testing/src/emulator/internal/text/html.ts"
import { parseMarkdown } from "../../../testing/src/emulator/internal/text/markdown.ts"
import { type Parsed } from "../../../testing/src/emulator/internal/text/markup.ts"
import * as Html from "../../src/model/internal/text/html.ts"
import * as Markdown from "../../src/model/internal/text/markdown.ts"
import { split } from "../../src/model/internal/text/split.ts"
import * as Platform from "../../src/base/Platform.ts"
import * as Text from "../../src/model/Text.ts"

const both = (text: Text.Text) => [Text.toHtml(text), Text.toMarkdown(text)]

describe("Text constructors", () => {
  it("create every type of formatting in both languages", () => {
    assert.deepStrictEqual(both(Text.bold("a")), ["<b>a</b>", "**a**"])
    assert.deepStrictEqual(both(Text.italic("a")), ["<i>a</i>", "_a_"])
    assert.deepStrictEqual(both(Text.strikethrough("a")), ["<s>a</s>", "~~a~~"])
    assert.deepStrictEqual(both(Text.underline("a")), ["<u>a</u>", "++a++"])
    assert.deepStrictEqual(both(Text.highlighted("a")), ["<mark>a</mark>", "^^a^^"])
    assert.deepStrictEqual(both(Text.monospaced("a")), ["<code>a</code>", "`a`"])
    assert.deepStrictEqual(both(Text.quote("a\nb")), ["<blockquote>a\nb</blockquote>", "> a\n> b"])
    assert.deepStrictEqual(both(Text.heading("a")), ["<h1>a</h1>", "# a"])
    assert.deepStrictEqual(both(Text.link("a", "https://e.com")), [
      '<a href="https://e.com">a</a>',
      "[a](https://e.com)"
    ])
  })

  it("create a mention by username as plain text and by ID as a link", () => {
    assert.deepStrictEqual(both(Text.mention("@ann")), ["@ann", "@ann"])
    assert.deepStrictEqual(both(Text.mention(42, "Ann")), [
      `<a href="${Platform.mentionUrlPrefix}42">Ann</a>`,
      `[Ann](${Platform.mentionUrlPrefix}42)`
    ])
    assert.deepStrictEqual(Text.link("Ann", `${Platform.mentionUrlPrefix}42`), Text.mention(42, "Ann"))
  })

  it("create empty text from empty input, and no link from an empty URL", () => {
    assert.deepStrictEqual(Text.bold(""), Text.empty)
    assert.deepStrictEqual(Text.concat(), Text.empty)
    assert.deepStrictEqual(Text.link("a", " "), Text.plain("a"))
  })

  it("convert line breaks to \\n", () => {
    assert.strictEqual(Text.plain("a\r\nb\rc\n").text, "a\nb\nc\n")
  })

  it("are recognized by isText", () => {
    assert.isTrue(Text.isText(Text.bold("a")))
    assert.isFalse(Text.isText({ text: "a", spans: [] }))
  })
})

describe("Text combinators", () => {
  it("take interpolated strings in a template as plain text", () => {
    const text = Text.t`Hello ${"<b>*Eve*"}, ${Text.bold("you")} have ${3} of ${10n}`
    assert.deepStrictEqual(both(text), [
      "Hello &lt;b&gt;*Eve*, <b>you</b> have 3 of 10",
      "Hello <b>\\*Eve\\*, **you** have 3 of 10".replace("<", "\\<")
    ])
  })

  it("merge spans of the same format that touch", () => {
    assert.deepStrictEqual(both(Text.concat(Text.bold("a"), Text.bold("b"))), ["<b>ab</b>", "**ab**"])
    assert.deepStrictEqual(both(Text.bold(Text.concat("a ", Text.bold("b")))), ["<b>a b</b>", "**a b**"])
  })

  it("put separators only between texts", () => {
    assert.strictEqual(Text.toHtml(Text.join(["a", Text.bold("b"), "c"], ", ")), "a, <b>b</b>, c")
    assert.strictEqual(Text.join(["a", Text.quote("b"), "c"], "\n").text, "a\nb\nc")
  })

  it("add line breaks around blocks", () => {
    const text = Text.concat("a", Text.quote("b"), Text.heading("c"), "d")
    assert.deepStrictEqual(both(text), ["a\n<blockquote>b</blockquote>\n<h1>c</h1>\nd", "a\n> b\n# c\nd"])
  })

  it("keep the inner of two nested links", () => {
    const text = Text.link(Text.concat("a", Text.link("b", "https://in"), "c"), "https://out")
    assert.strictEqual(
      Text.toHtml(text),
      '<a href="https://out">a</a><a href="https://in">b</a><a href="https://out">c</a>'
    )
  })
})

describe("Text.toMarkdown", () => {
  const cases: ReadonlyArray<readonly [string, Text.Text, string]> = [
    ["escapes delimiters", Text.plain("*a* _b_ `c` [d](e) \\"), "\\*a\\* \\_b\\_ \\`c\\` \\[d\\](e) \\\\"],
    [
      "escapes characters of double delimiters only where they are doubled",
      Text.plain("1+1 C++ ~ ~~ ^^"),
      "1+1 C\\+\\+ ~ \\~\\~ \\^\\^"
    ],
    [
      "escapes a heading or quote mark at the start of a line",
      Text.plain("# a\n > b\nc # d > e"),
      "\\# a\n \\> b\nc # d > e"
    ],
    ["escapes tags and entities", Text.plain("<b> a < b &lt; AT&T"), "\\<b> a < b \\&lt; AT&T"],
    [
      "escapes a plain character beside a delimiter",
      Text.concat("+", Text.underline("a"), "!", Text.link("b", "c")),
      "\\+++a++\\![b](c)"
    ],
    ["escapes a quote mark inside a quote", Text.quote("> a"), "> \\> a"],
    ["keeps white space outside the delimiters", Text.concat("a", Text.bold(" b "), "c"), "a **b** c"],
    ["closes formatting before a line break and opens it again after it", Text.bold("a\n\nb"), "**a**\n\n**b**"],
    ["narrows formatting past punctuation inside a word", Text.concat("a", Text.bold('"b"'), "c"), 'a"**b**"c'],
    ["keeps formatted punctuation between words", Text.concat("a ", Text.bold('"b"'), " c"), 'a **"b"** c'],
    ["renders italics inside a word with a star", Text.concat("a", Text.italic("b"), "c"), "a*b*c"],
    ["renders bold and italics that touch", Text.concat(Text.bold("a"), Text.italic("b")), "**a**_b_"],
    [
      "drops italics that touch bold inside a word",
      Text.concat(Text.bold(Text.concat("a", Text.italic("b"))), Text.italic("c"), "d"),
      "**ab**cd"
    ],
    [
      "keeps only the innermost formatting inside a word",
      Text.concat("a", Text.bold(Text.strikethrough("b")), "c"),
      "a~~b~~c"
    ],
    [
      "nests monospaced text inside other formatting",
      Text.monospaced(Text.concat("a ", Text.bold("b"))),
      "`a` **`b`**"
    ],
    ["renders backticks and a final backslash beside monospaced text", Text.monospaced("a`b\\"), "`a`\\``b`\\\\"],
    [
      "encodes parentheses and spaces of a URL",
      Text.link("a]", "https://e.com/(x) y"),
      "[a\\]](https://e.com/%28x%29%20y)"
    ],
    ["drops formatting of white space", Text.concat("a", Text.bold("  "), "b"), "a  b"]
  ]
  for (const [name, text, expected] of cases) {
    it(name, () => assert.strictEqual(Text.toMarkdown(text), expected))
  }
})

describe("Text.toHtml", () => {
  it("escapes text and URLs", () => {
    const text = Text.link("<a> & \"b\" 'c'", 'https://e.com/?a=1&b="><script>')
    assert.strictEqual(
      Text.toHtml(text),
      '<a href="https://e.com/?a=1&amp;b=%22%3E%3Cscript%3E">&lt;a&gt; &amp; &quot;b&quot; &#39;c&#39;</a>'
    )
  })
})

describe("Text.message", () => {
  it("renders HTML by default", () => {
    assert.deepStrictEqual(Text.message(Text.bold("a")), { text: "<b>a</b>", format: "html" })
    assert.deepStrictEqual(Text.message(Text.bold("a"), { format: "markdown" }), { text: "**a**", format: "markdown" })
  })
})

describe("Text.fromBody", () => {
  const html = (text: string, ...markup: NonNullable<Text.Body["markup"]>) =>
    Text.toHtml(Text.fromBody({ text, markup }))

  it("accepts overlapping elements", () => {
    assert.strictEqual(
      html("abcd", { type: "strong", from: 0, length: 3 }, { type: "emphasized", from: 1, length: 3 }),
      "<b>a<i>bc</i></b><i>d</i>"
    )
  })

  it("keeps the first of overlapping links, and the parts of others outside of it", () => {
    const link = (from: number, length: number, url: string) => ({ type: "link", from, length, url })
    assert.strictEqual(
      html("abcdefgh", link(2, 2, "x"), link(0, 8, "y"), link(3, 3, "z"), link(2, 2, "w")),
      '<a href="y">ab</a><a href="x">cd</a><a href="y">efgh</a>'
    )
  })

  it("accepts tens of thousands of links", () => {
    // Quadratic time would exceed the time-out of the test.
    const text = "ab".repeat(40_000)
    const markup = Array.from({ length: 40_000 }, (_, index) => ({
      type: "link",
      from: 2 * index,
      length: 1,
      url: "x"
    }))
    assert.lengthOf(Text.fromBody({ text, markup: markup.reverse() }).spans, 40_000)
  })

  it("accepts links and mentions", () => {
    assert.strictEqual(
      html(
        "ab",
        { type: "link", from: 0, length: 1, url: "https://e" },
        { type: "user_mention", from: 1, length: 1, user_id: 4 }
      ),
      '<a href="https://e">a</a><a href="max://user/4">b</a>'
    )
    assert.strictEqual(html("@a", { type: "user_mention", from: 0, length: 2, user_id: null }), "@a")
    assert.strictEqual(html("a", { type: "link", from: 0, length: 1 }), "a")
  })

  it("ignores unknown elements and elements outside the text", () => {
    assert.strictEqual(
      html(
        "ab",
        { type: "blink", from: 0, length: 2 },
        { type: "strong", from: 1, length: 9 },
        { type: "strong", from: 5, length: 1 }
      ),
      "a<b>b</b>"
    )
    assert.deepStrictEqual(Text.fromBody({ text: null, markup: null }), Text.empty)
  })

  it("widens blocks to lines, and ranges to whole code points", () => {
    assert.strictEqual(html("ab\ncd\nef", { type: "quote", from: 4, length: 1 }), "ab\n<blockquote>cd</blockquote>\nef")
    assert.strictEqual(html("👋a", { type: "strong", from: 1, length: 1 }), "<b>👋</b>a")
  })

  it("keeps carriage returns, because offsets count them", () => {
    assert.strictEqual(html("a\r\nb", { type: "strong", from: 3, length: 1 }), "a\r\n<b>b</b>")
  })
})

describe("Text.split", () => {
  const parts = (text: Text.Text, limit: number) => Text.split(text, { limit }).map(Text.toHtml)

  it("returns a text that fits unchanged", () => {
    const text = Text.bold(" a\n")
    assert.deepStrictEqual(Text.split(text), [text])
    assert.deepStrictEqual(Text.split(Text.plain("a".repeat(4000))).length, 1)
  })

  it("returns no parts for a blank text", () => {
    assert.deepStrictEqual(Text.split(Text.plain(" \n ")), [])
    assert.deepStrictEqual(Text.split(Text.empty), [])
  })

  it("splits at paragraphs, then lines, then words", () => {
    assert.deepStrictEqual(parts(Text.plain("one two\n\nthree\nfour five"), 20), ["one two\n\nthree", "four five"])
    assert.deepStrictEqual(parts(Text.plain("one two three\n\nfour\nfive"), 20), ["one two three", "four\nfive"])
    assert.deepStrictEqual(parts(Text.plain("one two three\nfour five"), 20), ["one two three", "four five"])
    assert.deepStrictEqual(parts(Text.plain("one two three four five"), 20), ["one two three four", "five"])
    assert.deepStrictEqual(parts(Text.plain("a".repeat(45)), 20), ["a".repeat(20), "a".repeat(20), "a".repeat(5)])
  })

  it("keeps the indentation of the next line", () => {
    assert.deepStrictEqual(parts(Text.plain("one two three\n    four five"), 20), ["one two three", "    four five"])
  })

  it("continues formatting in the next part", () => {
    assert.deepStrictEqual(parts(Text.bold(Text.concat("one two three ", Text.italic("four five"))), 24), [
      "<b>one two three</b>",
      "<b><i>four five</i></b>"
    ])
    const quoted = Text.split(Text.quote("one two three\nfour five"), { limit: 20, format: "markdown" })
    assert.deepStrictEqual(quoted.map(Text.toMarkdown), ["> one two three", "> four five"])
  })

  it("renders a part about as often for a long text as for a short one", () => {
    for (const render of [Html.render, Markdown.render]) {
      for (const piece of [Text.plain("word "), Text.concat(Text.bold("a"), " "), Text.plain("a&*b")]) {
        for (const repeats of [5000, 20_000]) {
          let rendered = 0
          const parts = split(Text.concat(...Array.from({ length: repeats }, () => piece)), {
            limit: 4000,
            render: (text) => {
              const out = render(text)
              rendered += out.length
              return out
            }
          })
          // Most parts have 4,000 characters, so this is seven renderings of a part.
          assert.isAtMost(rendered / parts.length, 7 * 4000)
        }
      }
    }
  })

  it("counts escapes against the limit", () => {
    assert.deepStrictEqual(parts(Text.plain("&".repeat(7)), 16), ["&amp;&amp;&amp;", "&amp;&amp;&amp;", "&amp;"])
  })

  it("does not split a surrogate pair or a joined emoji", () => {
    const family = "👨‍👩‍👧"
    assert.deepStrictEqual(parts(Text.plain(family.repeat(5)), 20), [family.repeat(2), family.repeat(2), family])
  })

  it("splits a grapheme that exceeds the limit at a code point", () => {
    const grapheme = "e" + "\u0301".repeat(30)
    assert.strictEqual(parts(Text.plain(grapheme), 16).join(""), grapheme)
  })

  it("drops formatting that takes too much of the limit", () => {
    assert.deepStrictEqual(parts(Text.link("a b", `https://e.com/${"x".repeat(90)}`), 100), ["a b"])
    assert.deepStrictEqual(parts(Text.heading(Text.quote(Text.bold("abc"))), 16), ["abc"])
  })
})

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
  for (const { from, length, type, ...target } of markup) {
    const name = [type, ...Object.values(target)].join(" ")
    for (let i = from; i < from + length; i++) if (!cells[i].formats.includes(name)) cells[i].formats.push(name)
  }
  return cells
}

const sorted = (cells: ReadonlyArray<Cell>) => cells.map(({ formats, unit }) => [unit, [...formats].sort().join()])

const textOf = (cells: ReadonlyArray<Cell>) => cells.map(({ unit }) => unit).join("")

const options = { arbitrary: { runs: 500, size: 60 } }

describe("Text on the platform", () => {
  it.prop(
    "renders HTML that parses to the same text and formatting",
    [program],
    ([program]) => {
      const { cells, text } = sampleFrom(program)
      assert.strictEqual(text.text, textOf(cells))
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
      assert.strictEqual(again.text, text.text)
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
      const text = sampleFrom(program).text.text
      const rebuilt = Text.fromBody({ text, markup })
      assert.strictEqual(rebuilt.text, text)
      assert.strictEqual(parseHtml(Text.toHtml(rebuilt)).text, text)
      assert.strictEqual(parseMarkdown(Text.toMarkdown(rebuilt)).text, text)
    },
    options
  )
})

describe("Text.split for the emulator", () => {
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
        startsOf(text.text, parts)
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
      for (const [i, start] of startsOf(text.text, parts).entries()) {
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
      const whole = text.text
      const starts = new Set(Array.from(new Intl.Segmenter().segment(whole), ({ index }) => index))
      for (const start of startsOf(whole, Text.split(text, { limit: 300 }))) {
        assert.isTrue(starts.has(start) || /\s/.test(whole[start - 1]), `${start} of ${JSON.stringify(whole)}`)
      }
    },
    options
  )
})
