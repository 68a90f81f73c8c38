import * as Mac from "effect/crypto/Mac"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Hex from "effect/encoding/Hex"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"

// Every platform has it, and the compiler is told of none.
declare const TextEncoder: new () => {
  readonly encodeInto: (text: string, into: Uint8Array) => { readonly written: number }
}

export const label = "the secret of the webhook"

/** 256 random bits, in the letters that a secret may have. */
export const generate: Effect.Effect<Redacted.Redacted> = SecureRandom.SecureRandom.use((random) =>
  Effect.map(random.randomBytes(32), (bytes) => Redacted.make(Hex.encode(bytes), { label }))
).pipe(Effect.provide(SecureRandom.layerWebCrypto))

/** One more than a secret may have, so that a longer one differs. */
const width = 257

const encoder = new TextEncoder()

const fill = (bytes: Uint8Array, text: string): Uint8Array => {
  encoder.encodeInto(text, bytes.fill(0))
  return bytes
}

/** Compares with a secret in a time that depends neither on where a text differs nor on its length. */
export const makeIsSecret = (secret: Redacted.Redacted): ((given: string | undefined) => boolean) => {
  const expected = fill(new Uint8Array(width), Redacted.value(secret))
  const scratch = new Uint8Array(width)
  return (given) => Mac.timingSafeEqual(expected, fill(scratch, given ?? ""))
}
