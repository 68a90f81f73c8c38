import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Command, Pattern } from "../../src/index.ts"
import { callback, message, messageCreated, receivedValue } from "../support/handlers.ts"

const isMatch = (pattern: Pattern.Pattern<unknown, "message_created">, text: string) =>
  pattern.match(text) !== undefined

describe("Pattern.match", () => {
  it("matches the same text if the pattern is a string, without the whitespace around it", () => {
    const pattern = Pattern.make("Good morning?")
    assert.deepStrictEqual(pattern.match(" Good morning?\n"), "Good morning?")
    for (const text of ["good morning?", "Good morning", "Good morning? Yes", ""]) {
      assert.isFalse(isMatch(pattern, text))
    }
  })

  it("returns the result of RegExp.exec if the pattern is a regular expression", () => {
    const found = Pattern.make(/(\d+) 🦊/).match("I saw 12 🦊")!
    assert.deepStrictEqual([found.index, found[1]], [6, "12"])
  })

  it.each(["g", "y", "gy"])(
    "starts at the beginning of each text if the regular expression has the flags %s",
    (flags) => {
      const pattern = Pattern.make(new RegExp("a", flags))
      for (let time = 0; time < 3; time++) assert.isTrue(isMatch(pattern, "a"))
    }
  )

  it("decodes the named groups, and does not match a text whose groups cannot be decoded", () => {
    const groups = { hour: Command.Integer, minute: Schema.optionalKey(Command.Integer) }
    const pattern = Pattern.make(/^at (?<hour>\S+?)(:(?<minute>\d+))?$/, { groups })
    assert.deepStrictEqual(pattern.match("at 7:30"), { hour: 7, minute: 30 })
    assert.deepStrictEqual(pattern.match("at 7"), { hour: 7 })
    assert.isFalse(isMatch(pattern, "at noon"))
    assert.isFalse(isMatch(pattern, "seven"))
  })

  it.effect.prop("matches any string by itself", [Schema.String], ([text]) =>
    Effect.sync(() => assert.isTrue(isMatch(Pattern.make(text), text)))
  )
})

describe("Pattern.on", () => {
  it("takes new messages only, and no update without a text", () => {
    const handler = Pattern.make(/^.*$/s).on(() => Effect.void)
    assert.isDefined(handler(messageCreated("hello")))
    for (const text of ["", null]) assert.isUndefined(handler(messageCreated(text)))
    assert.isUndefined(handler({ update_type: "message_edited", timestamp: 1, message: message("hello") }))
    assert.isUndefined(handler({ ...callback(null), message: message("hello") }))
  })

  it("takes the types of updates that the options name", () => {
    const handler = Pattern.make(/hello/, { types: ["message_edited"] }).on(() => Effect.void)
    assert.isDefined(handler({ update_type: "message_edited", timestamp: 1, message: message("hello") }))
    assert.isUndefined(handler(messageCreated("hello")))
  })

  it.effect("passes the match to the handler", () =>
    Effect.gen(function* () {
      const value = yield* receivedValue((handler) => Pattern.make(/(\d+)/).on(handler), messageCreated("no. 17"))
      assert.deepStrictEqual((value as RegExpExecArray)[1], "17")
    })
  )

  it("does not take an update for which its handler returns undefined", () => {
    const odd = Pattern.make(/(\d+)/).on((_, [, number]) => (Number(number) % 2 === 1 ? Effect.void : undefined))
    assert.isDefined(odd(messageCreated("no. 17")))
    assert.isUndefined(odd(messageCreated("no. 18")))
  })
})
