import * as Redis from "effect/persistence/Redis"

/*
 * All keys start with the prefix, which is one hash slot of a cluster:
 *
 * run                  the name of the store, which is new after the data was lost
 * seq                  the last id
 * updates              id -> update, of queued updates and dead letters
 * partition:KEY        list of the ids that are queued in a partition, in order
 * ready                partitions that have a queued update and no owner, by the id of their first update
 * owners               partition -> owner
 * leases               partitions that have an owner, by the end of the lease
 * fingerprints         fingerprints, by the time when they were received
 * dead_letters         ids of dead letters, in order
 * dead_letters_by_time ids of dead letters, by the time of the failure
 * failures             id -> failure of a dead letter
 * attempts             id -> attempts of a queued update that began before
 * crashes              id -> how many of these ended because the process died
 * begun:KEY            ids of the updates of a claimed partition whose attempt is running
 * markers              source -> marker
 */
const prelude = `
local function name(part) return KEYS[1] .. ':' .. part end
local updates, ready, owners, leases = name('updates'), name('ready'), name('owners'), name('leases')
local fingerprints, failures = name('fingerprints'), name('failures')
local dead_letters, dead_letters_by_time = name('dead_letters'), name('dead_letters_by_time')
local attempts, crashes = name('attempts'), name('crashes')
local function partition(key) return name('partition:' .. key) end
local function begun(key) return name('begun:' .. key) end
local function clock()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
local function next_id()
  local id = redis.call('INCR', name('seq'))
  if id == 1 then
    -- The first id is the time in microseconds, so that no id of the data that was lost is used again.
    local time = redis.call('TIME')
    id = redis.call('INCRBY', name('seq'), string.format('%.0f', time[1] * 1000000 + time[2]))
  end
  return string.format('%.0f', id)
end
local function append(key, update, made_attempts)
  local id = next_id()
  redis.call('HSET', updates, id, update)
  if made_attempts then redis.call('HSET', attempts, id, made_attempts) end
  if redis.call('RPUSH', partition(key), id) == 1 and redis.call('HEXISTS', owners, key) == 0 then
    redis.call('ZADD', ready, id, key)
  end
end
local function add_dead_letter(id, failed_at, failure)
  redis.call('HSETNX', updates, id, '')
  redis.call('ZADD', dead_letters, id, id)
  redis.call('ZADD', dead_letters_by_time, failed_at, id)
  redis.call('HSET', failures, id, failure)
end
local function remove_dead_letter(id)
  if redis.call('ZREM', dead_letters, id) == 0 then return false end
  redis.call('ZREM', dead_letters_by_time, id)
  redis.call('HDEL', failures, id)
  local update = redis.call('HGET', updates, id)
  redis.call('HDEL', updates, id)
  return update
end
local function release(key)
  redis.call('DEL', begun(key))
  redis.call('HDEL', owners, key)
  redis.call('ZREM', leases, key)
  local head = redis.call('LINDEX', partition(key), 0)
  if head then redis.call('ZADD', ready, head, key) end
end
`

const script = (lua: string) =>
  Redis.script((prefix: string, args: ReadonlyArray<string>) => [prefix, ...args], {
    numberOfKeys: 1,
    lua: prelude + lua
  })

/**
 * Arguments: the number of updates, seven values for each update, two values for each marker. Returns 1 for each update
 * that was added and 0 for each duplicate.
 */
export const enqueue = script(`
local at, added = 2, {}
for index = 1, tonumber(ARGV[1]) do
  local fingerprint, now, since, key, update, failed_at, failure = unpack(ARGV, at, at + 6)
  at = at + 7
  local seen_at = since ~= '' and redis.call('ZSCORE', fingerprints, fingerprint)
  if seen_at and tonumber(seen_at) >= tonumber(since) then
    added[index] = 0
  else
    added[index] = 1
    if since ~= '' then redis.call('ZADD', fingerprints, now, fingerprint) end
    if failed_at == '' then
      append(key, update)
    else
      local id = next_id()
      redis.call('HSET', updates, id, update)
      add_dead_letter(id, failed_at, failure)
    end
  end
end
for marker = at, #ARGV, 2 do redis.call('HSET', name('markers'), ARGV[marker], ARGV[marker + 1]) end
return added
`).withReturnType<ReadonlyArray<number>>()

/** The key of a partition, then for each update its id, the update or `null`, its attempts and its crashes. */
export type Claimed = readonly [key: string, ...rest: ReadonlyArray<string | null>]

/**
 * Arguments: owner, duration of the lease, number of partitions, number of updates of each partition, how many of these are
 * begun, a name for the store if it has none. Returns the name of the store, then the partitions.
 */
export const claim = script(`
local owner, duration, max_partitions, max_updates, begin, run = unpack(ARGV)
local now = clock()
redis.call('SETNX', name('run'), run)
for _, key in ipairs(redis.call('ZRANGEBYSCORE', leases, '-inf', now)) do
  for _, id in ipairs(redis.call('SMEMBERS', begun(key))) do
    redis.call('HINCRBY', attempts, id, 1)
    redis.call('HINCRBY', crashes, id, 1)
  end
  release(key)
end
local claimed = { redis.call('GET', name('run')) }
for _, key in ipairs(redis.call('ZRANGE', ready, 0, max_partitions - 1)) do
  redis.call('ZREM', ready, key)
  redis.call('HSET', owners, key, owner)
  redis.call('ZADD', leases, now + duration, key)
  local entries = { key }
  for place, id in ipairs(redis.call('LRANGE', partition(key), 0, max_updates - 1)) do
    if place <= tonumber(begin) then redis.call('SADD', begun(key), id) end
    entries[#entries + 1] = id
    entries[#entries + 1] = redis.call('HGET', updates, id)
    entries[#entries + 1] = redis.call('HGET', attempts, id)
    entries[#entries + 1] = redis.call('HGET', crashes, id)
  end
  claimed[#claimed + 1] = entries
end
return claimed
`).withReturnType<readonly [run: string, ...partitions: ReadonlyArray<Claimed>]>()

/**
 * Arguments for each commit: owner, key, release as 1 or 0, the number of values that follow. Then for each change its kind
 * and its id: `ack`, `fail`, `begin`, or `dead` with two more values. Returns 1 for each commit that was applied and 0 for
 * each whose owner does not hold the partition.
 */
export const commit = script(`
local at, results = 1, {}
while at <= #ARGV do
  local owner, key, is_release, count = unpack(ARGV, at, at + 3)
  at = at + 4
  local last = at + tonumber(count) - 1
  if redis.call('HGET', owners, key) == owner then
    while at <= last do
      local kind, id = ARGV[at], ARGV[at + 1]
      at = at + 2
      if kind == 'ack' or kind == 'dead' then
        if redis.call('LREM', partition(key), 1, id) == 1 then
          redis.call('SREM', begun(key), id)
          redis.call('HDEL', attempts, id)
          redis.call('HDEL', crashes, id)
          if kind == 'ack' then redis.call('HDEL', updates, id) else add_dead_letter(id, ARGV[at], ARGV[at + 1]) end
        end
        if kind == 'dead' then at = at + 2 end
      elseif redis.call('LPOS', partition(key), id) then
        if kind == 'fail' then
          redis.call('SREM', begun(key), id)
          redis.call('HINCRBY', attempts, id, 1)
        else
          redis.call('SADD', begun(key), id)
        end
      end
    end
    if is_release == '1' then release(key) end
    results[#results + 1] = 1
  else
    results[#results + 1] = 0
  end
  at = last + 1
end
return results
`).withReturnType<ReadonlyArray<number>>()

/** Arguments: owner, duration of the lease. Returns the keys of its partitions. */
export const renew = script(`
local all, held, lease_until = redis.call('HGETALL', owners), {}, clock() + ARGV[2]
for at = 1, #all, 2 do
  if all[at + 1] == ARGV[1] then
    redis.call('ZADD', leases, lease_until, all[at])
    held[#held + 1] = all[at]
  end
end
return held
`).withReturnType<ReadonlyArray<string>>()

/** Arguments: owner. */
export const releaseAll = script(`
local all = redis.call('HGETALL', owners)
for at = 1, #all, 2 do if all[at + 1] == ARGV[1] then release(all[at]) end end
`)

/** Returns the number of queued updates, the number of dead letters, and when the oldest queued update was received. */
export const stats = script(`
local first = tonumber(redis.call('ZRANGE', ready, 0, 0, 'WITHSCORES')[2])
for _, key in ipairs(redis.call('ZRANGE', leases, 0, -1)) do
  local head = tonumber(redis.call('LINDEX', partition(key), 0) or nil)
  if head and (not first or head < first) then first = head end
end
local count = redis.call('ZCARD', dead_letters)
local update = first and redis.call('HGET', updates, string.format('%.0f', first))
return { redis.call('HLEN', updates) - count, count, update and string.match(update, '^%[(-?%d+)') }
`).withReturnType<readonly [queued: number, deadLetters: number, oldest?: string | null]>()

export type DeadLetter = readonly [id: string, update: string | null, failure: string | null]

/** Arguments: the last id of the page before, page size. */
export const deadLetters = script(`
local page = {}
for _, id in ipairs(redis.call('ZRANGEBYSCORE', dead_letters, '(' .. ARGV[1], '+inf', 'LIMIT', 0, ARGV[2])) do
  page[#page + 1] = { id, redis.call('HGET', updates, id), redis.call('HGET', failures, id) }
end
return page
`).withReturnType<ReadonlyArray<DeadLetter>>()

/** Arguments: id, partition key and number of attempts of each dead letter. Returns how many existed. */
export const replay = script(`
local count = 0
for at = 1, #ARGV, 3 do
  local update = remove_dead_letter(ARGV[at])
  if update then
    count = count + 1
    append(ARGV[at + 1], update, ARGV[at + 2])
  end
end
return count
`).withReturnType<number>()

/** Arguments: ids. Returns how many dead letters existed. */
export const drop = script(`
local count = 0
for _, id in ipairs(ARGV) do if remove_dead_letter(id) then count = count + 1 end end
return count
`).withReturnType<number>()

/** Arguments: the two times, maximum number of rows to delete. Returns 1 if there may be more. */
export const cleanup = script(`
local old = redis.call('ZRANGEBYSCORE', fingerprints, '-inf', '(' .. ARGV[1], 'LIMIT', 0, ARGV[3])
for _, fingerprint in ipairs(old) do redis.call('ZREM', fingerprints, fingerprint) end
local ids = redis.call('ZRANGEBYSCORE', dead_letters_by_time, '-inf', '(' .. ARGV[2], 'LIMIT', 0, ARGV[3])
for _, id in ipairs(ids) do remove_dead_letter(id) end
return math.max(#old, #ids) == tonumber(ARGV[3]) and 1 or 0
`).withReturnType<number>()
