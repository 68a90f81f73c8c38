import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import { type Format, truncate } from "../../../src/live/internal/liveMessage/parts.ts"
import { growing } from "../../../src/live/internal/liveMessage/view.ts"
import * as Html from "../../../src/model/internal/text/html.ts"
import { parse } from "../../../src/model/internal/text/parse.ts"
import type { FormattedText } from "../../../src/model/internal/text/spans.ts"
import * as Platform from "../../../src/base/Platform.ts"

const limit = Platform.maxTextLength

/** Shows a source that grows, and returns the complete parts and the last one. */
const partsOf = (source: string, size: number, format: Format = "markdown"): ReadonlyArray<FormattedText> => {
  const view = growing(format)
  const parts: Array<FormattedText> = []
  // While it grows, what a message shows may be cut early.
  let shown = 0
  const read = (isComplete: boolean): FormattedText => {
    for (;;) {
      const part = isComplete ? view.read(true) : view.read(false, shown)
      assert.isAtMost(Html.render(part.text).length, limit)
      shown = part.rest === undefined ? part.text.text.length : 0
      if (part.rest === undefined) return part.text
      parts.push(part.text)
      assert.isBelow(parts.length, 4 + source.length / 100)
      view.advance(part)
    }
  }
  for (let at = 0; at < source.length; at += size) {
    view.append(source.slice(at, at + size))
    read(false)
  }
  const last = read(true)
  return [...parts, last]
}

const textsOf = (source: string, size: number): ReadonlyArray<string> => partsOf(source, size).map(({ text }) => text)

const withoutSpace = (text: string): string => text.replace(/\s+/g, "")

/** The characters of texts, each with its formatting. */
const formattedOf = (texts: ReadonlyArray<FormattedText>): ReadonlyArray<string> =>
  texts.flatMap(({ spans, text }) =>
    Array.from({ length: text.length }, (_, index) => index)
      .filter((index) => /\S/.test(text[index]!))
      .map((index) => {
        const covering = spans.filter(({ from, to }) => from <= index && index < to)
        return [text[index], ...covering.map(({ type, url }) => `${type} ${url ?? ""}`).sort()].join(" ")
      })
  )

const blocks = [
  "A sentence with **bold words and _italic_ ones** in it. Another sentence follows here! And a third?",
  "Use `code()` and [a link](https://example.com/path?a=1&b=2), or ~~not~~ ++this++ and ^^that^^.",
  "# A heading",
  "> a quote of **two\n> lines** that belong together",
  "```ts\nconst a = [1, 2, 3]\n\nfor (const b of a) {\n  console.log(`**${b}**`)\n}\n```",
  "- an item\n- another *item*\n- 2 * 3 * 4",
  "Escaped \\*stars\\* & <tags> and emoji 👩‍👩‍👧 here.",
  "Слова по-русски, и ещё одно предложение. И ещё одно!",
  "這是一個很長的句子。這是另一個句子！",
  "x".repeat(700)
]

const pick = <A>(values: ReadonlyArray<A>) =>
  Arbitrary.map(Arbitrary.schema(Schema.Literals(values.map((_, index) => index))), (index) => values[index]!)

/** What begins or ends formatting, or only seems to. */
const marks = [
  ..."` `` ``` ** * _ __ ++ + ~~ ^^ [ ] ( ) ]( \\ \\* > < & ! !".split(" "),
  ..."\n```\n|```ts\n|\n> |\n# |\n|\n- |1. |[b](https://e.com)|\u{1f600}".split("|")
]

/** Words among marks. Each word occurs once. */
const hostile = (length: number, chosenMarks = marks) =>
  Arbitrary.map(
    Arbitrary.array(pick(["", "", " ", ". ", ...chosenMarks]), { minLength: length >> 1, maxLength: length }),
    (chosen) => chosen.map((mark, index) => `${mark}w${index}${index % 3 === 0 ? "" : " "}`).join("")
  )

describe("The parts of a text that grows", () => {
  it.prop(
    "have at most 4000 characters with their markup, and all of the text, however it arrives",
    { chosen: Arbitrary.array(pick(blocks), { minLength: 1, maxLength: 150 }), size: pick([3, 17, 400, 100_000]) },
    ({ chosen, size }) => {
      const source = chosen.join("\n\n")
      assert.strictEqual(withoutSpace(textsOf(source, size).join("")), withoutSpace(parse(source, false).text))
    }
  )

  it.prop(
    "have all of the text of hostile paragraphs, whatever is open where a part is cut",
    { paragraphs: Arbitrary.array(hostile(30), { minLength: 30, maxLength: 80 }), size: pick([40, 400, 100_000]) },
    ({ paragraphs, size }) => {
      const source = paragraphs.join("\n\n")
      assert.strictEqual(withoutSpace(textsOf(source, size).join("")), withoutSpace(parse(source, false).text))
    },
    { arbitrary: { runs: 40 } }
  )

  it.prop(
    "have all of the text of a hostile paragraph that is longer than a message, and each word once while it grows",
    { source: hostile(1600), size: pick([400, 100_000]) },
    ({ size, source }) => {
      const whole = parse(source, false).text
      assert.strictEqual(withoutSpace(textsOf(source, source.length).join("")), withoutSpace(whole))
      assert.deepStrictEqual(textsOf(source, size).join("").match(/w\d+/g), whole.match(/w\d+/g))
    },
    { arbitrary: { runs: 40 } }
  )

  it.prop(
    "have the formatting of hostile paragraphs that fit into a message, also while they grow",
    {
      paragraphs: Arbitrary.array(
        hostile(
          200,
          marks.filter((mark) => !mark.includes("\n"))
        ),
        { minLength: 6, maxLength: 10 }
      ),
      size: pick([400, 1200, 3000])
    },
    ({ paragraphs, size }) => {
      const source = paragraphs.join("\n\n")
      assert.deepStrictEqual(formattedOf(partsOf(source, size)), formattedOf([parse(source, false)]))
    },
    { arbitrary: { runs: 40 } }
  )

  it.each([
    "see [the label. Of a link](https://example.com/path) and more. ",
    'see [the label](https://example.com/path "The title. Of a link") and more. ',
    "see ![the text. Of an image](https://example.com/path) and more. ",
    "see [w33 ```w34. w35](w36 w37``` and more. ",
    "see [no. Link](or address and more. ",
    "see w6*w7. W8* and more. ",
    "*see [a. B* c. D](https://example.com/path) and more. "
  ])("do not end where %s may still be formatted", (undecided) => {
    const before = "Some more words. ".repeat(160)
    const source = `${before}${undecided}${"Some words after. ".repeat(60)}`
    const whole = formattedOf([parse(source, false)])
    for (let length = 1; length <= undecided.length; length++) {
      assert.deepStrictEqual(formattedOf(partsOf(source, before.length + length)), whole, `after ${length} characters`)
    }
  })

  it("continue bold text of a quote in which they are cut", () => {
    const source = `> a quote of **two\n> lines ${"word ".repeat(1000).trim()}**`
    const parts = partsOf(source, 1e5)
    assert.strictEqual(parts.map(({ text }) => text).join(" "), parse(source, false).text)
    assert.deepStrictEqual(
      parts.map(({ spans }) => spans.map(({ type }) => type)),
      [
        ["quote", "strong"],
        ["quote", "strong"]
      ]
    )
  })

  it("continue a block of code and a bold quote that are much longer than a message", () => {
    const code = Array.from({ length: 6000 }, (_, index) => `line ${index}`).join("\n")
    const blocks = partsOf(`\`\`\`ts\n${code}\n\`\`\``, 5000)
    assert.strictEqual(blocks.map(({ text }) => text).join("\n"), code)
    for (const { spans, text } of blocks) {
      assert.deepStrictEqual(spans, [{ type: "monospaced", from: 0, to: text.length }])
    }
    const quote = `> **${"word\n> ".repeat(10_000)}end**`
    const quotes = partsOf(quote, 1e6)
    assert.strictEqual(quotes.map(({ text }) => text).join("\n"), parse(quote, false).text)
    for (const { spans } of quotes) {
      assert.sameMembers(
        spans.map(({ type }) => type),
        ["quote", "strong"]
      )
    }
  })

  it("have no half of a surrogate pair", () => {
    const view = growing("markdown")
    view.append("Two words and \ud83d")
    assert.strictEqual(view.read(false).text.text, "Two words and ")
    view.append("\ude00 the end")
    assert.strictEqual(view.read(false).text.text, "Two words and \u{1f600} the end")
    view.append("\ud83d")
    assert.strictEqual(view.read(true).text.text, "Two words and \u{1f600} the end\ufffd")
    for (const { text } of partsOf("\u{1f600}".repeat(5000), 777)) assert.isTrue(text.isWellFormed())
  })

  it("end after a paragraph, a sentence, or a word, in this order", () => {
    const sentence = "Four words and end. "
    const paragraphs = `${sentence.repeat(150)}\n\n${sentence.repeat(100)}`
    assert.strictEqual(textsOf(paragraphs, 1e5)[0], sentence.repeat(150).trim())
    assert.strictEqual(textsOf(sentence.repeat(300), 1e5)[0], sentence.repeat(200).trim())
    assert.match(textsOf("word ".repeat(1000), 1e5)[0]!, /word$/)
    assert.lengthOf(partsOf("x".repeat(9000), 1e5), 3)
  })

  it("do not end inside a block of code, bold text or a link if that fits into a message", () => {
    const before = "Some words. ".repeat(200)
    const code = `const x = 1\n`.repeat(200)
    assert.deepStrictEqual(textsOf(`${before}\n\`\`\`\n${code}\`\`\`\nEnd`, 40), [before.trim(), `${code.trim()}\nEnd`])
    const bold = "bold ".repeat(500).trim()
    assert.deepStrictEqual(textsOf(`${before}**${bold}** end`, 40), [before.trim(), `${bold} end`])
  })

  it("format the rest of a block of code that is longer than a message", () => {
    const code = Array.from({ length: 700 }, (_, index) => `line ${index}`).join("\n")
    const parts = partsOf(`\`\`\`ts\n${code}\n\`\`\``, 1e5)
    assert.match(parts[0]!.text, /line \d+$/)
    assert.strictEqual(parts.map(({ text }) => text).join("\n"), code)
    assert.deepStrictEqual(parts[1]!.spans, [{ type: "monospaced", from: 0, to: parts[1]!.text.length }])
  })

  it("reads plain text as it is", () => {
    assert.strictEqual(partsOf("**a** `b", 100, "plain")[0]!.text, "**a** `b")
  })
})

describe("truncate", () => {
  it("shortens a text that is too long, and no other", () => {
    const short = { text: "short", spans: [] }
    assert.strictEqual(truncate(short), short)
    const long = truncate({ text: "a<".repeat(3000), spans: [] })
    assert.isAtMost(Html.render(long).length, limit)
    assert.match(long.text, /\u2026$/)
  })
})
