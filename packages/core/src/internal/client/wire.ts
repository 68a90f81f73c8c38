import * as Schema from "effect/Schema"
import * as Getter from "effect/SchemaGetter"
import { thaw, toBigInt } from "./json.ts"

/** A key of a response that may be absent and may be null. */
export const nullish = <S extends Schema.Top>(schema: S): Schema.optionalKey<Schema.NullOr<S>> =>
  Schema.optionalKey(Schema.NullOr(schema))

/** A key of a request that may be left out and may be null. */
export const optional = <S extends Schema.Top>(schema: S): Schema.optional<Schema.NullOr<S>> =>
  Schema.optional(Schema.NullOr(schema))

/** A 64-bit integer of the wire, exact beyond 2^53 in both directions. */
export interface Int64 extends Schema.Codec<bigint, unknown> {}

export const Int64: Int64 = Schema.Unknown.pipe(
  Schema.decodeTo(Schema.BigInt, {
    decode: Getter.transform((value) => toBigInt(value) as bigint),
    encode: Getter.transform((value): unknown => value)
  })
)

/** JSON of a shape that nobody told, exact in every integer. */
export const Raw: Schema.Codec<unknown, unknown> = Schema.Unknown.pipe(
  Schema.decodeTo(Schema.Unknown, {
    decode: Getter.transform(thaw),
    encode: Getter.transform((value): unknown => value)
  })
)

/** Unix time in milliseconds. */
export const Millis = Schema.Int

/** An enumeration that the platform may extend: the known values, or any other string as it came. */
export const openEnum = <const L extends ReadonlyArray<string>>(
  ...known: L
): Schema.Codec<L[number] | (string & {}), string> =>
  Schema.Union([Schema.Literals(known), Schema.StringForLiteralAutocomplete])

/** A member of a union whose kind this version does not know. `raw` is the JSON as it came. */
export type Unknown<Key extends string> = { readonly [K in Key]: "unknown" } & { readonly raw: unknown }

/** What a value says its kind is. */
export const kindOf = (key: string, value: unknown): unknown =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>)[key] : undefined

type Kinds = Readonly<Record<string, Schema.Top>>

type Member<Key extends string, Members extends Kinds> = Members[keyof Members]["Type"] | Unknown<Key>

const isObject = (input: unknown): boolean => typeof input === "object" && input !== null && !Array.isArray(input)

const open = <const Key extends string, const Members extends Kinds>(key: Key, members: Members) => {
  const Unknown = Schema.Struct({ [key]: Schema.Literal("unknown"), raw: Schema.Unknown })
  const known = Schema.Union([...Object.values(members), Unknown]) as unknown as Schema.Codec<
    Member<Key, Members>,
    unknown
  >
  const wrap = (input: unknown): unknown => ({ [key]: "unknown", raw: thaw(input) })
  const leave = (output: unknown): unknown =>
    kindOf(key, output) === "unknown" ? (output as Unknown<Key>).raw : output
  return { known, wrap, leave }
}

/**
 * A union told apart by `key` that never fails on a kind it does not know: that arrives as `{ [key]: "unknown", raw }`
 * and is sent as it came. A known kind that is malformed fails.
 */
export const openUnion = <const Key extends string, const Members extends Kinds>(
  key: Key,
  members: Members
): Schema.Codec<Member<Key, Members>, unknown> => {
  const { known, wrap, leave } = open(key, members)
  const isForeign = (input: unknown): boolean => {
    const kind = kindOf(key, input)
    return typeof kind === "string" && !Object.hasOwn(members, kind)
  }
  return Schema.Unknown.pipe(
    Schema.decodeTo(known, {
      decode: Getter.transform((input) => (isForeign(input) ? wrap(input) : input)),
      encode: Getter.transform(leave)
    })
  )
}

/**
 * A list of an {@link openUnion}, in which an element that says no kind at all is unknown too: it must not cost the
 * message around it. The list is looked through at once, which costs less than one by one.
 */
export const openList = <const Key extends string, const Members extends Kinds>(
  key: Key,
  members: Members
): Schema.Codec<ReadonlyArray<Member<Key, Members>>, unknown> => {
  const { known, wrap, leave } = open(key, members)
  const isUnreadable = (input: unknown): boolean => {
    const kind = kindOf(key, input)
    return typeof kind === "string" ? !Object.hasOwn(members, kind) : isObject(input)
  }
  const arrive = (input: unknown): unknown => (isUnreadable(input) ? wrap(input) : input)
  return Schema.Unknown.pipe(
    Schema.decodeTo(Schema.Array(known) as unknown as Schema.Codec<ReadonlyArray<Member<Key, Members>>, unknown>, {
      decode: Getter.transform((input) =>
        Array.isArray(input) && input.some(isUnreadable) ? input.map(arrive) : input
      ),
      encode: Getter.transform((output) => (Array.isArray(output) ? output.map(leave) : output))
    })
  )
}
