/** Generates texts: mutations of JSON samples, and texts made of fragments. A generated text is a plan, so that it shrinks. */
import { Json } from "@colloquy/core"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"

const natural = (maximum: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum }))

/** Replaced by nested lists after encoding, because a value this deep cannot be encoded. */
const deep = "@@deep@@"

const hostileValues: ReadonlyArray<unknown> = [
  null,
  true,
  0,
  -1,
  1.5,
  1e308,
  2 ** 53,
  -(2 ** 31),
  9_007_199_254_740_993n,
  -(2n ** 63n),
  2n ** 80n,
  "",
  " ",
  "0",
  "-1",
  "null",
  "\u0000",
  "\u0080116328127605864690",
  "\u0081deep:[",
  "\ud800",
  "\u202e",
  "%",
  "../..",
  "9007199254740993",
  "x".repeat(50_000),
  "🙂".repeat(5000),
  [],
  {},
  [[]],
  [null],
  ["\u0080116328127605864690"],
  ["\u0081deep:[]"],
  { toString: 1, constructor: null, length: -1 },
  { toJSON: 1, _tag: "Some", valueOf: null },
  deep,
  [1, deep]
]

const names = ["__proto__", "constructor", "toString", "length", "raw", "type", "_tag", "then", "toJSON", ""]

const Edit = Schema.Struct({
  kind: Schema.Literals(["replace", "generate", "insert", "remove", "rename", "repeat"]),
  at: natural(1_000_000),
  choice: natural(10_000),
  times: natural(300),
  json: Schema.Json
})

const Damage = Schema.Struct({
  kind: Schema.Literals(["none", "none", "none", "none", "none", "cut", "insert", "duplicate"]),
  at: natural(1_000_000),
  text: Schema.String
})

const Plan = Schema.Struct({
  sample: natural(1_000_000),
  edits: Schema.Array(Edit).check(Schema.isMaxLength(4)),
  depth: natural(20_000),
  damage: Damage
})

type Container = Record<string | number, unknown> | Array<unknown>

const isContainer = (value: unknown): value is Container => typeof value === "object" && value !== null

const members = (value: unknown): ReadonlyArray<readonly [parent: Container, key: string]> =>
  isContainer(value)
    ? Object.entries(value).flatMap(([key, member]) => [[value, key] as const, ...members(member)])
    : []

const define = (parent: Container, key: string, value: unknown) =>
  // The length of a list cannot be any value, and JSON has no other members of lists.
  Array.isArray(parent) && !/^\d+$/.test(key)
    ? parent.push(value)
    : Object.defineProperty(parent, key, { value, enumerable: true, configurable: true, writable: true })

const applyEdit = (
  root: Container,
  { at, choice, json, kind, times }: typeof Edit.Type,
  values: ReadonlyArray<unknown>
) => {
  const found = members(root)
  const [parent, key] = found[at % found.length]
  const value = parent[key as never]
  if (kind === "replace") define(parent, key, structuredClone(values[choice % values.length]))
  else if (kind === "generate") define(parent, key, json)
  else if (kind === "insert") define(isContainer(value) ? value : parent, names[choice % names.length], json)
  else if (Array.isArray(parent)) {
    parent.splice(Number(key), 1, ...(kind === "repeat" ? Array.from({ length: times }, () => value) : []))
  } else {
    Reflect.deleteProperty(parent, key)
    if (kind === "rename") define(parent, names[choice % names.length], value)
  }
}

const applyDamage = (text: string, { at, kind, text: inserted }: typeof Damage.Type): string => {
  const place = at % (text.length + 1)
  if (kind === "none") return text
  if (kind === "cut") return text.slice(0, place)
  return text.slice(0, place) + (kind === "insert" ? inserted : text) + text.slice(place)
}

/** Maximum length of an input, in characters. */
const maxLength = 2 ** 20

/** Mutations of JSON texts. `more` are values that can replace any part of a sample. */
export const mutations = (
  samples: ReadonlyArray<string>,
  more: ReadonlyArray<unknown> = []
): Arbitrary.Arbitrary<string> => {
  const values = [...hostileValues, ...more]
  return Arbitrary.map(Arbitrary.schema(Plan), ({ damage, depth, edits, sample }) => {
    const root = { value: Json.parse(samples[sample % samples.length]) }
    for (const edit of edits) if ("value" in root) applyEdit(root, edit, values)
    const text = Json.stringify(root.value) ?? "null"
    const lists = "[".repeat(depth) + "]".repeat(depth)
    // A repeated member can contain many of them.
    let left = maxLength
    const nextLists = () => ((left -= lists.length) > 0 ? lists : "[]")
    return applyDamage(text.replaceAll(`"${deep}"`, nextLists), damage).slice(0, maxLength)
  })
}

/** Texts made of fragments that are repeated, and of generated strings. */
export const fragments = (pieces: ReadonlyArray<string>): Arbitrary.Arbitrary<string> => {
  const Piece = Schema.Struct({
    choice: natural(10_000),
    times: Schema.Union([Schema.Literal(1), natural(20), natural(20_000)]),
    text: Schema.String
  })
  return Arbitrary.map(Arbitrary.schema(Schema.Array(Piece).check(Schema.isMaxLength(60))), (plan) =>
    plan
      .map(({ choice, text, times }) => (pieces[choice % pieces.length] + (times % 2 === 0 ? text : "")).repeat(times))
      .join("")
      .slice(0, maxLength)
  )
}
