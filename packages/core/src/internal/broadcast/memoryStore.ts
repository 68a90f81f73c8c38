import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type {
  BroadcastStore,
  RecipientStatus,
  RecipientRecord as Served,
  Summary,
  Status
} from "../../BroadcastStore.ts"
import type { ChatId } from "../../Recipient.ts"

interface Broadcast {
  readonly startedAt: number
  readonly counts: { [K in RecipientStatus]: number }
  readonly served: Map<ChatId, Served>
  /** The chats with a record in their order, until one is added. */
  sorted: ReadonlyArray<ChatId> | undefined
  status: Status
  total: number | undefined
  owner: string
  leaseUntil: number
}

export const makeMemory = (): BroadcastStore["Service"] => {
  const broadcasts = new Map<string, Broadcast>()

  const open = (name: string, startedAt: number): Broadcast => {
    const counts = { Sent: 0, Forbidden: 0, NotFound: 0, Failed: 0 }
    const fresh: Broadcast = {
      startedAt,
      counts,
      served: new Map(),
      sorted: undefined,
      status: "running",
      total: undefined,
      owner: "",
      leaseUntil: 0
    }
    broadcasts.set(name, fresh)
    return fresh
  }

  const standingOf = (name: string, { counts, startedAt, status, total }: Broadcast): Summary => ({
    name,
    status,
    startedAt,
    total,
    counts: { ...counts }
  })

  return {
    acquireLease: ({ create, leaseUntil, name, now, owner }) =>
      Effect.sync(() => {
        const broadcast = broadcasts.get(name) ?? (create ? open(name, now) : undefined)
        if (broadcast === undefined) return Option.none()
        if (broadcast.owner !== owner && broadcast.leaseUntil > now) return Option.none()
        broadcast.owner = owner
        broadcast.leaseUntil = leaseUntil
        return Option.some(standingOf(name, broadcast))
      }),
    summary: (name) =>
      Effect.sync(() => Option.map(Option.fromUndefinedOr(broadcasts.get(name)), (found) => standingOf(name, found))),
    update: (name, { status, total }) =>
      Effect.sync(() => {
        const broadcast = broadcasts.get(name)
        if (broadcast === undefined || broadcast.status === "cancelled" || broadcast.status === "finished") return false
        broadcast.status = status ?? broadcast.status
        broadcast.total = total ?? broadcast.total
        return true
      }),
    pending: (name, chats) =>
      Effect.sync(() => {
        const served = broadcasts.get(name)?.served
        return chats.filter((chat_id) => served?.has(chat_id) !== true)
      }),
    addRecords: (name, records) =>
      Effect.sync(() => {
        const broadcast = broadcasts.get(name)
        for (const record of records) {
          if (broadcast === undefined || broadcast.served.has(record.chat_id)) continue
          broadcast.served.set(record.chat_id, record)
          broadcast.sorted = undefined
          broadcast.counts[record.status]++
        }
      }),
    records: (name, { after = -Infinity, limit }) =>
      Effect.sync(() => {
        const broadcast = broadcasts.get(name)
        if (broadcast === undefined) return []
        const sorted = (broadcast.sorted ??= [...broadcast.served.keys()].sort((a, b) => a - b))
        const first = sorted.findIndex((chat_id) => chat_id > after)
        return first < 0 ? [] : sorted.slice(first, first + limit).map((chat_id) => broadcast.served.get(chat_id)!)
      }),
    remove: (name) => Effect.sync(() => broadcasts.delete(name))
  }
}
