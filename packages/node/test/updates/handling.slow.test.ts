import { NodeSqlite, SqlInboxStore } from "@colloquy/node"
import * as InboxSuite from "@colloquy/testing/InboxSuite"
import { InboxStore } from "@colloquy/core/InboxStore"
import { describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { databases } from "../support/sharedStores.ts"

describe("the handling of updates with a store in SQLite, in virtual time", () => {
  const store = Layer.provide(SqlInboxStore.layer(), NodeSqlite.layer({ filename: ":memory:" }))
  const cases = InboxSuite.handling({ withStore: (effect) => Effect.provide(effect, Layer.fresh(store)), runs: 10 })
  for (const { name, effect } of cases) it.effect(name, () => effect)
})

for (const { isMissing, kind, opened } of databases.filter(({ kind }) => kind !== "SQLite")) {
  describe.skipIf(isMissing)(`the handling of updates with a store in ${kind}`, () => {
    const cases = InboxSuite.handling({
      withStore: (effect) =>
        Effect.scoped(Effect.flatMap(opened, ({ store }) => Effect.provideService(effect, InboxStore, store))),
      runs: 4,
      concurrency: 4,
      everyPoint: false
    })
    for (const { name, effect } of cases) it.live(name, () => effect)
  })
}
