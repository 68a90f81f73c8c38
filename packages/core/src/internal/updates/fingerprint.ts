import * as Digest from "effect/crypto/Digest"
import * as Hex from "effect/encoding/Hex"
import { stringify } from "../client/json.ts"

const sorted = (value: unknown): unknown => {
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) return value.map(sorted)
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, member]) => [key, sorted(member)])
  )
}

// Every platform has it, and the compiler is told of none.
declare const TextEncoder: new () => { readonly encode: (text: string) => Uint8Array }

// Nobody gains by a collision here; the implementation is there for every algorithm that Web Crypto lacks.
export const hashText = (text: string): string => Hex.encode(Digest.md5.implementation!(new TextEncoder().encode(text)))

/** The same for two values that differ only in the order of their members. */
export const hash = (value: unknown): string => hashText(stringify(sorted(value)))
