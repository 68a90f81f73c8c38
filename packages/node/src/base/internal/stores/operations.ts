import type { StoreError } from "@colloquy/core/base/StoreError"
import * as Effect from "effect/Effect"
import * as Record from "effect/Record"

/** The operations of a store, which fail with the errors of its database. */
export type Operations<Store> = {
  readonly [K in keyof Store]: Store[K] extends (...args: infer Args) => Effect.Effect<infer A, StoreError>
    ? (...args: Args) => Effect.Effect<A, unknown>
    : never
}

type Operation = (...args: ReadonlyArray<unknown>) => Effect.Effect<unknown, unknown>

/** Converts the errors of all operations of a store. */
export const withStoreErrors = <Store>(
  toStoreError: (operation: string) => (cause: unknown) => StoreError,
  operations: Operations<Store>
): Store =>
  Record.map(operations as Readonly<Record<string, Operation>>, (run, name): Operation => {
    const onFailure = toStoreError(name)
    return (...args) => Effect.mapError(run(...args), onFailure)
  }) as Store
