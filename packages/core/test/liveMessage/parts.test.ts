import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import { takePart, truncate } from "../../src/internal/liveMessage/parts.ts"
import * as Html from "../../src/internal/text/html.ts"
import { parse } from "../../src/internal/text/parse.ts"
import * as Platform from "../../src/Platform.ts"

const limit = Platform.maxTextLength

/** Shows a source that grows, and returns the complete parts and the last one. */
const partsOf = (source: string, size: number): ReadonlyArray<string> => {
  const parts: Array<string> = []
  let open = ""
  const close = (isComplete: boolean): string => {
    for (;;) {
      const { rest, text } = takePart(open, "markdown", isComplete)
      assert.isAtMost(Html.render(text).length, limit)
      if (rest === undefined) return text.text
      assert.isBelow(rest.length, open.length + 8)
      parts.push(text.text)
      open = rest
    }
  }
  for (let at = 0; at < source.length; at += size) {
    open += source.slice(at, at + size)
    close(false)
  }
  return [...parts, close(true)]
}

const withoutSpace = (text: string): string => text.replace(/\s+/g, "")

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

describe("The parts of a text that grows", () => {
  it.prop(
    "have at most 4000 characters with their markup, and all of the text, however it arrives",
    { chosen: Arbitrary.array(pick(blocks), { minLength: 1, maxLength: 150 }), size: pick([3, 17, 400, 100_000]) },
    ({ chosen, size }) => {
      const source = chosen.join("\n\n")
      assert.strictEqual(withoutSpace(partsOf(source, size).join("")), withoutSpace(parse(source, false).text))
    }
  )

  it("end after a paragraph, a sentence, or a word, in this order", () => {
    const sentence = "Four words and end. "
    const paragraphs = `${sentence.repeat(150)}\n\n${sentence.repeat(100)}`
    assert.strictEqual(partsOf(paragraphs, 1e5)[0], sentence.repeat(150).trim())
    assert.strictEqual(partsOf(sentence.repeat(300), 1e5)[0], sentence.repeat(200).trim())
    assert.match(partsOf("word ".repeat(1000), 1e5)[0]!, /word$/)
    assert.lengthOf(partsOf("x".repeat(9000), 1e5), 3)
  })

  it("do not end inside a block of code, bold text or a link if that fits into a message", () => {
    const before = "Some words. ".repeat(200)
    const code = `const x = 1\n`.repeat(200)
    assert.deepStrictEqual(partsOf(`${before}\n\`\`\`\n${code}\`\`\`\nEnd`, 40), [before.trim(), `${code.trim()}\nEnd`])
    const bold = "bold ".repeat(500).trim()
    assert.deepStrictEqual(partsOf(`${before}**${bold}** end`, 40), [before.trim(), `${bold} end`])
  })

  it("format the rest of a block of code that is longer than a message", () => {
    const code = Array.from({ length: 700 }, (_, index) => `line ${index}`).join("\n")
    const first = takePart(`\`\`\`ts\n${code}\n\`\`\``, "markdown", true)
    assert.match(first.text.text, /line \d+$/)
    const second = takePart(first.rest!, "markdown", true)
    assert.strictEqual(`${first.text.text}\n${second.text.text}`, code)
    assert.deepStrictEqual(second.text.spans, [{ type: "monospaced", from: 0, to: second.text.text.length }])
  })

  it("reads plain text as it is", () => {
    assert.strictEqual(takePart("**a** `b", "plain", false).text.text, "**a** `b")
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
