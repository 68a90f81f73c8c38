import { memoize } from "effect/Function"
import * as Option from "effect/Option"
import { isObject } from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Getter from "effect/SchemaGetter"
import { restore, toBigInt } from "./json.ts"
import { Unparsed } from "./nesting.ts"

type Nullish = <S extends Schema.Top>(schema: S) => Schema.optionalKey<Schema.NullOr<S>>

/** A key of a response that can be missing or null. Most keys have one of few schemas. */
export const nullish = memoize((schema: Schema.Top) => Schema.optionalKey(Schema.NullOr(schema))) as Nullish

type Optional = <S extends Schema.Top>(schema: S) => Schema.optional<Schema.NullOr<S>>

/** A key of a request that can be missing or null. */
export const optional = memoize((schema: Schema.Top) => Schema.optional(Schema.NullOr(schema))) as Optional

/** A 64-bit integer, exact beyond 2^53 in both directions. */
export interface Int64 extends Schema.Codec<bigint, unknown> {}

export const Int64: Int64 = Schema.Unknown.pipe(
  Schema.decodeTo(Schema.BigInt, {
    decode: Getter.transform((value) => toBigInt(value) as bigint),
    encode: Getter.transform((value): unknown => value)
  })
)

const restoreRaw = (value: unknown): unknown => Result.merge(restore(value))

const Restored = Schema.Unknown.check(Schema.makeFilter((raw) => !(raw instanceof Unparsed) || raw.problem))

/** JSON of any shape, with exact integers. Decoding fails if a part of the JSON was not parsed. */
export const Raw: Schema.Codec<unknown, unknown> = Schema.Unknown.pipe(
  Schema.decodeTo(Restored, {
    decode: Getter.transform(restoreRaw),
    encode: Getter.transform((value): unknown => value)
  })
)

/** Unix time in milliseconds. */
export const Millis = Schema.Int

/** An enumeration that the platform may extend: one of the known values, or any other string. */
export const openEnum = <const L extends ReadonlyArray<string>>(
  ...known: L
): Schema.Codec<L[number] | (string & {}), string> =>
  Schema.Union([Schema.Literals(known), Schema.StringForLiteralAutocomplete])

/** A member of a union of an unknown kind. `raw` is its JSON. */
export type Unknown<Key extends string> = { readonly [K in Key]: "unknown" } & { readonly raw: unknown }

/** The value of a key of an object. */
export const memberOf = (key: string, value: unknown): unknown =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>)[key] : undefined

/** The elements of the array at a key of an object. */
export const elementsOf = (key: string, value: unknown): ReadonlyArray<unknown> => {
  const elements = memberOf(key, value)
  return Array.isArray(elements) ? elements : []
}

/** An element that cannot be decoded as its kind, and is decoded as an unknown element. */
export class MalformedElement {
  readonly raw: unknown
  constructor(raw: unknown) {
    this.raw = raw
  }
}

type Kinds = Readonly<Record<string, Schema.Top>>

/** Schemas by name. Each schema is created at its first use, because most bots need few schemas. */
export const lazily = <const Members extends Kinds>(members: {
  readonly [K in keyof Members]: () => Members[K]
}): Members => {
  const schemas = {}
  for (const [name, make] of Object.entries<() => Schema.Top>(members)) {
    const define = (property: PropertyDescriptor) =>
      Object.defineProperty(schemas, name, { ...property, configurable: true, enumerable: true })
    define({
      get: () => {
        const value = make()
        define({ value })
        return value
      }
    })
  }
  return schemas as Members
}

type Member<Key extends string, Members extends Kinds> = Members[keyof Members]["Type"] | Unknown<Key>

/** `isUnknownWithoutKind`: whether a value whose key is no text is unknown. */
const open = <const Key extends string, const Members extends Kinds>(
  key: Key,
  make: () => Members,
  isUnknownWithoutKind: (input: unknown) => boolean
) => {
  let made: Members | undefined
  const members = (): Members => (made ??= make())
  let kinds: ReadonlySet<string> | undefined
  const isKnownKind = (kind: string): boolean => (kinds ??= new Set(Object.keys(members()))).has(kind)
  const known = Schema.suspend(() => {
    const Unknown = Schema.Struct({ [key]: Schema.Literal("unknown"), raw: Restored })
    return Schema.Union([...Object.values(members()), Unknown]) as unknown as Schema.Codec<
      Member<Key, Members>,
      unknown
    >
  })
  const isUnknown = (input: unknown): boolean => {
    const kind = memberOf(key, input)
    return typeof kind === "string" ? !isKnownKind(kind) : isUnknownWithoutKind(input)
  }
  const decodeOne = (input: unknown): unknown =>
    isUnknown(input)
      ? { [key]: "unknown", raw: input instanceof MalformedElement ? input.raw : restoreRaw(input) }
      : input
  const encodeOne = (output: unknown): unknown =>
    memberOf(key, output) === "unknown" ? (output as Unknown<Key>).raw : output
  return { known, isUnknown, decodeOne, encodeOne }
}

/**
 * A union that `key` discriminates and the platform may extend. An unknown kind is decoded as `{ [key]: "unknown", raw }`
 * and encoded as `raw`. A known kind that is malformed fails. The members are created when the union is first used.
 */
export const openUnion = <const Key extends string, const Members extends Kinds>(
  key: Key,
  members: () => Members
): Schema.Codec<Member<Key, Members>, unknown> => {
  const { decodeOne, encodeOne, known } = open(key, members, () => false)
  return Schema.Unknown.pipe(
    Schema.decodeTo(known, { decode: Getter.transform(decodeOne), encode: Getter.transform(encodeOne) })
  )
}

/**
 * A list of an {@link openUnion}. An element without a kind is unknown too, so that it does not fail the message around
 * it. The list is decoded at once, which is faster than element by element.
 */
export const openList = <const Key extends string, const Members extends Kinds>(
  key: Key,
  members: () => Members
): Schema.Codec<ReadonlyArray<Member<Key, Members>>, unknown> => {
  const { decodeOne, encodeOne, isUnknown, known } = open(key, members, isObject)
  return Schema.Unknown.pipe(
    Schema.decodeTo(Schema.Array(known) as unknown as Schema.Codec<ReadonlyArray<Member<Key, Members>>, unknown>, {
      decode: Getter.transform((input) =>
        Array.isArray(input) && input.some(isUnknown) ? input.map(decodeOne) : input
      ),
      encode: Getter.transform((output) => (Array.isArray(output) ? output.map(encodeOne) : output))
    })
  )
}

/** A response with its value in one key: `{ [key]: value }`. */
export const envelope = <A, I>(key: string, value: Schema.Codec<A, I>): Schema.Codec<A, unknown> =>
  Schema.Struct({ [key]: value }).pipe(
    // The struct has decoded the value, so the value is not checked again.
    Schema.decodeTo(Schema.Any, {
      decode: Getter.transform((wrapped) => wrapped[key] as A),
      encode: Getter.transform((inner: A) => ({ [key]: inner }))
    })
  )

/** A response that may have a value in one key. */
export const optionalEnvelope = <A, I>(
  key: string,
  value: Schema.Codec<A, I>
): Schema.Codec<Option.Option<A>, unknown> =>
  Schema.Struct({ [key]: nullish(value) }).pipe(
    Schema.decodeTo(Schema.Any, {
      decode: Getter.transform((wrapped) => Option.fromNullishOr(wrapped[key] as A | null | undefined)),
      encode: Getter.transform((inner: Option.Option<A>) => (Option.isSome(inner) ? { [key]: inner.value } : {}))
    })
  )

/** The response `{ success: true }`. A response with `success: false` has been classified as an error before. */
export const done: Schema.Codec<void, unknown> = Schema.Struct({
  success: Schema.Literal(true),
  message: nullish(Schema.String)
}).pipe(
  Schema.decodeTo(Schema.Void, {
    decode: Getter.transform(() => undefined),
    encode: Getter.transform(() => ({ success: true as const }))
  })
)
