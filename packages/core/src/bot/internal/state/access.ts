import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { InboxStore } from "../../../inbox/InboxStore.ts"
import { Inbox } from "../../../inbox/Inbox.ts"
import type { InvalidState, NoStateKey, Of, StaleState, Value } from "../../State.ts"
import type { StoreError } from "../../../base/StoreError.ts"
import type { Changes } from "../../../inbox/internal/consumer/changes.ts"
import { CurrentLease } from "../../../client/internal/currentLease.ts"
import { CurrentUpdate } from "../../../inbox/internal/consumer/currentUpdate.ts"
import { defect } from "../../../base/internal/defect.ts"
import type { Cell } from "../../../inbox/internal/consumer/cells.ts"
import { maybeWritten, Session, stored } from "../../../inbox/internal/consumer/cells.ts"
import type { StateCodec } from "./codec.ts"
import type { StateKey } from "../../../inbox/internal/store/stateRows.ts"
import { idsOf, missingIds, toScope } from "./scopes.ts"

/** A value of a state, and its location. */
export interface Place {
  readonly store: InboxStore["Service"]
  readonly scope: string
  readonly cell: Cell
}

type Replaced = ReadonlyArray<Place & { readonly name: string }>

/** The values that effects of `updateEffect` and `modifyEffect` are replacing. */
const CurrentlyReplaced = Context.Reference<Replaced>("@colloquy/core/internal/state/CurrentlyReplaced", {
  defaultValue: () => []
})

const sessionOf = (changes: Changes): Session => (changes.states ??= new Session(changes))

/** Two states with one name would read and replace the values of each other. */
const cellOf = (changes: Changes, key: StateKey, codec: object): Effect.Effect<Cell> => {
  const session = sessionOf(changes)
  return session.isUnique(key.name, codec)
    ? Effect.succeed(session.cell(key))
    : defect(
        `Two states with the name "${key.name}" are used in one update. Give each state, conversation and scene a name of its own. ` +
          "If it is one, define it once, outside of the functions that use it."
      )
}

/** The ids that an update does not have. */
export type Missing = Pick<NoStateKey, "missing" | "update_type">

/** The value of the update that is being handled. */
export const ofUpdate = (
  name: string,
  of: Of,
  codec: object,
  withoutKey: (missing: Missing) => NoStateKey
): Effect.Effect<Place, NoStateKey> =>
  Effect.withFiber((fiber) => {
    const changes = fiber.getRef(CurrentUpdate)?.changes
    if (changes === undefined) return Effect.fail(withoutKey({ missing: ["update"] }))
    const ids = idsOf(changes.update)
    const missing = missingIds(of, ids)
    if (missing.length > 0) {
      return Effect.fail(withoutKey({ missing, update_type: changes.update.update_type }))
    }
    const scope = toScope(of, ids)
    return Effect.map(cellOf(changes, { scope, name }, codec), (cell) => ({ store: changes.store, scope, cell }))
  })

/**
 * Writes the value of the update that is being handled to the store at once, so that the value stays if the handling
 * fails. The store checks the value before, and no lease, so the lease is confirmed: another process may have ended what a process
 * that stood still would write again.
 */
export const writeNow = (name: string, of: Of): Effect.Effect<void, StoreError> =>
  Effect.withFiber((fiber) => {
    const changes = fiber.getRef(CurrentUpdate)?.changes
    const written = changes?.states?.writeNow({ scope: toScope(of, idsOf(changes.update)), name })
    if (written === undefined) return Effect.void
    return Effect.andThen(fiber.getRef(CurrentLease)?.confirm ?? Effect.void, written)
  })

/** The value with a scope. While an update of the same inbox is handled, the value is part of the handling. */
export const inScope = (name: string, scope: string, codec: object): Effect.Effect<Place, never, Inbox> =>
  Inbox.use((inbox) =>
    Effect.withFiber((fiber) => {
      const changes = fiber.getRef(CurrentUpdate)?.changes
      const key = { scope, name }
      const { store } = inbox
      return changes?.store === store
        ? Effect.map(cellOf(changes, key, codec), (cell) => ({ store, scope, cell }))
        : Effect.succeed({ store, scope, cell: stored(inbox, key) })
    })
  )

/** The values of a state that the handling of an update of the same inbox has read or changed, by their scopes. */
export const valuesInUse = (name: string, { store }: Inbox["Service"]) =>
  Effect.map(CurrentUpdate, (current) =>
    current?.changes?.store === store ? current.changes.states?.valuesOf(name) : undefined
  )

/** The operations on a value. Each change is applied to the value that was read, or repeated. */
export const makeValue = <A, E, R>(
  name: string,
  codec: StateCodec<A>,
  place: Effect.Effect<Place, E, R>
): Value<A, E, R> => {
  const read = ({ cell, scope }: Place) =>
    Effect.flatMap(cell.read, (snapshot) => {
      const { decoded, value } = snapshot
      // A value that expires is decoded again, because the handling may take longer than the value is valid.
      if (decoded?.by === codec) return Effect.succeed({ snapshot, value: decoded.value as A })
      return Effect.map(codec.read(value, scope), (value) => {
        if (snapshot.value !== undefined) snapshot.decoded = { by: codec, value }
        return { snapshot, value }
      })
    })

  /**
   * Applies a change to the value. Fails if an effect that is changing the value uses the value again, because both
   * operations would wait for each other.
   */
  const changing = <B, E2, R2>(
    apply: (at: Place, replaced: Replaced) => Effect.Effect<B, E2, R2>
  ): Effect.Effect<B, E | E2, R | R2> =>
    Effect.flatMap(place, (at) =>
      Effect.withFiber((fiber) => {
        const replaced = fiber.getRef(CurrentlyReplaced)
        const isReplaced = replaced.some(
          (other) => other.name === name && other.scope === at.scope && other.store === at.store
        )
        if (!isReplaced) return apply(at, replaced)
        return defect(
          `The state "${name}" of ${at.scope} is changed by an effect that is changing it, which would never end.`
        )
      })
    )

  const change = <B, E2, R2>(
    f: (value: A, at: Place, replaced: Replaced) => Effect.Effect<readonly [B, A], E2, R2>
  ): Effect.Effect<B, E | E2 | StaleState | InvalidState | StoreError, R | R2> =>
    changing((at, replaced) => {
      const attempt: Effect.Effect<B, E2 | StaleState | InvalidState | StoreError, R2> = Effect.flatMap(
        read(at),
        ({ snapshot, value }) =>
          Effect.flatMap(f(value, at, replaced), ([result, next]) =>
            Effect.flatMap(codec.encode(next), (encoded) =>
              Effect.flatMap(
                at.cell.replace(snapshot, { value: encoded, decoded: { by: codec, value: next } }),
                (isReplaced) => {
                  if (isReplaced === "unknown") return Effect.fail(maybeWritten())
                  return isReplaced ? Effect.succeed(result) : attempt
                }
              )
            )
          )
      )
      return attempt
    })

  const changeBy = <B, E2, R2>(f: (value: A) => Effect.Effect<readonly [B, A], E2, R2>) =>
    change((value, at, replaced) => Effect.provideService(f(value), CurrentlyReplaced, [...replaced, { ...at, name }]))

  const replace = <E2>(next: Effect.Effect<Parameters<Cell["replace"]>[1], E2>) =>
    changing(({ cell }) => {
      const attempt: Effect.Effect<void, E2 | StoreError> = Effect.flatMap(cell.read, (snapshot) =>
        Effect.flatMap(next, (next) =>
          Effect.flatMap(cell.replace(snapshot, next), (isReplaced) => (isReplaced === true ? Effect.void : attempt))
        )
      )
      return attempt
    })

  return {
    get: Effect.flatMap(place, (at) => Effect.map(read(at), ({ value }) => value)),
    set: (value) =>
      replace(Effect.map(codec.encode(value), (encoded) => ({ value: encoded, decoded: { by: codec, value } }))),
    clear: replace(Effect.succeed({ value: undefined, decoded: undefined })),
    update: (f) =>
      change((value) => {
        const next = f(value)
        return Effect.succeed([next, next] as const)
      }),
    modify: (f) => change((value) => Effect.succeed(f(value))),
    updateEffect: (f) => changeBy((value) => Effect.map(f(value), (next) => [next, next] as const)),
    modifyEffect: changeBy
  }
}
