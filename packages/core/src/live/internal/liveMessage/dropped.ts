import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as State from "../../../bot/State.ts"
import type { StoreError } from "../../../base/StoreError.ts"
import { CurrentUpdate } from "../../../inbox/internal/consumer/currentUpdate.ts"

/** The updates of a chat that arrived while a message was live, and are not to be answered. */
const Dropped = State.make("colloquy_live_message", Schema.Array(Schema.String), {
  of: "chat",
  initial: () => [],
  expireAfter: "7 days",
  onStale: "initial"
})

/** The timer of a user has no chat, so no update is dropped. */
const inChat = <A, R>(
  effect: Effect.Effect<A, StoreError | State.NoStateKey | State.StaleState | State.InvalidState, R>,
  otherwise: A
): Effect.Effect<A, StoreError, R> =>
  Effect.catch(effect, (error) => {
    if (error._tag === "NoStateKey") return Effect.succeed(otherwise)
    return error._tag === "StoreError" ? Effect.fail(error) : Effect.die(error)
  })

/** Stores updates with the acknowledgement of the update that is being handled. */
export const add = (fingerprints: ReadonlyArray<string>): Effect.Effect<void, StoreError> =>
  fingerprints.length === 0
    ? Effect.void
    : inChat(Effect.asVoid(Dropped.update((dropped) => [...new Set([...dropped, ...fingerprints])])), undefined)

/** Returns whether the update that is being handled was dropped, and deletes its entry. */
export const take: Effect.Effect<boolean, StoreError> = Effect.gen(function* () {
  const handled = yield* CurrentUpdate
  const fingerprint = handled?.entry?.update.fingerprint
  if (fingerprint === undefined) return false
  return yield* inChat(
    Dropped.modify((dropped) => [dropped.includes(fingerprint), dropped.filter((other) => other !== fingerprint)]),
    false
  )
})
