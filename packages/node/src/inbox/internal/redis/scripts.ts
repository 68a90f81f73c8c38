import { appendingDueRows, writingRows } from "./rows.ts"
import { addingDeadLetters } from "./deadLetters.ts"
import { readingClock } from "../../../base/internal/stores/redis.ts"
import { appending, holding, script } from "./lua.ts"

/**
 * Arguments: sender, number of batches, number of all updates and dead letters; for each batch the number of its updates
 * and of its dead letters, the time, and the time since which a fingerprint is a duplicate, or nothing; then fingerprint,
 * partition key and text of its updates, and fingerprint, text and failure of its dead letters; then the rows of all batches.
 * Returns how many updates and dead letters of each batch were added.
 */
export const enqueue = script(
  readingClock,
  appending,
  addingDeadLetters,
  writingRows,
  `
local fingerprints, values = name('fingerprints'), ARGV
local batches, keys, scores = tonumber(values[2]), {}, {}
local at = 4
for batch = 1, batches do
  local count = values[at] + values[at + 1]
  if values[at + 3] ~= '' then
    for fingerprint = at + 4, at + 1 + 3 * count, 3 do keys[#keys + 1] = values[fingerprint] end
  end
  at = at + 4 + 3 * count
end
call_with(scores, keys, 'ZMSCORE', fingerprints)
-- When each fingerprint was received before, and the times to write.
local seen, times = {}, {}
for index, key in ipairs(keys) do if scores[index] then seen[key] = tonumber(scores[index]) end end

local id, added = values[3] ~= '0' and reserve_ids(tonumber(values[3])) or 0, {}
local function is_new(fingerprint, now, since)
  local seen_at = seen[fingerprint]
  if seen_at and seen_at >= since then return false end
  seen[fingerprint] = tonumber(now)
  times[#times + 1] = now
  times[#times + 1] = fingerprint
  return true
end
at = 4
for batch = 1, batches do
  local updates, count, now, since = tonumber(values[at]), values[at] + values[at + 1], values[at + 2], tonumber(values[at + 3])
  at = at + 4
  local count_added = 0
  for row = 1, count do
    if not since or is_new(values[at], now, since) then
      id = id + 1
      count_added = count_added + 1
      if row <= updates then
        append(values[at + 1], to_id(id), values[at + 2])
      else
        add_dead_letter(to_id(id), values[at + 1], now, values[at + 2])
      end
    end
    at = at + 3
  end
  added[batch] = count_added
end
call_with(nil, times, 'ZADD', fingerprints)
write_rows(ARGV, at, #ARGV)
store_appended()
wake(ARGV[1])
return added
`
).withReturnType<ReadonlyArray<number>>()

/**
 * The name of the store; key and ids of each partition; then the text of each update, its mark if one has a mark, and its journal
 * if one has a journal. A journal is the keys and rows, one after the other.
 */
export type Claimed = readonly [
  run: string,
  partitions: ReadonlyArray<readonly [key: string, ids: ReadonlyArray<string>]>,
  texts: ReadonlyArray<string | null>,
  marks: ReadonlyArray<string | null>,
  journals: ReadonlyArray<ReadonlyArray<string>>
]

/**
 * Arguments: sender, owner, duration of the lease, number of partitions, number of updates of each partition, how many
 * of these updates begin, a name for a store without a name, number of due rows. Returns what was
 * claimed.
 */
export const claim = script(
  holding,
  appending,
  writingRows,
  appendingDueRows,
  `
local sender, owner, duration, max_partitions, max_updates, begin, run, max_due = unpack(ARGV)
duration, max_partitions, max_updates = tonumber(duration), tonumber(max_partitions), tonumber(max_updates)
begin = tonumber(begin)
local now = read_clock()

-- Ends the leases that have expired, at most a thousand of them in a claim. What they leave is ready for the next claims.
local limit = 1000
for _, loser in ipairs(redis.call('ZRANGEBYSCORE', owners, '-inf', now, 'LIMIT', 0, 100)) do
  if limit <= 0 then break end
  local held = held_by(loser)
  local expired = redis.call('ZRANGEBYSCORE', held, '-inf', now, 'LIMIT', 0, limit)
  limit = limit - #expired
  for _, key in ipairs(expired) do
    for id in string.gmatch(string.match(redis.call('GET', leases .. key) or '', '^[%d,]*'), '%d+') do
      count_attempt(key, id, 1)
    end
    redis.call('DEL', leases .. key)
    redis.call('ZREM', held, key)
    give_back(key)
  end
  local first = redis.call('ZRANGE', held, 0, 0, 'WITHSCORES')[2]
  if first then redis.call('ZADD', owners, first, loser) else redis.call('ZREM', owners, loser) end
end

if max_due ~= '0' then append_due_rows(now, max_due) end

if redis.call('SETNX', name('run'), run) == 0 then run = redis.call('GET', name('run')) end
local partitions, all, records, ends, lease_end = {}, {}, {}, {}, to_id(now + duration)
local popped = max_partitions > 0 and redis.call('ZPOPMIN', ready, max_partitions) or {}
for at = 1, #popped, 2 do
  local key = popped[at]
  local ids = redis.call('LRANGE', queues .. key, 0, max_updates - 1)
  records[at], records[at + 1] = leases .. key, table.concat(ids, ',', 1, math.min(begin, #ids)) .. '|' .. owner
  ends[at], ends[at + 1] = lease_end, key
  partitions[#partitions + 1] = { key, ids }
  for _, id in ipairs(ids) do all[#all + 1] = id end
end
local texts, marked, flags, journals = {}, {}, {}, {}
if #popped > 0 then
  call_with(nil, records, 'MSET')
  call_with(nil, ends, 'ZADD', held_by(owner))
  local first = redis.call('ZSCORE', owners, owner)
  if not first or tonumber(first) > now + duration then redis.call('ZADD', owners, lease_end, owner) end
  call_with(texts, all, 'HMGET', updates)
  if redis.call('EXISTS', marks) == 1 then call_with(marked, all, 'HMGET', marks) end
  if redis.call('EXISTS', name('journaled')) == 1 then call_with(flags, all, 'SMISMEMBER', name('journaled')) end
  for at, flag in ipairs(flags) do journals[at] = flag == 1 and redis.call('HGETALL', name('journal:') .. all[at]) or {} end
end
wake(sender)
return { run, partitions, texts, marked, journals }
`
).withReturnType<Claimed>()

/**
 * Returns in how many milliseconds a claim can return partitions: 0 if a partition can be claimed now, nothing if the
 * time is unknown.
 */
export const untilNext = script(
  readingClock,
  `
if redis.call('EXISTS', ready) == 1 then return '0' end
local first = redis.call('ZRANGE', owners, 0, 0, 'WITHSCORES')[2]
local due_at = redis.call('ZRANGE', name('due'), 0, 0, 'WITHSCORES')[2]
if not first and not due_at then return false end
local at = math.min(tonumber(first or 'inf'), tonumber(due_at or 'inf'))
return to_id(math.max(0, at - read_clock()))
`
).withReturnType<string | null>()

/**
 * Arguments: sender, owner, duration of the lease, which is 0 to release all partitions. Returns the partitions that the owner
 * held.
 */
export const renew = script(
  holding,
  `
local sender, owner, duration = ARGV[1], ARGV[2], tonumber(ARGV[3])
local keys = redis.call('ZRANGE', held_by(owner), 0, -1)
local values, lease_end = {}, to_id(read_clock() + duration)
if duration > 0 then
  for index, key in ipairs(keys) do values[index * 2 - 1], values[index * 2] = lease_end, key end
  call_with(nil, values, 'ZADD', held_by(owner))
  if #keys > 0 then redis.call('ZADD', owners, lease_end, owner) end
else
  for index, key in ipairs(keys) do values[index] = leases .. key end
  call_with(nil, values, 'DEL')
  remove_held(owner, keys)
  for _, key in ipairs(keys) do give_back(key) end
  wake(sender)
end
return keys
`
).withReturnType<ReadonlyArray<string>>()

type Page = readonly [ids: ReadonlyArray<string>, stored: ReadonlyArray<string | null>]

/**
 * Arguments: id of the update before the first one, maximum number of updates, and the partition or nothing. Returns ids and
 * updates. Of all partitions, those without an owner are read in the order of their first update, until no other partition can
 * have an update of the page.
 */
export const queue = script(`
local after, limit, found, texts = tonumber(ARGV[1]), tonumber(ARGV[2]), {}, {}
local function read(key)
  local from, last, page = 0, #found + limit, {}
  repeat
    page = redis.call('LRANGE', queues .. key, from, from + 299)
    for _, id in ipairs(page) do if #found < last and tonumber(id) > after then found[#found + 1] = id end end
    from = from + 300
  until #page == 0 or #found == last
end
local function keep_first()
  table.sort(found, function(a, b) return tonumber(a) < tonumber(b) end)
  for at = #found, limit + 1, -1 do found[at] = nil end
end
local function read_ready(from)
  local keys = redis.call('ZRANGE', ready, from, from + 99, 'WITHSCORES')
  if #keys == 0 or (#found == limit and tonumber(keys[2]) > tonumber(found[limit])) then return end
  for at = 1, #keys, 2 do read(keys[at]) end
  keep_first()
  return read_ready(from + 100)
end
if ARGV[3] then
  read(ARGV[3])
else
  for _, owner in ipairs(redis.call('ZRANGE', owners, 0, -1)) do
    for _, key in ipairs(redis.call('ZRANGE', held_by(owner), 0, -1)) do read(key) end
  end
  keep_first()
  read_ready(0)
end
call_with(texts, found, 'HMGET', updates)
return { found, texts }
`).withReturnType<Page>()

/** Arguments: id of the dead letter before the first one, maximum number of dead letters. Returns ids and dead letters. */
export const deadLetters = script(`
local ids, stored = redis.call('ZRANGEBYSCORE', dead_letters, '(' .. ARGV[1], '+inf', 'LIMIT', '0', ARGV[2]), {}
call_with(stored, ids, 'HMGET', name('failures'))
return { ids, stored }
`).withReturnType<Page>()

/**
 * Arguments: how many held partitions are compared. Returns the number of queued updates, the number of dead letters, and the
 * oldest queued update.
 */
export const stats = script(`
local oldest
local function compare(key)
  local id = tonumber(redis.call('LINDEX', queues .. key, '0') or nil)
  if id and (not oldest or id < oldest) then oldest = id end
end
local limit, first = tonumber(ARGV[1]), redis.call('ZRANGE', ready, 0, 0)[1]
if first then compare(first) end
for _, owner in ipairs(redis.call('ZRANGE', owners, 0, -1)) do
  local keys = redis.call('ZRANGE', held_by(owner), 0, limit - 1)
  limit = math.max(0, limit - #keys)
  for _, key in ipairs(keys) do compare(key) end
end
return { redis.call('HLEN', updates), redis.call('ZCARD', dead_letters), oldest and redis.call('HGET', updates, to_id(oldest)) }
`).withReturnType<readonly [queued: number, deadLetters: number, oldest?: string | null]>()
