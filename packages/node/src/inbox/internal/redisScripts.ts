import { addingJournals, type Packed } from "./journal/redisJournals.ts"
import { movingTimers } from "./timers/redisTimers.ts"
import { addingDeadLetters } from "./redisDeadLetters.ts"
import { readingClock } from "../../base/internal/stores/redis.ts"
import { appending, holding, script } from "./redisLua.ts"

/**
 * Arguments: sender, number of batches, number of all updates and dead letters; for each batch the number of its updates
 * and of its dead letters, the time, and the time since which a fingerprint is a duplicate, or nothing; then fingerprint,
 * partition key and text of its updates, and fingerprint, text and failure of its dead letters; then two values for each
 * marker. Returns how many updates and dead letters of each batch were added.
 */
export const enqueue = script(
  appending,
  addingDeadLetters,
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

local id, queued, added = values[3] ~= '0' and reserve_ids(tonumber(values[3])) or 0, 0, {}
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
        queued = queued + 1
        append(values[at + 1], to_id(id), '', values[at + 2])
      else
        add_dead_letter(to_id(id), values[at + 1], now, values[at + 2])
      end
    end
    at = at + 3
  end
  added[batch] = count_added
end
call_with(nil, times, 'ZADD', fingerprints)
for marker = at, #ARGV, 2 do redis.call('HSET', name('markers'), ARGV[marker], ARGV[marker + 1]) end
if queued > 0 then redis.call('INCRBY', name('queued'), queued) end
wake(ARGV[1])
return added
`
).withReturnType<ReadonlyArray<number>>()

/** The key of a partition, then id, mark and text of each update. If updates have journals, they follow with their ids. */
export type Claimed = readonly [
  key: string,
  updates: ReadonlyArray<string>,
  journals?: ReadonlyArray<readonly [id: string, journal: Packed]>
]

/**
 * Arguments: sender, owner, duration of the lease, number of partitions, number of updates of each partition, how many
 * of these updates begin, a name for a store without a name, number of timers. Returns the name of the store, then the
 * partitions.
 */
export const claim = script(
  holding,
  `
local sender, owner, duration, max_partitions, max_updates, begin, run, max_timers = unpack(ARGV)
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

local current, has_journals, next_timer = unpack(redis.call('MGET', name('run'), name('has_journals'), name('next_timer')))
if next_timer and max_timers ~= '0' and tonumber(next_timer) <= now then
  ${appending}${movingTimers}
  move_timers(now, max_timers)
end

local function is_completed(id) return string.byte(id) == 120 end
local function first_updates(list)
  local all = redis.call('LRANGE', list, 0, max_updates * 3 - 1)
  local is_simple = true
  for at = 1, #all, 3 do is_simple = is_simple and not is_completed(all[at]) end
  if is_simple then return all end
  local queued, from = {}, 0
  while #all > 0 do
    for at = 1, #all, 3 do
      if not is_completed(all[at]) then
        for offset = 0, 2 do queued[#queued + 1] = all[at + offset] end
        if #queued == max_updates * 3 then return queued end
      end
    end
    from = from + max_updates * 3
    all = redis.call('LRANGE', list, from, from + max_updates * 3 - 1)
  end
  return queued
end

if not current then
  redis.call('SET', name('run'), run)
  current = run
end
local reply, records, ends, lease_end = { current }, {}, {}, to_id(now + duration)
local popped = max_partitions > 0 and redis.call('ZPOPMIN', ready, max_partitions) or {}
for at = 1, #popped, 2 do
  local key = popped[at]
  local updates = first_updates(queues .. key)
  local begun = updates[1] and begin > 0 and updates[1] or ''
  for index = 2, math.min(begin, #updates / 3) do begun = begun .. ',' .. updates[index * 3 - 2] end
  records[at], records[at + 1] = leases .. key, begun .. '|' .. owner
  ends[at], ends[at + 1] = lease_end, key
  reply[#reply + 1] = { key, updates }
end
if #popped > 0 then
  call_with(nil, records, 'MSET')
  call_with(nil, ends, 'ZADD', held_by(owner))
  local first = redis.call('ZSCORE', owners, owner)
  if not first or tonumber(first) > now + duration then redis.call('ZADD', owners, lease_end, owner) end
  if has_journals then
    ${addingJournals}
    add_journals(reply)
  end
elseif redis.call('EXISTS', owners, ready) == 0 then
  -- Corrects the number after queues were deleted by hand.
  redis.call('DEL', name('queued'))
end
wake(sender)
return reply
`
).withReturnType<readonly [run: string, ...partitions: ReadonlyArray<Claimed>]>()

/**
 * Returns in how many milliseconds a claim can return partitions: 0 if a partition can be claimed now, nothing if the
 * time is unknown.
 */
export const untilClaimable = script(
  readingClock,
  `
if redis.call('EXISTS', ready) == 1 then return '0' end
local first = redis.call('ZRANGE', owners, 0, 0, 'WITHSCORES')[2]
local due_at = redis.call('GET', name('next_timer'))
if not first and not due_at then return false end
local at = math.min(tonumber(first or 'inf'), tonumber(due_at or 'inf'))
return to_id(math.max(0, at - read_clock()))
`
).withReturnType<string | null>()

/** Arguments: owner, duration of the lease. Returns the partitions that the owner holds. */
export const renew = script(
  holding,
  `
local held, lease_end = held_by(ARGV[1]), to_id(read_clock() + tonumber(ARGV[2]))
local keys, ends = redis.call('ZRANGE', held, 0, -1), {}
for index, key in ipairs(keys) do ends[index * 2 - 1], ends[index * 2] = lease_end, key end
call_with(nil, ends, 'ZADD', held)
if #keys > 0 then redis.call('ZADD', owners, lease_end, ARGV[1]) end
return keys
`
).withReturnType<ReadonlyArray<string>>()

/** Arguments: sender, owner, maximum number of partitions. Returns 1 if there may be more. */
export const release = script(
  holding,
  `
local keys = redis.call('ZRANGE', held_by(ARGV[2]), 0, ARGV[3] - 1)
local names = {}
for index, key in ipairs(keys) do names[index] = leases .. key end
call_with(nil, names, 'DEL')
remove_held(ARGV[2], keys)
for _, key in ipairs(keys) do give_back(key) end
wake(ARGV[1])
return #keys == tonumber(ARGV[3]) and 1 or 0
`
).withReturnType<number>()

/**
 * Arguments: partition, id of the update before the first one, maximum number of updates. Returns id, mark and text of each
 * queued update.
 */
export const queuedAfter = script(`
local list, after, limit = queues .. ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local queued, from, page = {}, 0, {}
repeat
  page = redis.call('LRANGE', list, from, from + 299)
  for at = 1, #page, 3 do
    local id = tonumber(page[at])
    if id and id > after then
      for offset = 0, 2 do queued[#queued + 1] = page[at + offset] end
      if #queued == limit * 3 then return queued end
    end
  end
  from = from + 300
until #page == 0
return queued
`).withReturnType<ReadonlyArray<string>>()

/**
 * Arguments: id of the update before the first one, maximum number of updates. Returns id, mark and text of each queued
 * update of all partitions. The partitions without an owner are read in the order of their first update, until no other
 * partition can have an update of the page.
 */
export const queued = script(`
local after, limit = tonumber(ARGV[1]), tonumber(ARGV[2])
local found = {}
local function read(key)
  local from, taken, page = 0, 0, {}
  repeat
    page = redis.call('LRANGE', queues .. key, from, from + 299)
    for at = 1, #page, 3 do
      local id = tonumber(page[at])
      if id and id > after then
        found[#found + 1] = { id, page[at], page[at + 1], page[at + 2] }
        taken = taken + 1
        if taken == limit then return end
      end
    end
    from = from + 300
  until #page == 0
end
local function keep_first()
  table.sort(found, function(a, b) return a[1] < b[1] end)
  for at = #found, limit + 1, -1 do found[at] = nil end
end
for _, owner in ipairs(redis.call('ZRANGE', owners, 0, -1)) do
  for _, key in ipairs(redis.call('ZRANGE', held_by(owner), 0, -1)) do read(key) end
end
keep_first()
local from = 0
local keys = redis.call('ZRANGE', ready, 0, 99, 'WITHSCORES')
while #keys > 0 and (#found < limit or tonumber(keys[2]) < found[limit][1]) do
  for at = 1, #keys, 2 do read(keys[at]) end
  keep_first()
  from = from + 100
  keys = redis.call('ZRANGE', ready, from, from + 99, 'WITHSCORES')
end
local reply = {}
for _, entry in ipairs(found) do
  for part = 2, 4 do reply[#reply + 1] = entry[part] end
end
return reply
`).withReturnType<ReadonlyArray<string>>()

/**
 * Arguments: how many held partitions are compared. Returns the number of queued updates, the number of dead letters, and
 * the text of the oldest queued update.
 */
export const stats = script(`
local oldest_id, oldest_key
local function compare(key)
  local id = tonumber(string.match(redis.call('LINDEX', queues .. key, 0) or '', '%d+'))
  if id and (not oldest_id or id < oldest_id) then oldest_id, oldest_key = id, key end
end
local first = redis.call('ZRANGE', ready, 0, 0)[1]
if first then compare(first) end
local limit = tonumber(ARGV[1])
for _, owner in ipairs(redis.call('ZRANGE', owners, 0, limit - 1)) do
  if limit <= 0 then break end
  local keys = redis.call('ZRANGE', held_by(owner), 0, limit - 1)
  limit = limit - #keys - 1
  for _, key in ipairs(keys) do compare(key) end
end
local queued = tonumber(redis.call('GET', name('queued')) or 0)
local text
if oldest_key then
  local list, place = queues .. oldest_key, 0
  while string.sub(redis.call('LINDEX', list, place * 3) or '', 1, 1) == 'x' do place = place + 1 end
  text = redis.call('LINDEX', list, place * 3 + 2)
end
return { queued, redis.call('ZCARD', dead_letters), text }
`).withReturnType<readonly [queued: number, deadLetters: number, oldest?: string | null]>()
