import * as Redis from "effect/persistence/Redis"

/*
 * All keys start with the prefix, which is one hash slot of a cluster:
 *
 * run                  the name of the store, which is new after the data was lost
 * seq                  the last id
 * queued               the number of queued updates
 * queue:KEY            list of the updates of a partition, in order: three values for each, its id, its mark and its text
 * ready                partitions that have a queued update and no owner, by the id of their first update
 * leases               partition -> ids of the updates that are begun, separated by commas, `|`, and the owner
 * held:OWNER           partitions that the owner holds, by the end of the lease
 * owners               owners that hold partitions, by a time that is not after the end of any of their leases
 * fingerprints         fingerprints, by the time when they were received
 * dead_letters         ids of dead letters, in order
 * dead_letters_by_time ids of dead letters, by the time of the failure
 * dead_letter_updates  id -> update of a dead letter
 * failures             id -> failure of a dead letter
 * markers              source -> marker
 *
 * The mark of an update is empty, the numbers of its attempts and crashes (`2:1`), or `x` when it is completed and updates
 * before it are not. Times of leases are milliseconds of the clock of the server. The channel `wake` gets a message, the
 * name of the sender, when `ready` is no longer empty.
 */
const prelude = `
local function name(part) return KEYS[1] .. ':' .. part end
local ready, leases, owners, dead_letters = name('ready'), name('leases'), name('owners'), name('dead_letters')
local function queue(key) return name('queue:' .. key) end
local function held_by(owner) return name('held:' .. owner) end
local function to_id(number) return string.format('%.0f', number) end
local function reserve_ids(count)
  local last = redis.call('INCRBY', name('seq'), count)
  if last == count then
    -- The first id is the time in microseconds, so that no id of the data that was lost is used again.
    local time = redis.call('TIME')
    last = redis.call('INCRBY', name('seq'), to_id(time[1] * 1000000 + time[2]))
  end
  return last - count
end
-- Calls a command with many values, a thousand at a time.
local function call_with(command, key, values)
  for at = 1, #values, 1000 do redis.call(command, key, unpack(values, at, math.min(at + 999, #values))) end
end
local was_empty
local function make_ready(key, head)
  if was_empty == nil then was_empty = redis.call('EXISTS', ready) == 0 end
  redis.call('ZADD', ready, head, key)
end
-- Consumers that found partitions claim again, so that only those that found none have to be woken.
local function wake(sender)
  if was_empty and redis.call('EXISTS', ready) == 1 then redis.pcall('PUBLISH', name('wake'), sender) end
end
`

const appending = `
local function append(key, id, mark, update)
  if redis.call('RPUSH', queue(key), id, mark, update) == 3 and redis.call('HEXISTS', leases, key) == 0 then
    make_ready(key, id)
  end
end
`

const addingDeadLetters = `
local function add_dead_letter(id, update, failed_at, failure)
  redis.call('ZADD', dead_letters, id, id)
  redis.call('ZADD', name('dead_letters_by_time'), failed_at, id)
  redis.call('HSET', name('dead_letter_updates'), id, update)
  redis.call('HSET', name('failures'), id, failure)
end
`

const removingDeadLetters = `
local function remove_dead_letter(id)
  if redis.call('ZREM', dead_letters, id) == 0 then return false end
  redis.call('ZREM', name('dead_letters_by_time'), id)
  redis.call('HDEL', name('failures'), id)
  local update = redis.call('HGET', name('dead_letter_updates'), id)
  redis.call('HDEL', name('dead_letter_updates'), id)
  return update or ''
end
`

const holding = `
-- The place of an update in its queue. The ids of a queue ascend.
local function place_of(key, id, first)
  local number, low, high = tonumber(id), first, redis.call('LLEN', key) / 3 - 1
  while low <= high do
    local middle = math.floor((low + high) / 2)
    local other = tonumber(redis.call('LINDEX', key, middle * 3))
    if other == number then return middle end
    if not other or other > number then high = middle - 1 else low = middle + 1 end
  end
end
local function count_attempt(key, id, crashes)
  local place = place_of(queue(key), id, 0)
  local mark = place and redis.call('LINDEX', queue(key), place * 3 + 1)
  if not mark or mark == 'x' then return end
  local attempts, crashed = string.match(mark, '^(%d+):(%d+)$')
  mark = to_id((attempts or 0) + 1) .. ':' .. to_id((crashed or 0) + crashes)
  redis.call('LSET', queue(key), place * 3 + 1, mark)
end
-- Makes a partition that has lost its owner ready, if it has a queued update.
local function give_back(key)
  while true do
    local head = redis.call('LRANGE', queue(key), 0, 1)
    if not head[1] then return end
    if head[2] ~= 'x' then return make_ready(key, head[1]) end
    redis.call('LTRIM', queue(key), 3, -1)
  end
end
local function read_clock()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
`

const script = (...parts: ReadonlyArray<string>) =>
  Redis.script((prefix: string, args: ReadonlyArray<string>) => [prefix, ...args], {
    numberOfKeys: 1,
    lua: [prelude, ...parts].join("")
  })

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
local fingerprints = name('fingerprints')
local function is_new(fingerprint, now, since)
  if since == '' or redis.call('ZADD', fingerprints, 'NX', now, fingerprint) == 1 then return true end
  if tonumber(redis.call('ZSCORE', fingerprints, fingerprint)) >= tonumber(since) then return false end
  redis.call('ZADD', fingerprints, now, fingerprint)
  return true
end
local count = tonumber(ARGV[3])
local id, at, queued, added = count > 0 and reserve_ids(count) or 0, 4, 0, {}
for batch = 1, tonumber(ARGV[2]) do
  local updates, failed, now, since = unpack(ARGV, at, at + 3)
  at = at + 4
  local added_updates, added_dead_letters = 0, 0
  for _ = 1, tonumber(updates) do
    if is_new(ARGV[at], now, since) then
      id = id + 1
      append(ARGV[at + 1], to_id(id), '', ARGV[at + 2])
      added_updates = added_updates + 1
    end
    at = at + 3
  end
  for _ = 1, tonumber(failed) do
    if is_new(ARGV[at], now, since) then
      id = id + 1
      add_dead_letter(to_id(id), ARGV[at + 1], now, ARGV[at + 2])
      added_dead_letters = added_dead_letters + 1
    end
    at = at + 3
  end
  queued = queued + added_updates
  added[batch] = added_updates + added_dead_letters
end
for marker = at, #ARGV, 2 do redis.call('HSET', name('markers'), ARGV[marker], ARGV[marker + 1]) end
if queued > 0 then redis.call('INCRBY', name('queued'), queued) end
wake(ARGV[1])
return added
`
).withReturnType<ReadonlyArray<number>>()

/** The key of a partition, then id, mark and text of each update. */
export type Claimed = readonly [key: string, updates: ReadonlyArray<string>]

/**
 * Arguments: sender, owner, duration of the lease, number of partitions, number of updates of each partition, how many of
 * them begin, a name for the store if it has none. Returns the name of the store, then the partitions.
 */
export const claim = script(
  holding,
  `
local sender, owner, duration, max_partitions, max_updates, begin, run = unpack(ARGV)
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
    for id in string.gmatch(string.match(redis.call('HGET', leases, key) or '', '^[%d,]*'), '%d+') do
      count_attempt(key, id, 1)
    end
    redis.call('HDEL', leases, key)
    redis.call('ZREM', held, key)
    give_back(key)
  end
  local first = redis.call('ZRANGE', held, 0, 0, 'WITHSCORES')[2]
  if first then redis.call('ZADD', owners, first, loser) else redis.call('ZREM', owners, loser) end
end

local function first_updates(key)
  local all = redis.call('LRANGE', key, 0, max_updates * 3 - 1)
  local is_complete = true
  for at = 2, #all, 3 do if all[at] == 'x' then is_complete = false break end end
  if is_complete then return all end
  local queued, from = {}, 0
  while #all > 0 do
    for at = 1, #all, 3 do
      if all[at + 1] ~= 'x' then
        for offset = 0, 2 do queued[#queued + 1] = all[at + offset] end
        if #queued == max_updates * 3 then return queued end
      end
    end
    from = from + max_updates * 3
    all = redis.call('LRANGE', key, from, from + max_updates * 3 - 1)
  end
  return queued
end

local current = redis.call('GET', name('run'))
if not current then
  redis.call('SET', name('run'), run)
  current = run
end
local reply, records, ends = { current }, {}, {}
local popped = max_partitions > 0 and redis.call('ZPOPMIN', ready, max_partitions) or {}
for at = 1, #popped, 2 do
  local key = popped[at]
  local updates = first_updates(queue(key))
  local begun = updates[1] and begin > 0 and updates[1] or ''
  for index = 2, math.min(begin, #updates / 3) do begun = begun .. ',' .. updates[index * 3 - 2] end
  records[at], records[at + 1] = key, begun .. '|' .. owner
  ends[at], ends[at + 1] = now + duration, key
  reply[#reply + 1] = { key, updates }
end
if #popped > 0 then
  call_with('HSET', leases, records)
  call_with('ZADD', held_by(owner), ends)
  local first = redis.call('ZSCORE', owners, owner)
  if not first or tonumber(first) > now + duration then redis.call('ZADD', owners, now + duration, owner) end
elseif redis.call('EXISTS', leases, ready) == 0 then
  -- Corrects the number after queues were deleted by hand.
  redis.call('DEL', name('queued'))
end
wake(sender)
return reply
`
).withReturnType<readonly [run: string, ...partitions: ReadonlyArray<Claimed>]>()

/**
 * Arguments: sender; for each commit its owner, its partition, the ids that are completed, failed and begun, separated by
 * commas, whether it releases (1 or 0), the number of its dead letters, and id, time of the failure and failure of each of
 * them. Returns 1 for each commit that was applied and 0 for each whose lease is lost.
 */
export const commit = script(
  addingDeadLetters,
  holding,
  `
local commits, at = {}, 2
local keys, known = {}, {}
while at <= #ARGV do
  commits[#commits + 1] = at
  local key = ARGV[at + 1]
  if known[key] == nil then
    known[key] = false
    keys[#keys + 1] = key
  end
  at = at + 7 + 3 * tonumber(ARGV[at + 6])
end
-- The records of the leases are read once, changed here, and written once.
local records, changed, done = known, {}, 0
for from = 1, #keys, 1000 do
  local to = math.min(from + 999, #keys)
  local values = redis.call('HMGET', leases, unpack(keys, from, to))
  for index = from, to do records[keys[index]] = values[index - from + 1] end
end

-- Completes an update. Returns the number of completed updates at the front of the queue, which are removed together.
local function complete(list, id, front, failed_at, failure)
  local head = redis.call('LRANGE', list, front * 3, front * 3 + 1)
  while head[2] == 'x' do
    front = front + 1
    head = redis.call('LRANGE', list, front * 3, front * 3 + 1)
  end
  local is_first = head[1] == id
  local place = is_first and front or place_of(list, id, front + 1)
  if not place or not is_first and redis.call('LINDEX', list, place * 3 + 1) == 'x' then return front end
  done = done + 1
  if failure then add_dead_letter(id, redis.call('LINDEX', list, place * 3 + 2), failed_at, failure) end
  if is_first then return front + 1 end
  redis.call('LSET', list, place * 3 + 1, 'x')
  redis.call('LSET', list, place * 3 + 2, '')
  return front
end

local function without(begun, ended)
  if begun == ended then return '' end
  local is_ended, kept = {}, {}
  for id in string.gmatch(ended, '%d+') do is_ended[id] = true end
  for id in string.gmatch(begun, '%d+') do if not is_ended[id] then kept[#kept + 1] = id end end
  return table.concat(kept, ',')
end

local results, released = {}, {}
for index, at in ipairs(commits) do
  local owner, key, completed, failed, begun, is_release = unpack(ARGV, at, at + 5)
  local record = records[key]
  local bar = record and string.find(record, '|', 1, true)
  if bar and string.sub(record, bar + 1) == owner then
    results[index] = 1
    local list, front = queue(key), 0
    local running, ended = string.sub(record, 1, bar - 1), completed
    if completed ~= '' then
      for id in string.gmatch(completed, '%d+') do front = complete(list, id, front) end
    end
    for letter = at + 7, at + 4 + 3 * tonumber(ARGV[at + 6]), 3 do
      front = complete(list, ARGV[letter], front, ARGV[letter + 1], ARGV[letter + 2])
      ended = ended .. ',' .. ARGV[letter]
    end
    if front > 0 then redis.call('LTRIM', list, front * 3, -1) end
    if failed ~= '' then
      for id in string.gmatch(failed, '%d+') do count_attempt(key, id, 0) end
      ended = ended .. ',' .. failed
    end
    if is_release == '1' then
      records[key], changed[key] = false, true
      if not released[owner] then released[owner] = {} end
      table.insert(released[owner], key)
      give_back(key)
    else
      if ended ~= '' then running = without(running, ended) end
      if begun ~= '' and running ~= '' then running = without(running, begun) end
      if begun ~= '' then running = running == '' and begun or running .. ',' .. begun end
      local next_record = running .. '|' .. owner
      if next_record ~= record then records[key], changed[key] = next_record, true end
    end
  else
    results[index] = 0
  end
end

local written, removed = {}, {}
for _, key in ipairs(keys) do
  if changed[key] and records[key] then
    written[#written + 1] = key
    written[#written + 1] = records[key]
  elseif changed[key] then
    removed[#removed + 1] = key
  end
end
call_with('HSET', leases, written)
call_with('HDEL', leases, removed)
for owner, partitions in pairs(released) do call_with('ZREM', held_by(owner), partitions) end
if done > 0 then redis.call('DECRBY', name('queued'), done) end
wake(ARGV[1])
return results
`
).withReturnType<ReadonlyArray<number>>()

/** Arguments: owner, duration of the lease. Returns the partitions that the owner holds. */
export const renew = script(
  holding,
  `
local held, lease_end = held_by(ARGV[1]), read_clock() + tonumber(ARGV[2])
local keys, ends = redis.call('ZRANGE', held, 0, -1), {}
for index, key in ipairs(keys) do ends[index * 2 - 1], ends[index * 2] = lease_end, key end
call_with('ZADD', held, ends)
if #keys > 0 then redis.call('ZADD', owners, lease_end, ARGV[1]) end
return keys
`
).withReturnType<ReadonlyArray<string>>()

/** Arguments: sender, owner, maximum number of partitions. Returns 1 if there may be more. */
export const release = script(
  holding,
  `
local held = held_by(ARGV[2])
local keys = redis.call('ZRANGE', held, 0, ARGV[3] - 1)
call_with('HDEL', leases, keys)
call_with('ZREM', held, keys)
for _, key in ipairs(keys) do give_back(key) end
if #keys < tonumber(ARGV[3]) then redis.call('ZREM', owners, ARGV[2]) end
wake(ARGV[1])
return #keys == tonumber(ARGV[3]) and 1 or 0
`
).withReturnType<number>()

/**
 * Arguments: how many held partitions are compared. Returns the number of queued updates, the number of dead letters, and
 * the text of the oldest queued update.
 */
export const stats = script(`
local oldest_id, oldest_key
local function compare(key)
  local id = tonumber(redis.call('LINDEX', queue(key), 0) or nil)
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
  local list, place = queue(oldest_key), 0
  while redis.call('LINDEX', list, place * 3 + 1) == 'x' do place = place + 1 end
  text = redis.call('LINDEX', list, place * 3 + 2)
end
return { queued, redis.call('ZCARD', dead_letters), text }
`).withReturnType<readonly [queued: number, deadLetters: number, oldest?: string | null]>()

export type DeadLetter = readonly [id: string, update: string | null, failure: string | null]

/** Arguments: the last id of the page before, page size. */
export const deadLetters = script(`
local page = {}
for _, id in ipairs(redis.call('ZRANGEBYSCORE', dead_letters, '(' .. ARGV[1], '+inf', 'LIMIT', 0, ARGV[2])) do
  page[#page + 1] = { id, redis.call('HGET', name('dead_letter_updates'), id), redis.call('HGET', name('failures'), id) }
end
return page
`).withReturnType<ReadonlyArray<DeadLetter>>()

/** Arguments: sender; id, partition key and number of attempts of each dead letter. Returns how many existed. */
export const replay = script(
  appending,
  removingDeadLetters,
  `
local count = 0
for at = 2, #ARGV, 3 do
  local update = remove_dead_letter(ARGV[at])
  if update then
    count = count + 1
    append(ARGV[at + 1], to_id(reserve_ids(1) + 1), ARGV[at + 2] == '0' and '' or ARGV[at + 2] .. ':0', update)
  end
end
if count > 0 then redis.call('INCRBY', name('queued'), count) end
wake(ARGV[1])
return count
`
).withReturnType<number>()

/** Arguments: ids. Returns how many dead letters existed. */
export const drop = script(
  removingDeadLetters,
  `
local count = 0
for _, id in ipairs(ARGV) do if remove_dead_letter(id) then count = count + 1 end end
return count
`
).withReturnType<number>()

/** Arguments: the two times, maximum number of rows to delete. Returns 1 if there may be more. */
export const cleanup = script(
  removingDeadLetters,
  `
local limit = tonumber(ARGV[3])
local old = math.min(limit, redis.call('ZCOUNT', name('fingerprints'), '-inf', '(' .. ARGV[1]))
if old > 0 then redis.call('ZREMRANGEBYRANK', name('fingerprints'), 0, old - 1) end
local ids = redis.call('ZRANGEBYSCORE', name('dead_letters_by_time'), '-inf', '(' .. ARGV[2], 'LIMIT', 0, limit)
for _, id in ipairs(ids) do remove_dead_letter(id) end
return math.max(old, #ids) == limit and 1 or 0
`
).withReturnType<number>()
