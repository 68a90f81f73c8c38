import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import * as Getter from "effect/SchemaGetter"
import * as CompiledSchema from "../../src/base/CompiledSchema.ts"
import * as Endpoints from "../../src/endpoints/Endpoints.ts"
import { ChatStore, Json, Message, Update } from "../../src/index.ts"
import { parseMarked } from "../../src/base/internal/json.ts"
import { compile } from "../../src/base/internal/codec/compile.ts"
import { mismatch } from "../../src/base/internal/codec/parse.ts"
import { makeRandom, mutate } from "../support/mutations.ts"

type Any = Schema.Codec<unknown, unknown>
type Run = (value: unknown, options?: SchemaAST.ParseOptions) => Result.Result<unknown, Schema.SchemaError>

interface Tree {
  readonly name: string
  readonly left: Tree | null
}

const Tree: Schema.Codec<Tree> = Schema.Struct({
  name: Schema.String,
  left: Schema.NullOr(Schema.suspend((): Schema.Codec<Tree> => Tree))
})

class Point extends Schema.Class<Point>("Point")({ x: Schema.Finite, y: Schema.optionalKey(Schema.Finite) }) {}

const Short = Schema.String.check(Schema.isMaxLength(3), Schema.isPattern(/^[a-z]*$/))

/** Kinds of schemas that the endpoints do not have, or have in few places. */
const kinds: Readonly<Record<string, Any>> = {
  any: Schema.Any,
  void: Schema.Void,
  never: Schema.Never,
  bigint: Schema.BigInt,
  number: Schema.Number,
  literal: Schema.Literal(5),
  literals: Schema.Literals(["a", 1, true]),
  enum: Schema.Enum({ A: "a", B: 1 }),
  template: Schema.TemplateLiteral(["a", Schema.Int]),
  symbol: Schema.Symbol,
  object: Schema.ObjectKeyword,
  empty: Schema.Struct({}),
  tuple: Schema.Tuple([Schema.String, Schema.optionalKey(Schema.Int)]),
  rest: Schema.TupleWithRest(Schema.Tuple([Schema.String]), [Schema.Int]),
  list: Schema.NonEmptyArray(Schema.NullOr(Schema.BigIntFromString)),
  record: Schema.Record(Schema.String, Schema.FiniteFromString),
  narrowRecord: Schema.Record(Schema.TemplateLiteral(["a", Schema.String]), Schema.Int),
  structWithRest: Schema.StructWithRest(Schema.Struct({ a: Schema.Int }), [
    Schema.Record(Schema.String, Schema.Number)
  ]),
  symbolKey: Schema.Struct({ [Symbol.iterator]: Schema.optionalKey(Schema.String), a: Schema.Int }),
  protoKey: Schema.Struct({ ["__proto__"]: Schema.optionalKey(Schema.Int), a: Schema.Int }),
  optional: Schema.Struct({ a: Schema.optional(Schema.NullOr(Schema.String)), b: Schema.optionalKey(Schema.Int) }),
  inheritedNames: Schema.Struct({ constructor: Schema.optionalKey(Schema.String), toString: Schema.Unknown }),
  defaults: Schema.Struct({
    a: Schema.Int.pipe(Schema.withDecodingDefaultKey(Effect.succeed(1))),
    b: Schema.String.pipe(Schema.withDecodingDefault(Effect.succeed("b")))
  }),
  optionalWithDefault: Schema.Struct({
    a: Schema.optionalKey(Schema.String).pipe(
      Schema.decodeTo(Schema.optionalKey(Schema.String), {
        decode: Getter.transformOptional((a: Option.Option<string>) => Option.orElseSome(a, () => "none")),
        encode: Getter.transformOptional((a: Option.Option<string>) => Option.filter(a, (a) => a !== "none"))
      })
    )
  }),
  declared: Schema.declare((value): value is Date => value instanceof Date),
  option: Schema.Struct({ a: Schema.OptionFromNullOr(Schema.BigIntFromString) }),
  checks: Schema.Struct({ a: Short, b: Schema.Int.check(Schema.isInt32()) }).check(
    Schema.makeFilter(({ a, b }) => a.length !== b || "a must not have b characters")
  ),
  checkedTransformation: Schema.FiniteFromString.check(Schema.isGreaterThan(2)),
  chain: Schema.Trim.pipe(Schema.decodeTo(Schema.FiniteFromString)),
  transformationWithEffect: Schema.String.pipe(
    Schema.decodeTo(Schema.Int, {
      decode: Getter.transformEffect((text: string) => Effect.succeed(text.length)),
      encode: Getter.transform(String)
    })
  ),
  union: Schema.Union([Schema.BigIntFromString, Schema.String, Schema.Array(Schema.Int)]),
  nullFirst: Schema.Union([Schema.Null, Schema.Undefined, Schema.String, Schema.Boolean]),
  overlapping: Schema.Union([Schema.Struct({ a: Schema.Int }), Schema.Struct({ a: Schema.Int, b: Schema.Int })]),
  oneOf: Schema.Union([Schema.Struct({ a: Schema.Int }), Schema.Struct({ b: Schema.Int })], { mode: "oneOf" }),
  discriminated: Schema.Union([
    Schema.Struct({ type: Schema.tag("image"), at: Schema.BigIntFromString }),
    Schema.Struct({ type: Schema.tag("unknown"), raw: Schema.optionalKey(Schema.Unknown) })
  ]),
  twoDiscriminators: Schema.Union([
    Schema.Struct({ type: Schema.Literal("a"), kind: Schema.Literal(1) }),
    Schema.Struct({ type: Schema.Literal("a"), kind: Schema.Literal(2) }),
    Schema.Struct({ type: Schema.Literal("b"), kind: Schema.optionalKey(Schema.Literal(1)) })
  ]),
  branded: Schema.Struct({ id: Schema.Int.pipe(Schema.brand("Id")) }),
  recursive: Tree,
  class: Schema.Struct({ at: Point }),
  json: Schema.fromJsonString(Schema.Struct({ a: Schema.Int })),
  date: Schema.DateFromString,
  duration: Schema.DurationFromMillis
}

const endpoints = Object.fromEntries(
  Endpoints.all.flatMap(({ declaration, endpoint }) => [
    [`the success of ${endpoint}`, declaration.success],
    [
      `the request of ${endpoint}`,
      Schema.Struct({ ...declaration.params, ...declaration.query, ...declaration.body }) as unknown as Any
    ]
  ])
)

const updates = Object.fromEntries(Object.entries(Update.cases).map(([type, schema]) => [`the update ${type}`, schema]))

const ours: Readonly<Record<string, Any>> = {
  ...endpoints,
  ...updates,
  "any update": Update.Update,
  "a known chat": ChatStore.KnownChat
}

/** A result, or the defect that a parser throws, in a form that can be compared. */
const outcome = (run: Run, value: unknown, options?: SchemaAST.ParseOptions): unknown => {
  const result = Result.try(() => run(value, options))
  if (Result.isFailure(result)) return { defect: String(result.failure) }
  return Result.match(result.success, {
    onSuccess: (success) => ({ success }),
    onFailure: ({ issue, message }) => ({ message, tag: issue._tag })
  })
}

const excess = { onExcessProperty: "error" } as const

const parsers = (schema: Any): ReadonlyArray<readonly [compiled: Run, effect: Run]> => [
  [CompiledSchema.decodeJsonResult(schema), Schema.decodeUnknownResult(schema)],
  [CompiledSchema.encodeUnknownResult(schema), Schema.encodeUnknownResult(schema)],
  [CompiledSchema.encodeUnknownResult(schema, excess), Schema.encodeUnknownResult(schema, excess)]
]

const assertAgreement = (name: string, schema: Any, values: ReadonlyArray<unknown>): void => {
  for (const [compiled, effect] of parsers(schema)) {
    for (const value of values) {
      for (const options of [undefined, { errors: "all" } as const]) {
        assert.deepStrictEqual(outcome(compiled, value, options), outcome(effect, value, options), name)
      }
    }
  }
}

/** Generated values of a schema, as values and as JSON, and mutations of both. */
const samplesOf = Effect.fnUntraced(function* (schema: Any, count: number) {
  // Some schemas have no arbitrary, and some are too narrow to find values.
  const arbitrary = Result.try(() => Arbitrary.schema(schema))
  const values = Result.isSuccess(arbitrary)
    ? yield* Effect.orElseSucceed(Arbitrary.sampleEffect(arbitrary.success, { seed: "codec", count }), () => [])
    : []
  const json = values.flatMap((value) => {
    const encoded = Schema.encodeUnknownResult(schema)(value)
    if (Result.isFailure(encoded)) return []
    const text = Json.stringify(encoded.success)
    return text === undefined ? [] : [parseMarked(text)]
  })
  return { values, json }
})

const mutationsOf = (values: ReadonlyArray<unknown>, times: number): ReadonlyArray<unknown> =>
  values.flatMap((value, index) => {
    const random = makeRandom(index * 7919 + 1)
    return Array.from({ length: times }, () => {
      const mutated = mutate(value, random)
      return random(3) === 0 ? mutate(mutated, random) : mutated
    })
  })

describe("CompiledSchema", () => {
  for (const [name, schema] of Object.entries(kinds)) {
    it.effect(`agrees with Effect on valid and mutated values of the kind ${name}`, () =>
      Effect.gen(function* () {
        const { json, values } = yield* samplesOf(schema, 20)
        const seeds = [{ a: 1 }, { a: "a", b: 5 }, ["a", 1], "5", ...json, ...values]
        assertAgreement(name, schema, [...seeds, ...mutationsOf(seeds, 10)])
      })
    )
  }

  for (const [name, schema] of Object.entries(ours)) {
    it.effect(`agrees with Effect on valid and mutated values of ${name}`, () =>
      Effect.gen(function* () {
        const { json, values } = yield* samplesOf(schema, 6)
        assertAgreement(name, schema, [
          { updates: [{}] },
          ...json,
          ...values,
          ...mutationsOf(json, 8),
          ...mutationsOf(values, 3)
        ])
      })
    )
  }

  it.effect("accepts the valid values of endpoints and updates, so that Effect's parser does not read them again", () =>
    Effect.gen(function* () {
      let seen = 0
      for (const [name, schema] of Object.entries(ours)) {
        const { json, values } = yield* samplesOf(schema, 6)
        const decode = compile(schema.ast, { isJson: true, refusesUnknownKeys: false })
        const encode = compile(SchemaAST.flip(schema.ast), { isJson: false, refusesUnknownKeys: true })
        const isDecoded = Schema.decodeUnknownResult(schema)
        const isEncoded = Schema.encodeUnknownResult(schema, excess)
        const readable = json.filter((value) => Result.isSuccess(isDecoded(value)))
        // Only Effect handles a key `__proto__`.
        for (const value of readable.filter((value) => !JSON.stringify(value).includes('"__proto__":'))) {
          assert.notStrictEqual(decode(value), mismatch, name)
          seen++
        }
        const writable = values.filter((value) => Result.isSuccess(isEncoded(value)))
        for (const value of writable.filter((value) => !Json.stringify(value)?.includes('"__proto__":'))) {
          assert.notStrictEqual(encode(value), mismatch, name)
          seen++
        }
      }
      assert.isAbove(seen, 700)
    })
  )

  it("does not change its input, and copies only the objects and lists in which something changes", () => {
    const text = `{"recipient":{"chat_id":1,"chat_type":"dialog"},"timestamp":1,"body":{"mid":"m","seq":116328127605864690,"markup":[{"type":"strong","from":0,"length":1}]}}`
    const json = parseMarked(text) as Message.Message
    const { body, recipient } = Result.getOrThrow(CompiledSchema.decodeJsonResult(Message.Message)(json))
    assert.strictEqual(recipient, json.recipient)
    assert.strictEqual(body?.seq, 116328127605864690n)
    assert.strictEqual(body?.markup, json.body?.markup)
    assert.deepStrictEqual(json, parseMarked(text))
  })

  it("returns an object that it does not change, however deep its values are", () => {
    const List = Schema.Struct({ a: Schema.Struct({ b: Schema.Array(Schema.Struct({ c: Schema.Int })) }) })
    const decode = CompiledSchema.decodeJsonResult(List)
    const json = { a: { b: [{ c: 1 }, { c: 2 }] } }
    assert.strictEqual(Result.getOrThrow(decode(json)), json)
    const withMore = { a: { b: [{ c: 1 }, { c: 2, more: 3 }] } }
    const decoded = Result.getOrThrow(decode(withMore))
    assert.deepStrictEqual(decoded, json)
    assert.strictEqual(decoded.a.b[0], withMore.a.b[0])
    assert.deepStrictEqual(withMore, { a: { b: [{ c: 1 }, { c: 2, more: 3 }] } })
  })

  it("keeps the order of the keys of an object that it copies", () => {
    const decode = CompiledSchema.decodeJsonResult(
      Schema.Struct({ a: Schema.Int, b: Schema.BigIntFromString, c: Schema.Int, d: Schema.Int })
    )
    const decoded = Result.getOrThrow(decode({ d: 1, x: 0, b: "2", ["__proto__"]: 5, c: 3, a: 4 }))
    assert.deepStrictEqual(Object.entries(decoded), [
      ["d", 1],
      ["b", 2n],
      ["c", 3],
      ["a", 4]
    ])
  })

  it("returns a failure of Effect, not a defect, for a value that a check cannot read", () => {
    const decode = CompiledSchema.decodeJsonResult(
      Schema.Unknown.check(Schema.makeFilter((value) => (value as { readonly a: string }).a.length > 0))
    )
    assert.throws(() => decode({}), /Result adapter/)
    assert.isTrue(Result.isSuccess(decode({ a: "a" })))
  })
})
