import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { BroadcastStore } from "../BroadcastStore.ts"
import type { BegunRecipient, RecipientRecord, Summary } from "../Broadcast.ts"
import type { ChatId } from "../../model/Recipient.ts"

const newBroadcast = (name: string, startedAt: number) => {
  /** Replaced by each change, because callers have earlier values. */
  const summary: Summary = {
    name,
    status: "running",
    startedAt,
    total: undefined,
    counts: { Sent: 0, Forbidden: 0, NotFound: 0, Failed: 0 }
  }
  return {
    summary,
    records: new Map<ChatId, RecipientRecord>(),
    /** The chats with a record in ascending order, until a chat is added. */
    sorted: undefined as ReadonlyArray<ChatId> | undefined,
    begun: [] as ReadonlyArray<BegunRecipient>,
    owner: "",
    leaseUntil: 0
  }
}

export const make = (clock: Clock.Clock): BroadcastStore["Service"] => {
  const broadcasts = new Map<string, ReturnType<typeof newBroadcast>>()
  return {
    acquireLease: (request) =>
      Effect.sync(() => {
        const { leaseDuration, name, owner } = request
        const now = clock.currentTimeMillisUnsafe()
        const broadcast = broadcasts.get(name) ?? (request.create ? newBroadcast(name, now) : undefined)
        if (broadcast === undefined) return Option.none()
        if (broadcast.owner !== owner && (!request.create || broadcast.leaseUntil > now)) return Option.none()
        broadcasts.set(name, broadcast)
        broadcast.owner = owner
        broadcast.leaseUntil = now + leaseDuration
        return Option.some(broadcast.summary)
      }),
    summary: (name) => Effect.sync(() => Option.fromUndefinedOr(broadcasts.get(name)?.summary)),
    list: (limit) =>
      Effect.sync(() =>
        Array.from(broadcasts.values(), ({ summary }) => summary)
          .sort((a, b) => b.startedAt - a.startedAt)
          .slice(0, limit)
      ),
    update: (name, changes) =>
      Effect.sync(() => {
        const broadcast = broadcasts.get(name)
        if (broadcast === undefined) return false
        const { summary } = broadcast
        if (summary.status === "cancelled" || summary.status === "finished") return false
        const { status = summary.status, total = summary.total } = changes
        broadcast.summary = { ...summary, status, total }
        return true
      }),
    pending: (name, chats) =>
      Effect.sync(() => {
        const records = broadcasts.get(name)?.records
        return chats.filter((chat_id) => records?.has(chat_id) !== true)
      }),
    begin: (request) =>
      Effect.sync(() => {
        const broadcast = broadcasts.get(request.name)
        if (broadcast?.owner === request.owner) broadcast.begun = request.recipients
      }),
    begun: (name) => Effect.sync(() => broadcasts.get(name)?.begun ?? []),
    addRecords: (name, records) =>
      Effect.sync(() => {
        const broadcast = broadcasts.get(name)
        if (broadcast === undefined) return
        const counts = { ...broadcast.summary.counts }
        for (const record of records) {
          if (broadcast.records.has(record.chat_id)) continue
          broadcast.records.set(record.chat_id, record)
          broadcast.sorted = undefined
          counts[record.status]++
        }
        broadcast.summary = { ...broadcast.summary, counts }
      }),
    records: (name, { after = -Infinity, limit }) =>
      Effect.sync(() => {
        const broadcast = broadcasts.get(name)
        if (broadcast === undefined) return []
        const sorted = (broadcast.sorted ??= [...broadcast.records.keys()].sort((a, b) => a - b))
        const first = sorted.findIndex((chat_id) => chat_id > after)
        return first < 0 ? [] : sorted.slice(first, first + limit).map((chat_id) => broadcast.records.get(chat_id)!)
      }),
    remove: (name) => Effect.sync(() => broadcasts.delete(name))
  }
}
