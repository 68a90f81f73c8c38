import type * as ChatRecord from "@colloquy/core/ChatRecord"
import type { ChatId } from "@colloquy/core/Recipient"
import * as Redis from "effect/persistence/Redis"
import { type ChatRow, chatColumns, fromRecord, type RecordRow } from "./row.ts"

/**
 * A chat is a hash, in which an unknown fact is an empty text. The ids of known chats are in the sorted set `known`, by
 * id, which is the order of pages. The ids of chats that the bot left are in `left`, by the time when it left.
 */
interface Keys {
  readonly known: string
  readonly left: string
  readonly chat: (chat_id: ChatId | string) => string
}

export const keysOf = (prefix: string): Keys => ({
  known: `${prefix}:known`,
  left: `${prefix}:left`,
  chat: (chat_id) => `${prefix}:chat:${chat_id}`
})

const recordFields = [
  "chat_id",
  "type",
  "first_seen",
  "last_seen",
  "member_at",
  "left_at",
  "title",
  "title_at",
  "dialog_user",
  "dialog_user_at",
  "rights",
  "rights_at"
] as const satisfies ReadonlyArray<keyof RecordRow>

// Numbers stay texts: Lua would lose digits of a double when it writes it.
const indexChat = `
local function index_chat(known, left, chat_id, member_at, left_at)
  if tonumber(member_at) > tonumber(left_at) then
    redis.call("ZADD", known, chat_id, chat_id)
    redis.call("ZREM", left, chat_id)
  else
    redis.call("ZADD", left, left_at, chat_id)
    redis.call("ZREM", known, chat_id)
  end
end
`

/** Writes `ChatRecord.combine` of the stored hash and the new record, for each of the records. */
export const upsert = Redis.script(
  (keys: Keys, records: ReadonlyArray<ChatRecord.ChatRecord>) => {
    const rows = records.map(fromRecord)
    return [
      keys.known,
      keys.left,
      ...records.map(({ chat_id }) => keys.chat(chat_id)),
      ...rows.flatMap((row) => recordFields.map((field) => row[field] ?? ""))
    ]
  },
  {
    numberOfKeys: (_, records) => 2 + records.length,
    lua: `
local fields = { ${recordFields.map((field) => `"${field}"`).join(", ")} }
local facts = { "title", "dialog_user", "rights" }

local function latest(a, b) if tonumber(b) >= tonumber(a) then return b else return a end end
local function earliest(a, b) if tonumber(b) < tonumber(a) then return b else return a end end
${indexChat}
for index = 3, #KEYS do
  local key, new, stored = KEYS[index], {}, {}
  for at, field in ipairs(fields) do new[field] = ARGV[(index - 3) * #fields + at] end
  local flat = redis.call("HGETALL", key)
  for at = 1, #flat, 2 do stored[flat[at]] = flat[at + 1] end
  if not stored.chat_id then
    stored.data, stored.data_at = "{}", "0"
    for field, value in pairs(new) do stored[field] = value end
  end
  if new.type ~= "" then stored.type = new.type end
  stored.first_seen = earliest(stored.first_seen, new.first_seen)
  stored.last_seen = latest(stored.last_seen, new.last_seen)
  stored.member_at = latest(stored.member_at, new.member_at)
  stored.left_at = latest(stored.left_at, new.left_at)
  local left_at = tonumber(stored.left_at)
  for _, name in ipairs(facts) do
    local at = name .. "_at"
    if tonumber(new[at]) >= tonumber(stored[at]) then stored[name], stored[at] = new[name], new[at] end
    if tonumber(stored[at]) <= left_at then stored[name] = "" end
  end
  if tonumber(stored.data_at) <= left_at then stored.data = "{}" end
  local written = {}
  for field, value in pairs(stored) do
    written[#written + 1] = field
    written[#written + 1] = value
  end
  redis.call("HSET", key, unpack(written))
  index_chat(KEYS[1], KEYS[2], new.chat_id, stored.member_at, stored.left_at)
end`
  }
)

/** Returns the columns of the chats that are known. */
export const read = Redis.script((keys: Keys, ids: ReadonlyArray<ChatId | string>) => ids.map(keys.chat), {
  numberOfKeys: (_, ids) => ids.length,
  lua: `
local found = {}
for _, key in ipairs(KEYS) do
  local times = redis.call("HMGET", key, "member_at", "left_at")
  if times[1] and tonumber(times[1]) > tonumber(times[2]) then
    found[#found + 1] = redis.call("HMGET", key, ${chatColumns.map((field) => `"${field}"`).join(", ")})
  end
end
return found`
}).withReturnType<ReadonlyArray<ReadonlyArray<string>>>()

/** The values of `chatColumns`. */
export const toRow = (values: ReadonlyArray<string>): ChatRow => {
  const row = Object.fromEntries(chatColumns.map((name, index) => [name, values[index] || null]))
  return row as ChatRow
}

const isKnown = `
local times = redis.call("HMGET", KEYS[1], "member_at", "left_at", "last_seen", "data")
if not times[1] or tonumber(times[1]) <= tonumber(times[2]) then return 0 end
`

export const remove = Redis.script(
  (keys: Keys, chat_id: ChatId) => [keys.chat(chat_id), keys.known, keys.left, chat_id],
  {
    numberOfKeys: 3,
    lua: `${indexChat}${isKnown}
redis.call("HSET", KEYS[1], "left_at", times[3], "title", "", "dialog_user", "", "rights", "", "data", "{}")
index_chat(KEYS[2], KEYS[3], ARGV[1], times[1], times[3])
return 1`
  }
).withReturnType<number>()

export const compareAndSetData = Redis.script(
  (keys: Keys, chat_id: ChatId, expected: string, next: string) => [keys.chat(chat_id), expected, next],
  {
    numberOfKeys: 1,
    lua: `${isKnown}
if times[4] ~= ARGV[1] then return 0 end
redis.call("HSET", KEYS[1], "data", ARGV[2], "data_at", times[3])
return 1`
  }
).withReturnType<number>()

/** Deletes the chats that the bot left before a time and has not joined since. */
export const cleanup = Redis.script(
  (keys: Keys, ids: ReadonlyArray<string>, before: number) => [keys.left, ...ids.map(keys.chat), before, ...ids],
  {
    numberOfKeys: (_, ids) => 1 + ids.length,
    lua: `
local deleted = 0
for index = 2, #KEYS do
  local chat_id = ARGV[index]
  local left_at = redis.call("ZSCORE", KEYS[1], chat_id)
  if left_at and tonumber(left_at) < tonumber(ARGV[1]) then
    redis.call("ZREM", KEYS[1], chat_id)
    redis.call("DEL", KEYS[index])
    deleted = deleted + 1
  end
end
return deleted`
  }
).withReturnType<number>()
