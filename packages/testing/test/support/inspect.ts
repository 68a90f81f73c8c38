import { Emulator } from "@colloquy/testing"
import * as Effect from "effect/Effect"

/** Returns the types of all updates of the emulator. */
export const updateTypes = Effect.map(Emulator.updates, (updates) => updates.map(({ update_type }) => update_type))

/** Returns the tag of the error that an effect fails with, and its code if it has one. */
export const codeOf = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(effect), (error) => {
    const { _tag, code } = error as { readonly _tag: string; readonly code?: string }
    return code === undefined ? _tag : `${_tag} ${code}`
  })

/** Returns the reason of a `PersonError`. */
export const problemOf = <A, R>(effect: Effect.Effect<A, { readonly reason: string }, R>) =>
  Effect.map(Effect.flip(effect), ({ reason }) => reason)
