import { assert, describe, it } from "@effect/vitest"
import { placeOf } from "../src/internal/command/jsonPlace.ts"

describe("the place where JSON goes wrong", () => {
  it.each([
    ["{", "line 1, column 2"],
    ["abc", "line 1, column 1"],
    ['{"a":x}', "line 1, column 6"],
    ['{\n "a": 1,\n}', "line 3, column 1"],
    ['{"a":"\u0001"}', "line 1, column 7"],
    ["[1,2", "line 1, column 5"],
    ['{"a":1} x', "line 1, column 9"],
    ['{\n"long": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",\n "b": tru }', "line 3, column 10"],
    ['{"a":"abc', "line 1, column 10"],
    ["01", "line 1, column 2"],
    ['"\\x"', "line 1, column 3"],
    ['[-, "é"]', "line 1, column 3"],
    ['["\\u12g4"]', "line 1, column 7"]
  ])("%s", (text, place) => {
    assert.strictEqual(placeOf(text), place)
  })
})
