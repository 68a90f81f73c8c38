/** The store on SQLite, in a database in memory that all processes share. Its statements are synchronous. */
import type { InboxStore } from "@colloquy/core/inbox/InboxStore"
import type { StoreError } from "@colloquy/core/base/StoreError"
import * as NodeSqlite from "@colloquy/node/base/NodeSqlite"
import * as SqlInboxStore from "@colloquy/node/inbox/SqlInboxStore"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import type { SqlError } from "effect/sql/SqlError"

/** Creates an empty store, which is open as long as its world. */
export const sqliteStore: Effect.Effect<InboxStore["Service"], StoreError | SqlError> = Effect.gen(function* () {
  const scope = yield* Scope.make()
  const client = yield* Layer.buildWithScope(NodeSqlite.layer({ filename: ":memory:" }), scope)
  return yield* SqlInboxStore.make().pipe(Effect.provideContext(client), Effect.provideService(Scope.Scope, scope))
})
