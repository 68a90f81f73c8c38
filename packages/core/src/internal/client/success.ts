import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Getter from "effect/SchemaGetter"
import { nullish } from "./wire.ts"

// What an envelope holds is looked at with it: the value that is taken out is not looked at again.

/** An answer that wraps its value in one key: `{ [key]: value }`. */
export const envelope = <A, I>(key: string, value: Schema.Codec<A, I>): Schema.Codec<A, unknown> =>
  Schema.Struct({ [key]: value }).pipe(
    Schema.decodeTo(Schema.Any, {
      decode: Getter.transform((wrapped) => wrapped[key] as A),
      encode: Getter.transform((inner: A) => ({ [key]: inner }))
    })
  )

/** An answer that may hold a value in one key. */
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

/** `{ success: true }`. A `success: false` has become an error before this is looked at. */
export const done: Schema.Codec<void, unknown> = Schema.Struct({
  success: Schema.Literal(true),
  message: nullish(Schema.String)
}).pipe(
  Schema.decodeTo(Schema.Void, {
    decode: Getter.transform(() => undefined),
    encode: Getter.transform(() => ({ success: true as const }))
  })
)
