import type * as ChatRecord from "@colloquy/core/ChatRecord"
import type { ChatId } from "@colloquy/core/Recipient"
import * as Redis from "effect/persistence/Redis"
import * as Row from "./row.ts"

/**
 * A chat is a hash. Its id stands in the sorted set `known` by the id, which is the order of the pages, or in `left` by
 * the time when the bot left. What is not told is an empty text.
 */
export interface Keys {
  readonly known: string
  readonly left: string
  readonly chat: (chat_id: ChatId | string) => string
}

export const keysOf = (prefix: string): Keys => ({
  known: `${prefix}known`,
  left: `${prefix}left`,
  chat: (chat_id) => `${prefix}chat:${chat_id}`
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
] as const satisfies ReadonlyArray<keyof Row.Row>

// Numbers stay the texts that they came as: a double of Lua would lose digits when it is written.
const file = `
local function file(known, left, chat_id, member_at, left_at)
  if tonumber(member_at) > tonumber(left_at) then
    redis.call("ZADD", known, chat_id, chat_id)
    redis.call("ZREM", left, chat_id)
  else
    redis.call("ZADD", left, left_at, chat_id)
    redis.call("ZREM", known, chat_id)
  end
end
`

/** `ChatRecord.combine` of the hash that is there and the record that is told, for each of the records. */
export const upsert = Redis.script(
  (keys: Keys, records: ReadonlyArray<ChatRecord.ChatRecord>) => {
    const rows = records.map(Row.fromRecord)
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
local dated = { "title", "dialog_user", "rights" }

local function latest(a, b) if tonumber(b) >= tonumber(a) then return b else return a end end
local function earliest(a, b) if tonumber(b) < tonumber(a) then return b else return a end end
${file}
for index = 3, #KEYS do
  local key, told, kept = KEYS[index], {}, {}
  for at, field in ipairs(fields) do told[field] = ARGV[(index - 3) * #fields + at] end
  local flat = redis.call("HGETALL", key)
  for at = 1, #flat, 2 do kept[flat[at]] = flat[at + 1] end
  if not kept.chat_id then
    kept.data, kept.data_at = "{}", "0"
    for field, value in pairs(told) do kept[field] = value end
  end
  if told.type ~= "" then kept.type = told.type end
  kept.first_seen = earliest(kept.first_seen, told.first_seen)
  kept.last_seen = latest(kept.last_seen, told.last_seen)
  kept.member_at = latest(kept.member_at, told.member_at)
  kept.left_at = latest(kept.left_at, told.left_at)
  local left_at = tonumber(kept.left_at)
  for _, name in ipairs(dated) do
    local at = name .. "_at"
    if tonumber(told[at]) >= tonumber(kept[at]) then kept[name], kept[at] = told[name], told[at] end
    if tonumber(kept[at]) <= left_at then kept[name] = "" end
  end
  if tonumber(kept.data_at) <= left_at then kept.data = "{}" end
  local written = {}
  for field, value in pairs(kept) do
    written[#written + 1] = field
    written[#written + 1] = value
  end
  redis.call("HSET", key, unpack(written))
  file(KEYS[1], KEYS[2], told.chat_id, kept.member_at, kept.left_at)
end`
  }
)

const knownFields = ["chat_id", "type", "first_seen", "last_seen", "title", "dialog_user", "rights", "data"] as const

/** The hashes of those chats that are known. */
export const read = Redis.script((keys: Keys, ids: ReadonlyArray<ChatId | string>) => ids.map(keys.chat), {
  numberOfKeys: (_, ids) => ids.length,
  lua: `
local found = {}
for _, key in ipairs(KEYS) do
  local times = redis.call("HMGET", key, "member_at", "left_at")
  if times[1] and tonumber(times[1]) > tonumber(times[2]) then
    found[#found + 1] = redis.call("HMGET", key, ${knownFields.map((field) => `"${field}"`).join(", ")})
  end
end
return found`
}).withReturnType<ReadonlyArray<ReadonlyArray<string>>>()

export const toEntry = (values: ReadonlyArray<string>) => {
  const [chat_id = "", type, first_seen = "", last_seen = "", title, dialog_user, rights, data = "{}"] = values
  return Row.toEntry({
    chat_id,
    type: type || null,
    first_seen,
    last_seen,
    title: title || null,
    dialog_user: dialog_user || null,
    rights: rights || null,
    data
  })
}

const isKnown = `
local times = redis.call("HMGET", KEYS[1], "member_at", "left_at", "last_seen", "data")
if not times[1] or tonumber(times[1]) <= tonumber(times[2]) then return 0 end
`

export const remove = Redis.script(
  (keys: Keys, chat_id: ChatId) => [keys.chat(chat_id), keys.known, keys.left, chat_id],
  {
    numberOfKeys: 3,
    lua: `${file}${isKnown}
redis.call("HSET", KEYS[1], "left_at", times[3], "title", "", "dialog_user", "", "rights", "", "data", "{}")
file(KEYS[2], KEYS[3], ARGV[1], times[1], times[3])
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

/** Drops those of the chats that are still left, since before a time. */
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
