import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { BroadcastStore } from "../BroadcastStore.ts"
import type { BegunRecipient, RecipientRecord, RecipientStatus, Status, Summary } from "../Broadcast.ts"
import type { ChatId } from "../../model/Recipient.ts"

interface Broadcast extends Pick<Summary, "name" | "startedAt"> {
  readonly counts: { [K in RecipientStatus]: number }
  readonly records: Map<ChatId, RecipientRecord>
  /** The chats with a record in ascending order, until a chat is added. */
  sorted: ReadonlyArray<ChatId> | undefined
  begun: ReadonlyArray<BegunRecipient>
  status: Status
  total: number | undefined
  owner: string
  leaseUntil: number
}

export const make = (clock: Clock.Clock): BroadcastStore["Service"] => {
  const broadcasts = new Map<string, Broadcast>()

  const create = (name: string, startedAt: number): Broadcast => {
    const broadcast: Broadcast = {
      name,
      startedAt,
      counts: { Sent: 0, Forbidden: 0, NotFound: 0, Failed: 0 },
      records: new Map(),
      sorted: undefined,
      begun: [],
      status: "running",
      total: undefined,
      owner: "",
      leaseUntil: 0
    }
    broadcasts.set(name, broadcast)
    return broadcast
  }

  const summaryOf = ({ counts, name, startedAt, status, total }: Broadcast): Summary => ({
    name,
    status,
    startedAt,
    total,
    counts: { ...counts }
  })

  return {
    acquireLease: (request) =>
      Effect.sync(() => {
        const { leaseDuration, name, owner } = request
        const now = clock.currentTimeMillisUnsafe()
        const broadcast = broadcasts.get(name) ?? (request.create ? create(name, now) : undefined)
        if (broadcast === undefined) return Option.none()
        if (broadcast.owner !== owner && (!request.create || broadcast.leaseUntil > now)) return Option.none()
        broadcast.owner = owner
        broadcast.leaseUntil = now + leaseDuration
        return Option.some(summaryOf(broadcast))
      }),
    summary: (name) => Effect.sync(() => Option.map(Option.fromUndefinedOr(broadcasts.get(name)), summaryOf)),
    list: (limit) =>
      Effect.sync(() =>
        Array.from(broadcasts.values(), summaryOf)
          .sort((a, b) => b.startedAt - a.startedAt)
          .slice(0, limit)
      ),
    update: (name, changes) =>
      Effect.sync(() => {
        const broadcast = broadcasts.get(name)
        if (broadcast === undefined || broadcast.status === "cancelled" || broadcast.status === "finished") return false
        broadcast.status = changes.status ?? broadcast.status
        broadcast.total = changes.total ?? broadcast.total
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
        for (const record of records) {
          if (broadcast === undefined || broadcast.records.has(record.chat_id)) continue
          broadcast.records.set(record.chat_id, record)
          broadcast.sorted = undefined
          broadcast.counts[record.status]++
        }
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
