import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { splitArguments } from "../../../src/bot/internal/handlers/command.ts"
import { parse } from "../../../src/model/internal/text/command.ts"

const partsOf = (message: string) => {
  const { name, text, username } = parse(message) ?? {}
  return name === undefined ? undefined : [name, username, text]
}

const blank = /^\s*$/
const Whitespace = Schema.Array(Schema.Literals([" ", "\n", "\t", "\u00a0", "\r\n"])).check(Schema.isMinLength(1))
const Word = Schema.String.check(Schema.isPattern(/^\S+$/))

describe("parse", () => {
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
  ])("returns the name, the username and the text of %j", (message, parts) => {
    assert.deepStrictEqual<unknown>(partsOf(message), parts)
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
  ])("returns undefined for %j", (message) => {
    assert.isUndefined(partsOf(message))
  })

  it.effect.prop("returns any name and any text", [Word, Schema.String], ([word, rest]) =>
    Effect.sync(() => {
      const parsed = parse(`/${word} ${rest}`)
      if (parsed === undefined) return assert.match(word, /[@/]/)
      const username = parsed.username === undefined ? "" : `@${parsed.username}`
      assert.strictEqual(`${parsed.name}${username}`.toLowerCase(), word.toLowerCase())
      assert.strictEqual(parsed.text, rest.trim())
    })
  )
})

describe("splitArguments", () => {
  it("assigns one word to each key, and the rest of the text unchanged to the last key", () => {
    assert.deepStrictEqual(splitArguments(["a", "b"], "one two  three\nfour"), { a: "one", b: "two  three\nfour" })
    assert.deepStrictEqual(splitArguments(["a"], "one two"), { a: "one two" })
    assert.deepStrictEqual(splitArguments([], "one two"), {})
  })

  it("leaves out the keys for which no text is left", () => {
    assert.deepStrictEqual(splitArguments(["a", "b", "c"], "one two"), { a: "one", b: "two" })
    assert.deepStrictEqual(splitArguments(["a", "b"], " \n "), {})
  })

  it.effect.prop(
    "returns the words as they were written, whatever whitespace is between them",
    [Schema.Array(Schema.Tuple([Whitespace, Word])), Schema.String],
    ([words, last]) =>
      Effect.sync(() => {
        const keys = [...words.map((_, index) => `word${index}`), "last"]
        const text = words.map(([whitespace, word]) => whitespace.join("") + word).join("") + ` ${last}`
        const parsed = parse(`/command${text}`) ?? assert.fail("the text is not a command")
        const expected = [...words.map(([, word]) => word), ...(blank.test(last) ? [] : [last.trim()])]
        assert.deepStrictEqual(
          splitArguments(keys, parsed.text),
          Object.fromEntries(expected.map((word, index) => [keys[index], word]))
        )
      })
  )
})
