import * as InboxStore from "@colloquy/core/inbox/InboxStore"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { missing, places } from "./databases.ts"
import { layerOf } from "./inboxLayers.ts"

type Store = InboxStore.InboxStore["Service"]

const skipped: Readonly<Record<string, boolean>> = await missing()

/** The databases whose stores several processes can share. */
export const databases = Object.entries(places("handling")).map(([kind, place]) => ({
  kind,
  isMissing: skipped[kind] === true,
  /** Opens an empty store. `another` opens it again, with a connection of its own. */
  opened: Effect.gen(function* () {
    const at = yield* place
    const another: Effect.Effect<Store, unknown, Scope.Scope> = Effect.map(
      Layer.build(Layer.fresh(layerOf(kind, at))),
      Context.get(InboxStore.InboxStore)
    )
    return { at, store: yield* another, another }
  })
}))
