import * as Effect from "effect/Effect"
import type { InboxStore } from "../../../inbox/InboxStore.ts"
import type { Entry } from "../../../inbox/QueuedUpdate.ts"
import type { StoreError } from "../../../base/StoreError.ts"
import { CurrentUpdate } from "../../../inbox/internal/consumer/currentUpdate.ts"
import type { Record, Unfinished } from "./record.ts"

/** An update whose handling has not ended: the update is queued, or a dead letter with this id. */
type Found = "queued" | { readonly deadLetter: string }

type Page = (page: {
  readonly after: string
  readonly limit: number
}) => Effect.Effect<ReadonlyArray<Entry>, StoreError>

const pageSize = 100

/** The stores have pages that begin after an id. */
const beforeId = (id: string): string => String(BigInt(id) - 1n)

/** Returns the update with its first id, or with the id that a replay gave to the update. Ids ascend. */
const find = Effect.fnUntraced(function* (page: Page, { fingerprint, id }: Unfinished) {
  let after = beforeId(id)
  for (let limit = 1; ; limit = pageSize) {
    const entries: ReadonlyArray<Entry> = yield* page({ after, limit })
    const found = entries.find((entry) => entry.id === id || entry.update.fingerprint === fingerprint)
    if (found !== undefined || entries.length < limit) return found
    after = entries.at(-1)!.id
  }
})

/** Returns where an update is, or `undefined` if nothing continues its handling, because its dead letter was dropped. */
export const whereIs = Effect.fnUntraced(function* (store: InboxStore["Service"], unfinished: Unfinished) {
  const { id, partitionKey } = unfinished
  const [queued] = yield* store.updates({ of: "queue", after: beforeId(id), limit: 1 })
  if (queued?.id === id) return "queued"
  const deadLetter = yield* find((page) => store.updates({ of: "deadLetters", ...page }), unfinished)
  if (deadLetter !== undefined) return { deadLetter: deadLetter.id }
  const replayed = yield* find((page) => store.updates({ of: "queue", ...page, partitionKey }), unfinished)
  return replayed === undefined ? undefined : "queued"
}) as (store: InboxStore["Service"], unfinished: Unfinished) => Effect.Effect<Found | undefined, StoreError>

/** The part of the update that is being handled that a conversation stores. */
export const ofCurrent = Effect.map(CurrentUpdate, (current): Omit<Unfinished, "isTaken"> | undefined => {
  if (current?.entry === undefined) return undefined
  const { id, update } = current.entry
  return { id, fingerprint: update.fingerprint, partitionKey: update.partitionKey }
})

/**
 * How the update that is being handled meets a conversation. `continues`: an earlier attempt has stored a part of its handling.
 * `waits`: the conversation waits for another update. `free`: neither.
 */
export const meets = Effect.fnUntraced(function* ({ unfinished }: Record) {
  if (unfinished === undefined) return "free"
  const current = yield* CurrentUpdate
  if (current?.entry?.update.fingerprint === unfinished.fingerprint) return "continues"
  const store = current?.changes?.store
  return store === undefined || (yield* whereIs(store, unfinished)) === undefined ? "free" : "waits"
}) as (record: Record) => Effect.Effect<"continues" | "waits" | "free", StoreError>
