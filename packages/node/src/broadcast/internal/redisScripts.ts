import type { RecipientRecord, RecipientStatus, Status } from "@colloquy/core/broadcast/Broadcast"
import type { ChatId } from "@colloquy/core/model/Recipient"
import * as Redis from "effect/persistence/Redis"
import { readingClock } from "../../base/internal/stores/redis.ts"
import { type BroadcastRow, fromRecord } from "./row.ts"

export const namesKey = (prefix: string): string => `${prefix}:names`

/**
 * A broadcast is a hash. Its records are JSON texts in a sorted set whose scores are the chats. The scores are the
 * order of pages, and find the record of a chat. The names of all broadcasts are a sorted set whose scores are the
 * times of their starts.
 */
export const keysOf = (prefix: string, name: string) => ({
  broadcast: `${prefix}:broadcast:${name}`,
  records: `${prefix}:records:${name}`,
  names: namesKey(prefix)
})

type Keys = ReturnType<typeof keysOf>

const counters = ["Sent", "Forbidden", "NotFound", "Failed"] as const satisfies ReadonlyArray<RecipientStatus>

export const fields = ["status", "started_at", "total", ...counters] as const

/** From the values of `fields`; `undefined` if there is no hash. */
export const toRow = (name: string, values: ReadonlyArray<string | null>): BroadcastRow | undefined => {
  const [status, started_at, total = null, ...counts] = values
  if (status == null) return undefined
  const [sent, forbidden, not_found, failed] = counts.map((count) => count ?? 0)
  return { name, status, started_at, total, sent, forbidden, not_found, failed }
}

export const acquireLease = Redis.script(
  (keys: Keys, name: string, owner: string, leaseDuration: number, create: boolean) => [
    keys.broadcast,
    keys.names,
    owner,
    leaseDuration,
    create ? 1 : 0,
    name
  ],
  {
    numberOfKeys: 2,
    lua: `${readingClock}
local lease, now = redis.call("HMGET", KEYS[1], "owner", "lease_until"), read_clock()
if not lease[1] then
  if ARGV[3] == "0" then return {} end
  redis.call("HSET", KEYS[1], "status", "running", "started_at", string.format("%.0f", now))
  redis.call("ZADD", KEYS[2], string.format("%.0f", now), ARGV[4])
elseif lease[1] ~= ARGV[1] and (ARGV[3] == "0" or tonumber(lease[2]) > now) then
  return {}
end
redis.call("HSET", KEYS[1], "owner", ARGV[1], "lease_until", string.format("%.0f", now + ARGV[2]))
return redis.call("HMGET", KEYS[1], ${fields.map((field) => `"${field}"`).join(", ")})`
  }
).withReturnType<ReadonlyArray<string | null>>()

export const update = Redis.script(
  (keys: Keys, status: Status | undefined, total: number | undefined) => [keys.broadcast, status ?? "", total ?? ""],
  {
    numberOfKeys: 1,
    lua: `
local status = redis.call("HGET", KEYS[1], "status")
if status ~= "running" and status ~= "paused" then return 0 end
if ARGV[1] ~= "" then redis.call("HSET", KEYS[1], "status", ARGV[1]) end
if ARGV[2] ~= "" then redis.call("HSET", KEYS[1], "total", ARGV[2]) end
return 1`
  }
).withReturnType<number>()

export const begin = Redis.script((keys: Keys, owner: string, begun: string) => [keys.broadcast, owner, begun], {
  numberOfKeys: 1,
  lua: `
if redis.call("HGET", KEYS[1], "owner") == ARGV[1] then redis.call("HSET", KEYS[1], "begun", ARGV[2]) end`
})

/** Returns the number of records of each chat, 0 or 1. */
export const countRecords = Redis.script((keys: Keys, chats: ReadonlyArray<ChatId>) => [keys.records, ...chats], {
  numberOfKeys: 1,
  lua: `
local counts = {}
for index, chat_id in ipairs(ARGV) do counts[index] = redis.call("ZCOUNT", KEYS[1], chat_id, chat_id) end
return counts`
}).withReturnType<ReadonlyArray<number>>()

export const addRecords = Redis.script(
  (keys: Keys, records: ReadonlyArray<RecipientRecord>) => [
    keys.broadcast,
    keys.records,
    ...records.flatMap((record) => [record.chat_id, record.status, JSON.stringify(fromRecord(record))])
  ],
  {
    numberOfKeys: 2,
    lua: `
if redis.call("EXISTS", KEYS[1]) == 0 then return end
for index = 1, #ARGV, 3 do
  local chat_id = ARGV[index]
  if redis.call("ZCOUNT", KEYS[2], chat_id, chat_id) == 0 then
    redis.call("ZADD", KEYS[2], chat_id, ARGV[index + 2])
    redis.call("HINCRBY", KEYS[1], ARGV[index + 1], 1)
  end
end`
  }
)

export const remove = Redis.script((keys: Keys, name: string) => [keys.broadcast, keys.records, keys.names, name], {
  numberOfKeys: 3,
  lua: `
redis.call("UNLINK", KEYS[2])
redis.call("ZREM", KEYS[3], ARGV[1])
return redis.call("DEL", KEYS[1])`
}).withReturnType<number>()
