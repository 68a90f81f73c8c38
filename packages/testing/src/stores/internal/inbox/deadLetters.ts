/** The operations with dead letters, as the cases use them. */
import { InboxStore, type Partition } from "@colloquy/core/inbox/InboxStore"
import * as Effect from "effect/Effect"
import { commit } from "./operations.ts"
import { change, now } from "./updates.ts"

export const failAll = (owner: string, { key, updates }: Partition, error: string, failedAt = now) =>
  commit(
    change(owner, key, {
      completed: updates.map(({ id }) => ({ id, failure: { error, attempts: 3, failedAt } })),
      release: true
    })
  )

export const listDeadLetters = (limit = 100, after?: string) =>
  Effect.map(
    InboxStore.use((store) => store.updates({ of: "deadLetters", limit, after })),
    (letters) => letters.map(({ failure, ...entry }) => ({ ...entry, ...failure! }))
  )

export const replay = (...ids: ReadonlyArray<string>) =>
  InboxStore.use((store) => store.takeDeadLetters({ ids, replay: true }))

export const drop = (...ids: ReadonlyArray<string>) =>
  InboxStore.use((store) => store.takeDeadLetters({ ids, replay: false }))
