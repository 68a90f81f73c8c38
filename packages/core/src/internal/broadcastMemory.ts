import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { BroadcastStore, Kind, Record as Served, Standing, Status } from "../BroadcastStore.ts"
import type { ChatId } from "../Recipient.ts"

interface Broadcast {
  readonly startedAt: number
  readonly counts: { [K in Kind]: number }
  readonly served: Map<ChatId, Served>
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
      status: "running",
      total: undefined,
      owner: "",
      leaseUntil: 0
    }
    broadcasts.set(name, fresh)
    return fresh
  }

  const standingOf = (name: string, { counts, startedAt, status, total }: Broadcast): Standing => ({
    name,
    status,
    startedAt,
    total,
    counts: { ...counts }
  })

  const servedOf = (name: string) => broadcasts.get(name)?.served ?? new Map<ChatId, Served>()

  return {
    acquire: ({ leaseUntil, name, now, owner }) =>
      Effect.sync(() => {
        const broadcast = broadcasts.get(name) ?? open(name, now)
        if (broadcast.owner !== owner && broadcast.leaseUntil > now) return Option.none()
        broadcast.owner = owner
        broadcast.leaseUntil = leaseUntil
        return Option.some(standingOf(name, broadcast))
      }),
    standing: (name) =>
      Effect.sync(() => Option.map(Option.fromUndefinedOr(broadcasts.get(name)), (found) => standingOf(name, found))),
    change: (name, { status, total }) =>
      Effect.sync(() => {
        const broadcast = broadcasts.get(name)
        if (broadcast === undefined) return false
        broadcast.status = status ?? broadcast.status
        broadcast.total = total ?? broadcast.total
        return true
      }),
    unserved: (name, chats) =>
      Effect.sync(() => {
        const served = servedOf(name)
        return chats.filter((chat_id) => !served.has(chat_id))
      }),
    record: (name, records) =>
      Effect.sync(() => {
        const broadcast = broadcasts.get(name)
        for (const record of records) {
          if (broadcast === undefined || broadcast.served.has(record.chat_id)) continue
          broadcast.served.set(record.chat_id, record)
          broadcast.counts[record.kind]++
        }
      }),
    records: (name, { after, limit }) =>
      Effect.sync(() =>
        [...servedOf(name).values()]
          .filter(({ chat_id }) => after === undefined || chat_id > after)
          .sort((a, b) => a.chat_id - b.chat_id)
          .slice(0, limit)
      ),
    forget: (name) => Effect.sync(() => broadcasts.delete(name))
  }
}
