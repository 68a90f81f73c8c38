import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { Body } from "../../EmulatorHttp.ts"

const encoder = new TextEncoder()

const decoder = new TextDecoder()

/** A body that is in hand already. */
export const ofBytes = (bytes: Uint8Array): Body => ({
  text: Effect.sync(() => decoder.decode(bytes)),
  bytes: Stream.succeed(bytes)
})

export const ofText = (text: string): Body => ofBytes(encoder.encode(text))
