import type { RecipientStatus, RecipientRecord as Served, Summary, Status } from "@colloquy/core/BroadcastStore"
import type { ChatId } from "@colloquy/core/Recipient"
import * as Option from "effect/Option"
import * as Redis from "effect/persistence/Redis"
import * as Row from "./row.ts"

/**
 * A broadcast is a hash. Its records are the JSON texts of a sorted set by their chats, which is the order of the pages
 * and finds the record of a chat.
 */
export interface Keys {
  readonly broadcast: string
  readonly records: string
}

export const keysOf = (prefix: string, name: string): Keys => ({
  broadcast: `${prefix}broadcast:${name}`,
  records: `${prefix}records:${name}`
})

export const fields = ["status", "started_at", "total", "Sent", "Forbidden", "NotFound", "Failed"] as const

/** From the values of the fields: none where there is no hash. */
export const toStanding = (name: string, values: ReadonlyArray<string | null>): Option.Option<Summary> => {
  const [status, started_at, total, sent, forbidden, not_found, failed] = values
  return status == null
    ? Option.none()
    : Option.some(
        Row.toStanding({
          name,
          status,
          started_at: started_at ?? 0,
          total: total ?? null,
          sent: sent ?? 0,
          forbidden: forbidden ?? 0,
          not_found: not_found ?? 0,
          failed: failed ?? 0
        })
      )
}

export const acquire = Redis.script(
  (keys: Keys, owner: string, now: number, leaseUntil: number, create: boolean) => [
    keys.broadcast,
    owner,
    now,
    leaseUntil,
    create ? 1 : 0
  ],
  {
    numberOfKeys: 1,
    lua: `
local has = redis.call("HMGET", KEYS[1], "owner", "lease_until")
if not has[1] then
  if ARGV[4] == "0" then return {} end
  redis.call("HSET", KEYS[1], "status", "running", "started_at", ARGV[2])
elseif has[1] ~= ARGV[1] and tonumber(has[2]) > tonumber(ARGV[2]) then
  return {}
end
redis.call("HSET", KEYS[1], "owner", ARGV[1], "lease_until", ARGV[3])
return redis.call("HMGET", KEYS[1], ${fields.map((field) => `"${field}"`).join(", ")})`
  }
).withReturnType<ReadonlyArray<string | null>>()

export const change = Redis.script(
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

/** For each of the chats, how many records it has. */
export const served = Redis.script((keys: Keys, chats: ReadonlyArray<ChatId>) => [keys.records, ...chats], {
  numberOfKeys: 1,
  lua: `
local counts = {}
for at, chat_id in ipairs(ARGV) do counts[at] = redis.call("ZCOUNT", KEYS[1], chat_id, chat_id) end
return counts`
}).withReturnType<ReadonlyArray<number>>()

export const record = Redis.script(
  (keys: Keys, records: ReadonlyArray<Served>) => [
    keys.broadcast,
    keys.records,
    ...records.flatMap((one) => [
      one.chat_id,
      one.status satisfies RecipientStatus,
      JSON.stringify(Row.fromRecord(one))
    ])
  ],
  {
    numberOfKeys: 2,
    lua: `
if redis.call("EXISTS", KEYS[1]) == 0 then return end
for at = 1, #ARGV, 3 do
  local chat_id = ARGV[at]
  if redis.call("ZCOUNT", KEYS[2], chat_id, chat_id) == 0 then
    redis.call("ZADD", KEYS[2], chat_id, ARGV[at + 2])
    redis.call("HINCRBY", KEYS[1], ARGV[at + 1], 1)
  end
end`
  }
)

export const forget = Redis.script((keys: Keys) => [keys.broadcast, keys.records], {
  numberOfKeys: 2,
  lua: `
redis.call("UNLINK", KEYS[2])
return redis.call("DEL", KEYS[1])`
}).withReturnType<number>()

/** Throws where a text is not the JSON that was written. */
export const toRecord = (text: string): Served => Row.toRecord(JSON.parse(text) as Row.Row)
