import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { Command, Pattern } from "../src/index.ts"

const matches = (pattern: Pattern.Pattern<unknown, "message_created">, text: string) =>
  Option.isSome(pattern.match(text))

describe("a pattern", () => {
  it("that is a text matches that text alone, blanks around it aside", () => {
    const pattern = Pattern.make("Good morning?")
    assert.deepStrictEqual(pattern.match(" Good morning?\n"), Option.some("Good morning?"))
    for (const text of ["good morning?", "Good morning", "Good morning? Yes", ""]) {
      assert.isFalse(matches(pattern, text))
    }
  })

  it("that is a regular expression gives its match", () => {
    const found = Option.getOrThrow(Pattern.make(/(\d+) 🦊/).match("I saw 12 🦊"))
    assert.deepStrictEqual([found.index, found[1]], [6, "12"])
  })

  it.each(["g", "y", "gy"])("that is a regular expression with %s forgets the text before", (flags) => {
    const pattern = Pattern.make(new RegExp("a", flags))
    for (let time = 0; time < 3; time++) assert.isTrue(matches(pattern, "a"))
  })

  it("reads its groups by their schemas, and matches no text that they refuse", () => {
    const groups = { hour: Command.Integer, minute: Schema.optionalKey(Command.Integer) }
    const pattern = Pattern.make(/^at (?<hour>\S+?)(:(?<minute>\d+))?$/, { groups })
    assert.deepStrictEqual(pattern.match("at 7:30"), Option.some({ hour: 7, minute: 30 }))
    assert.deepStrictEqual(pattern.match("at 7"), Option.some({ hour: 7 }))
    assert.isFalse(matches(pattern, "at noon"))
    assert.isFalse(matches(pattern, "seven"))
  })

  it.effect.prop("that is a text matches itself", [Schema.String], ([text]) =>
    Effect.sync(() => assert.isTrue(matches(Pattern.make(text), text)))
  )
})
