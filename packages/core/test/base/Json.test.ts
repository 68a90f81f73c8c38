import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Arbitrary from "effect/Arbitrary"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Json from "../../src/base/Json.ts"
import * as Platform from "../../src/base/Platform.ts"
import { makeRandom } from "../support/mutations.ts"

const long = 116328127605864690n

describe("Json.parse", () => {
  it("keeps all digits of an integer beyond 2^53", () => {
    assert.deepStrictEqual(Json.parse('{"seq":116328127605864690}'), { seq: long })
    assert.deepStrictEqual(Json.parse('{"a":9007199254740993,"b":1}'), { a: 9007199254740993n, b: 1 })
    assert.deepStrictEqual(Json.parse('{"a":123456789012345678901234567890}'), { a: 123456789012345678901234567890n })
  })

  it("keeps them in arrays, in nested objects and at the top", () => {
    assert.deepStrictEqual(Json.parse("[116328127605864690,1,[116328127605864691]]"), [long, 1, [long + 1n]])
    assert.deepStrictEqual(Json.parse('{"a":{"b":[{"seq":116328127605864690}]}}'), { a: { b: [{ seq: long }] } })
    assert.strictEqual(Json.parse("116328127605864690"), long)
    assert.strictEqual(Json.parse("  -116328127605864690 "), -long)
  })

  it("keeps them at every offset of the text", () => {
    for (let padding = 0; padding < 40; padding++) {
      const pad = "p".repeat(padding)
      assert.deepStrictEqual(Json.parse(`{"${pad}x":116328127605864690,"z":[${long}]}`), {
        [`${pad}x`]: long,
        z: [long]
      })
    }
  })

  it("keeps them in negative numbers, and with white space around the colon", () => {
    assert.deepStrictEqual(Json.parse('{"a":-116328127605864690}'), { a: -long })
    for (const space of [" ", "\n", "\t", "\r\n  "]) {
      assert.deepStrictEqual(Json.parse(`{"a"${space}:116328127605864690}`), { a: long })
      assert.deepStrictEqual(Json.parse(`{"a":${space}-116328127605864690${space}}`), { a: -long })
      assert.deepStrictEqual(Json.parse(`{${space}"a"${space}:${space}116328127605864690${space}}`), { a: long })
      assert.deepStrictEqual(Json.parse(`[1,${space}116328127605864690]`), [1, long])
    }
  })

  it("does not change digits inside strings", () => {
    const texts = [
      "116328127605864690",
      "-116328127605864690",
      ":116328127605864690",
      " : 116328127605864690",
      ",116328127605864690",
      "[116328127605864690",
      '":116328127605864690',
      '"a":116328127605864690,"b":1',
      '\\":116328127605864690',
      "\\",
      "x\\:116328127605864690",
      "a 116328127605864690 b",
      "{\n:116328127605864690"
    ]
    for (const text of texts) {
      const value = { text, [text]: text, list: [text, { text }], seq: long }
      assert.deepStrictEqual(Json.parse(Json.stringify(value)), value)
    }
  })

  it("keeps an integer after any name of a member", () => {
    for (const name of ["a", "", "\\", '"', ":", '":', "é", "1", "116328127605864690", ",", "[", " ", "\u0080", "_"]) {
      assert.deepStrictEqual(Json.parse(Json.stringify({ [name]: long, z: 1 })), { [name]: long, z: 1 })
    }
  })

  it("returns a number for decimals and exponents", () => {
    assert.deepStrictEqual(Json.parse('{"a":1234567890123456.5,"b":[0.12345678901234567]}'), {
      a: 1234567890123456.5,
      b: [0.12345678901234567]
    })
    assert.deepStrictEqual(Json.parse('{"a":11632812760586469000e3,"b":-11632812760586469012E-2,"c":1e5}'), {
      a: 11632812760586469000e3,
      b: -11632812760586469012e-2,
      c: 1e5
    })
  })

  it("returns a number for integers below 2^53", () => {
    assert.deepStrictEqual(Json.parse('{"a":9007199254740991,"b":-9007199254740991,"c":1234567890123456,"d":[17]}'), {
      a: 9007199254740991,
      b: -9007199254740991,
      c: 1234567890123456,
      d: [17]
    })
  })

  it("returns a bigint for 2^53, because a double cannot distinguish it from its neighbour", () => {
    assert.deepStrictEqual(Json.parse('{"a":9007199254740992,"b":[-9007199254740992]}'), {
      a: 2n ** 53n,
      b: [-(2n ** 53n)]
    })
  })

  it("throws the error of JSON.parse", () => {
    for (const text of ["", "{", '{"a":116328127605864690', '{"a":0116328127605864690}', "<html>", '{"a":--1}']) {
      assert.throws(() => Json.parse(text), SyntaxError)
    }
  })

  it("keeps a member with the name __proto__", () => {
    const parsed = Json.parse('{"__proto__":{"seq":116328127605864690}}')
    assert.deepStrictEqual(Object.entries(parsed as object), [["__proto__", { seq: long }]])
  })
})

describe("Json.parse: hostile texts", () => {
  // Quadratic time would exceed the time-out of the test.
  it.each(["0", "1", "-0", "[0", '"', ":1", ",0"])("made of %s is read in one pass", (unit) => {
    const text = unit.repeat(2_000_000 / unit.length)
    assert.strictEqual(Json.parse(JSON.stringify({ text }))?.["text" as never], text)
  })
})

describe("Json.stringify", () => {
  it("writes a bigint as an integer, at any position", () => {
    assert.strictEqual(Json.stringify({ seq: long, list: [-long, 1n] }), `{"seq":${long},"list":[-${long},1]}`)
    assert.strictEqual(Json.stringify(long), String(long))
  })
})

const hostile = [
  ":116328127605864690",
  '"',
  "\\",
  '":',
  ",",
  "[",
  "{",
  "]",
  "}",
  " ",
  "\n",
  "-",
  "1",
  "12345678901234567"
]

const hostileString = Arbitrary.map(
  Arbitrary.array(Arbitrary.schema(Schema.Literals(hostile)), { maxLength: 6 }),
  (pieces) => pieces.join("")
)

const leaf = Arbitrary.map(
  Arbitrary.all({
    kind: Arbitrary.schema(Schema.Literals(["bigint", "hostile", "string", "int", "finite", "boolean", "null"])),
    big: Arbitrary.schema(Schema.BigInt),
    hostile: hostileString,
    string: Arbitrary.schema(Schema.String),
    int: Arbitrary.schema(Schema.Int),
    finite: Arbitrary.schema(Schema.Finite),
    boolean: Arbitrary.schema(Schema.Boolean)
  }),
  ({ kind, big, ...rest }): unknown => {
    switch (kind) {
      case "bigint":
        return big < 0n ? big - 2n ** 53n : big + 2n ** 53n
      case "null":
        return null
      case "finite":
        // An integer beyond 2^53 is parsed as a bigint, and -0 as 0.
        return Number.isInteger(rest.finite) ? Math.trunc(rest.finite / 2 ** 1000) + 0.5 : rest.finite
      case "int":
        return rest.int + 0
      default:
        return rest[kind]
    }
  }
)

const unescaped = (name: string): string => (JSON.stringify(name) === `"${name}"` ? name : "")

const tree = Arbitrary.map(
  Arbitrary.all({
    leaves: Arbitrary.array(leaf, { maxLength: 6 }),
    names: Arbitrary.array(hostileString, { maxLength: 6 }),
    nested: Arbitrary.array(leaf, { maxLength: 4 })
  }),
  ({ leaves, names, nested }) => ({
    leaves,
    // V8 of Node 24 confuses names that contain an escaped character, so these names contain none.
    members: Object.fromEntries(leaves.map((value, index) => [`k${index}${unescaped(names[index] ?? "")}`, value])),
    nested: [{ nested, deeper: [[nested]] }]
  })
)

describe("Json.parse after Json.stringify", () => {
  it.effect.prop(
    "returns the same value for any bigints and strings",
    { value: tree },
    ({ value }) => Effect.sync(() => assert.deepStrictEqual(Json.parse(Json.stringify(value)), value)),
    { arbitrary: { runs: 1000 } }
  )

  it.effect.prop(
    "returns the same value for JSON with white space",
    { value: tree },
    ({ value }) =>
      Effect.sync(() => {
        const raw = JSON as unknown as { readonly rawJSON: (text: string) => unknown }
        const pretty = JSON.stringify(
          value,
          (_, inner: unknown) => (typeof inner === "bigint" ? raw.rawJSON(String(inner)) : inner),
          2
        )
        assert.deepStrictEqual(Json.parse(pretty), value)
      }),
    { arbitrary: { runs: 300 } }
  )
})

const reviveLong = (_key: string, value: unknown, { source }: { readonly source?: string }): unknown =>
  typeof value === "number" && !Number.isSafeInteger(value) && /^-?\d+$/.test(source ?? "") ? BigInt(source!) : value

const parseByReviver = (text: string): unknown =>
  (JSON.parse as (text: string, reviver: typeof reviveLong) => unknown)(text, reviveLong)

const outcome = (parse: (text: string) => unknown, text: string): unknown =>
  Result.match(
    Result.try(() => parse(text)),
    { onSuccess: (value) => ({ value }), onFailure: (error) => ({ error: (error as Error).name }) }
  )

/** A JSON text, or nearly one: numbers of every length and form, and strings with parts of JSON. */
const randomText = (random: (below: number) => number): string => {
  const pick = (pieces: ReadonlyArray<string>): string => pieces[random(pieces.length)]
  const digits = (length: number): string => Array.from({ length }, () => random(10)).join("")
  const number = (): string =>
    pick([
      `${random(50)}`,
      digits(13 + random(6)),
      `-${random(9) + 1}${digits(14 + random(5))}`,
      `${digits(16)}.${digits(3)}`,
      `${random(9) + 1}${digits(16)}${pick(["e", "E+", "e-"])}${random(400)}`,
      "-0",
      "1e400",
      "9007199254740991",
      "9007199254740992",
      Array.from({ length: 20 }, () => digits(1 + random(4))).join(",")
    ])
  const space = (): string => pick(["", "", "", " ", "\n\t"])
  const value = (depth: number): string => {
    const members = Array.from({ length: random(4) })
    switch (random(depth === 0 ? 4 : 8)) {
      case 0:
        return JSON.stringify(Array.from({ length: random(5) }, () => pick([...hostile, number()])).join(""))
      case 1:
        return pick(["null", "true", "", "nul"])
      case 2:
      case 3:
        return number()
      case 4:
      case 5:
        return `[${members.map(() => space() + value(depth - 1) + space()).join(",")}]`
      default:
        return `{${members.map(() => `${space()}"${pick(["a", "b", "seq", "__proto__", "1", "é", ""])}"${space()}:${space()}${value(depth - 1)}`).join(",")}}`
    }
  }
  const text = value(4)
  return random(20) === 0 ? text.slice(0, random(text.length)) : text
}

describe("Json.parse of random texts", () => {
  it("returns the result of a reviver, with the same keys in the same order, or throws the same SyntaxError", () => {
    const random = makeRandom(1)
    let valid = 0
    for (let count = 0; count < 20_000; count++) {
      const text = randomText(random)
      const expected = outcome(parseByReviver, text)
      const actual = outcome(Json.parse, text)
      assert.deepStrictEqual(actual, expected, text)
      if ("value" in (expected as object)) {
        valid++
        assert.strictEqual(Json.stringify(actual), Json.stringify(expected), text)
      }
    }
    assert.isAbove(valid, 5000)
  })
})

describe("Json.parse: strings that look like marked integers", () => {
  it("are returned as strings", () => {
    for (const first of ["\u0000", "\u0001", "\u001f", "\u007f", "\u0080", "\ufeff", "\ud800"]) {
      const value = { text: `${first}116328127605864690`, short: `${first}1`, seq: long }
      assert.deepStrictEqual(Json.parse(Json.stringify(value)), value, JSON.stringify(first))
    }
  })
})

describe("Json.parse: nesting", () => {
  const nested = (levels: number, inside = "1") => `${"[".repeat(levels)}${inside}${"]".repeat(levels)}`

  it.each(["1", "116328127605864690", '"\u0080116328127605864690"', '"]\\"["'])(
    "accepts the maximum depth around %s",
    (inside) => {
      const text = nested(Platform.maxJsonDepth - 1, inside)
      assert.strictEqual(Json.stringify(Json.parse(text)), text)
    }
  )

  it.each([
    ...[Platform.maxJsonDepth + 1, 6000, 100_000].map((levels) => nested(levels)),
    nested(6000, "116328127605864690"),
    nested(6000, '"\u0080116328127605864690",116328127605864690'),
    `{"a":${`{"a":[${nested(300)}],"b":`.repeat(300)}1${"}".repeat(301)}`
  ])("throws a SyntaxError beyond the maximum depth (%#)", (text) => {
    assert.throws(() => Json.parse(text), SyntaxError, "The JSON is nested deeper than 256 levels.")
  })
})
