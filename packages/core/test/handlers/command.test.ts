import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { parse, splitArguments } from "../../src/internal/handlers/command.ts"

const said = (text: string) => {
  const { name, text: rest, username: mention } = parse(text) ?? {}
  return name === undefined ? undefined : [name, mention, rest]
}

describe("the text of a command", () => {
  it.each([
    ["/start", ["start", undefined, ""]],
    ["/start promo", ["start", undefined, "promo"]],
    ["/START Promo", ["start", undefined, "Promo"]],
    ["/help@the_bot", ["help", "the_bot", ""]],
    ["/help@the_bot me  please ", ["help", "the_bot", "me  please"]],
    ["/note\nfirst line\n\nsecond 🦊\n", ["note", undefined, "first line\n\nsecond 🦊"]],
    ["/tabbed\tword", ["tabbed", undefined, "word"]],
    ["/помощь Анне", ["помощь", undefined, "Анне"]],
    ["/🦊 a", ["🦊", undefined, "a"]]
  ])("is taken apart: %j", (text, parts) => {
    assert.deepStrictEqual<unknown>(said(text), parts)
  })

  it.each([
    "",
    "start",
    "/",
    "/ start",
    "//",
    "//start",
    "/usr/bin",
    "/help@",
    "/help@a@b",
    "/@bot",
    " /start",
    "\n/start",
    "say /start",
    "first line\n/start"
  ])("is not %j", (text) => {
    assert.isUndefined(said(text))
  })
})

const blank = /^\s*$/
const Blanks = Schema.Array(Schema.Literals([" ", "\n", "\t", "\u00a0", "\r\n"])).check(Schema.isMinLength(1))
const Word = Schema.String.check(Schema.isPattern(/^\S+$/))

describe("arguments", () => {
  it("are words, and all that is left for the last one, as it was written", () => {
    assert.deepStrictEqual(splitArguments(["a", "b"], "one two  three\nfour"), { a: "one", b: "two  three\nfour" })
    assert.deepStrictEqual(splitArguments(["a"], "one two"), { a: "one two" })
    assert.deepStrictEqual(splitArguments([], "one two"), {})
  })

  it("have no value where nothing is left for them", () => {
    assert.deepStrictEqual(splitArguments(["a", "b", "c"], "one two"), { a: "one", b: "two" })
    assert.deepStrictEqual(splitArguments(["a", "b"], " \n "), {})
  })

  it.effect.prop(
    "come back as they were written, whatever blanks are between them",
    [Schema.Array(Schema.Tuple([Blanks, Word])), Schema.String],
    ([words, last]) =>
      Effect.sync(() => {
        const keys = [...words.map((_, at) => `word${at}`), "last"]
        const text = words.map(([blanks, word]) => blanks.join("") + word).join("") + ` ${last}`
        const given = parse(`/command${text}`)
        const expected = [...words.map(([, word]) => word), ...(blank.test(last) ? [] : [last.trim()])]
        assert.deepStrictEqual(
          splitArguments(keys, given?.text ?? assert.fail("no command")),
          Object.fromEntries(expected.map((word, at) => [keys[at], word]))
        )
      })
  )

  it.effect.prop("begin after a name, which no text loses and no text hides", [Word, Schema.String], ([word, rest]) =>
    Effect.sync(() => {
      const given = parse(`/${word} ${rest}`)
      if (given === undefined) return assert.match(word, /[@/]/)
      const mention = given.username === undefined ? "" : `@${given.username}`
      assert.strictEqual(`${given.name}${mention}`.toLowerCase(), word.toLowerCase())
      assert.strictEqual(given.text, rest.trim())
    })
  )
})
