import type { StateStore, StateWrite } from "@colloquy/core/inbox/InboxStore"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import type { Operations } from "../sqlOperations.ts"
import { batchReads } from "./batchedReads.ts"
import type * as sqlStates from "./sqlStates.ts"

interface Options {
  readonly states: ReturnType<typeof sqlStates.make>
  readonly write: (writes: ReadonlyArray<StateWrite>) => Effect.Effect<boolean, SqlError>
  readonly operations: Operations
  readonly isInTransaction: (context: Context.Context<never>) => boolean
}

/** The values of the state in the database of the inbox. */
export const make = ({ isInTransaction, operations, states, write }: Options): StateStore => {
  const { inChunks, operation, statement, transaction } = operations
  const getStates: StateStore["get"] = (keys) =>
    keys.length === 0 ? Effect.succeed([]) : operation("getState")(states.get(keys))

  const getBatched = batchReads(getStates)

  return {
    // In a transaction of the caller, the values are read on its connection.
    get: (keys) => Effect.withFiber(({ context }) => (isInTransaction(context) ? getStates(keys) : getBatched(keys))),
    write: (writes) =>
      writes.length === 0 ? Effect.succeed(true) : statement("writeState")(Effect.suspend(() => write(writes))),
    page: ({ after, limit, name }) => operation("pageState")(states.page(name, after, limit)),
    forget: (user) => transaction("forgetState")(states.forget(user)),
    cleanup: (expiredBefore) => inChunks("cleanupState", (chunk) => states.cleanup(expiredBefore, chunk))
  }
}
