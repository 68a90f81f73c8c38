import type * as ChatRecord from "@colloquy/core/bot/ChatRecord"
import type { ChatId } from "@colloquy/core/model/Recipient"
import * as Redis from "effect/persistence/Redis"
import { type ChatRow, chatColumns, fromRecord, recordColumns, type RecordRow } from "./row.ts"

/**
 * A chat is a hash. An unknown fact or type is an empty text.
 *
 * known       ids of known chats, by id, which is the order of pages
 * known:TYPE  ids of known chats of a type, by id
 * seen:TYPE   ids of known chats of a type, by the time when they were last seen
 * types       the types that are or were in use
 * left        ids of chats that the bot left, by the time when it left
 */
export const keysOf = (prefix: string) => ({
  prefix,
  known: `${prefix}:known`,
  left: `${prefix}:left`,
  chat: (chat_id: ChatId | string) => `${prefix}:chat:${chat_id}`
})

type Keys = ReturnType<typeof keysOf>

const recordFields = Object.keys(recordColumns) as ReadonlyArray<keyof RecordRow>

// Numbers stay texts, because Lua loses digits of a double.
const indexing = `
local function add_to_type(prefix, chat_id, type)
  redis.call("SADD", prefix .. ":types", type)
  redis.call("ZADD", prefix .. ":known:" .. type, chat_id, chat_id)
end
local function remove_from_type(prefix, chat_id, type)
  redis.call("ZREM", prefix .. ":known:" .. type, chat_id)
  redis.call("ZREM", prefix .. ":seen:" .. type, chat_id)
end
local function add_left(prefix, chat_id, left_at)
  redis.call("ZADD", prefix .. ":left", left_at, chat_id)
  redis.call("ZREM", prefix .. ":known", chat_id)
end
`

/** Writes `ChatRecord.combine` of the stored hash and the new record, for each of the records. */
export const upsert = Redis.script(
  (keys: Keys, records: ReadonlyArray<ChatRecord.ChatRecord>) => {
    const rows = records.map(fromRecord)
    return [
      keys.prefix,
      ...records.map(({ chat_id }) => keys.chat(chat_id)),
      ...rows.flatMap((row) => recordFields.map((field) => row[field] ?? ""))
    ]
  },
  {
    numberOfKeys: (_, records) => 1 + records.length,
    lua: `
local fields = { ${recordFields.map((field) => `"${field}"`).join(", ")} }
local facts = { "title", "dialog_user", "rights" }

local function latest(a, b) if tonumber(b) >= tonumber(a) then return b else return a end end
local function earliest(a, b) if tonumber(b) < tonumber(a) then return b else return a end end
${indexing}
local prefix = KEYS[1]
for index = 2, #KEYS do
  local key, new, stored = KEYS[index], {}, {}
  for at, field in ipairs(fields) do new[field] = ARGV[(index - 2) * #fields + at] end
  local flat = redis.call("HGETALL", key)
  for at = 1, #flat, 2 do stored[flat[at]] = flat[at + 1] end
  local was_known = stored.chat_id and tonumber(stored.member_at) > tonumber(stored.left_at)
  local old_type, old_seen = stored.type, stored.last_seen
  if not stored.chat_id then
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
  local written = {}
  for field, value in pairs(stored) do
    written[#written + 1] = field
    written[#written + 1] = value
  end
  redis.call("HSET", key, unpack(written))
  local chat_id, is_known, is_moved = new.chat_id, tonumber(stored.member_at) > left_at, old_type ~= stored.type
  if was_known and (is_moved or not is_known) then remove_from_type(prefix, chat_id, old_type) end
  if not is_known then
    add_left(prefix, chat_id, stored.left_at)
  else
    if not was_known then
      redis.call("ZADD", prefix .. ":known", chat_id, chat_id)
      redis.call("ZREM", prefix .. ":left", chat_id)
    end
    local is_added = is_moved or not was_known
    if is_added then add_to_type(prefix, chat_id, stored.type) end
    if is_added or old_seen ~= stored.last_seen then
      redis.call("ZADD", prefix .. ":seen:" .. stored.type, stored.last_seen, chat_id)
    end
  end
end`
  }
)

const reading = `
local function read_chats(ids)
  local found = {}
  for index = 1, #ids do
    local row = redis.call("HMGET", KEYS[1] .. ":chat:" .. ids[index], ${[...chatColumns, "member_at", "left_at"].map((field) => `"${field}"`).join(", ")})
    local left_at = table.remove(row)
    local member_at = table.remove(row)
    if member_at and tonumber(member_at) > tonumber(left_at) then found[#found + 1] = row end
  end
  return found
end
`

type Rows = ReadonlyArray<ReadonlyArray<string>>

/** Returns the columns of a chat, if it is known. */
export const read = Redis.script((keys: Keys, chat_id: ChatId) => [keys.prefix, chat_id], {
  numberOfKeys: 1,
  lua: `${reading}
return read_chats(ARGV)`
}).withReturnType<Rows>()

/** The id after which the next page begins, or an empty text after the last page, and the columns of the chats. */
type Page = readonly [next: string, rows: Rows]

/** Returns the next chats of an index by id, in one script, because a transfer of the ids costs as much as the rest. */
export const page = Redis.script(
  (keys: Keys, index: string, after: string, limit: number) => [keys.prefix, index, after, limit],
  {
    numberOfKeys: 2,
    lua: `${reading}
local ids = redis.call("ZRANGEBYSCORE", KEYS[2], ARGV[1], "+inf", "LIMIT", 0, ARGV[2])
return { #ids == tonumber(ARGV[2]) and ids[#ids] or "", read_chats(ids) }`
  }
).withReturnType<Page>()

const typesOf = `
local types = ARGV[1] == "1" and { ARGV[2] } or redis.call("SMEMBERS", KEYS[1] .. ":types")
local function seen(type) return KEYS[1] .. ":seen:" .. type end
local active = 0
for _, type in ipairs(types) do active = active + redis.call("ZCOUNT", seen(type), ARGV[3], "+inf") end
`

const typeArguments = (keys: Keys, type: string | undefined, activeSince: number) => [
  keys.prefix,
  type === undefined ? "0" : "1",
  type ?? "",
  activeSince
]

/** Returns the number of chats that were seen since a time, of one type or of all. */
export const countActive = Redis.script(typeArguments, {
  numberOfKeys: 1,
  lua: `${typesOf}
return active`
}).withReturnType<number>()

/**
 * Returns the next chats that were seen since a time, of one type or of all. A small total is sorted. Otherwise, the
 * times of the next chats are compared.
 */
export const activePage = Redis.script(
  (keys: Keys, type: string | undefined, activeSince: number, after: string, limit: number, compared: number) => [
    ...typeArguments(keys, type, activeSince),
    after,
    limit,
    compared
  ],
  {
    numberOfKeys: 1,
    lua: `${reading}${typesOf}
local since, after, limit, compared = tonumber(ARGV[3]), ARGV[4], tonumber(ARGV[5]), tonumber(ARGV[6])
local page = {}
if active <= compared then
  local first = after == "-inf" and -math.huge or tonumber(string.sub(after, 2))
  local numbers, ids = {}, {}
  for _, type in ipairs(types) do
    for _, id in ipairs(redis.call("ZRANGEBYSCORE", seen(type), ARGV[3], "+inf")) do
      local number = tonumber(id)
      if number > first then
        numbers[#numbers + 1] = number
        ids[number] = id
      end
    end
  end
  table.sort(numbers)
  for index = 1, math.min(limit, #numbers) do page[index] = ids[numbers[index]] end
  return { #numbers > limit and page[limit] or "", read_chats(page) }
end
local known = KEYS[1] .. ":known" .. (ARGV[1] == "1" and ":" .. ARGV[2] or "")
local ids = redis.call("ZRANGEBYSCORE", known, after, "+inf", "LIMIT", 0, compared)
if #ids == 0 then return { "", page } end
local is_active = {}
for _, type in ipairs(types) do
  local times = redis.call("ZMSCORE", seen(type), unpack(ids))
  for index = 1, #ids do if times[index] and tonumber(times[index]) >= since then is_active[index] = true end end
end
for index, id in ipairs(ids) do
  if is_active[index] then page[#page + 1] = id end
  if #page == limit then return { id, read_chats(page) } end
end
return { #ids == compared and ids[#ids] or "", read_chats(page) }`
  }
).withReturnType<Page>()

/** The values of `chatColumns`. */
export const toRow = (values: ReadonlyArray<string>): ChatRow => {
  const row: Record<string, unknown> = {}
  for (const [index, name] of chatColumns.entries()) row[name] = values[index] || null
  return row as ChatRow
}

const isKnown = `
local times = redis.call("HMGET", KEYS[1], "member_at", "left_at", "last_seen", "type")
if not times[1] or tonumber(times[1]) <= tonumber(times[2]) then return 0 end
`

export const remove = Redis.script((keys: Keys, chat_id: ChatId) => [keys.chat(chat_id), keys.prefix, chat_id], {
  numberOfKeys: 2,
  lua: `${indexing}${isKnown}
redis.call("HSET", KEYS[1], "left_at", times[3], "title", "", "dialog_user", "", "rights", "")
remove_from_type(KEYS[2], ARGV[1], times[4])
add_left(KEYS[2], ARGV[1], times[3])
return 1`
}).withReturnType<number>()

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
