import * as Digest from "effect/crypto/Digest"
import * as Hex from "effect/encoding/Hex"

// All platforms have `TextEncoder`, but the compiler options of this package include no platform types.
declare const TextEncoder: new () => { readonly encode: (text: string) => Uint8Array }

/** MD5 is sufficient because nobody gains from a collision, and effect implements it for platforms without it. */
export const hashText = (text: string): string => Hex.encode(Digest.md5.implementation!(new TextEncoder().encode(text)))
