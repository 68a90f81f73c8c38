import * as Redis from "effect/persistence/Redis"
import { readingClock } from "../../../base/internal/stores/redis.ts"

/*
 * All keys start with the prefix, which is one hash slot of a cluster:
 *
 * run                  the name of the store, which is new after the data was lost
 * seq                  the last id
 * updates              id -> queued update
 * marks                id -> the numbers of attempts and crashes of a queued update (`2:1`), if there were attempts
 * queue:KEY            list of the ids of the queued updates of a partition, in order
 * ready                partitions that have a queued update and no owner, by the id of their first update
 * lease:KEY            the lease of a partition: ids of the updates that are begun, separated by commas, `|`, and the owner
 * held:OWNER           partitions that the owner holds, by the end of the lease
 * owners               owners that hold partitions, by a time that is not after the end of any of their leases
 * fingerprints         fingerprints, by the time when they were received
 * dead_letters         ids of dead letters, in order
 * dead_letters_by_time ids of dead letters, by the time of the failure
 * failures             id -> failure and update of a dead letter, in two lines
 * journaled            ids of the updates and dead letters that have a journal
 * journal:ID           the journal of an update: key -> row
 * rows                 the other rows: key -> when it is due, its revision, when it expires, its user, and its text
 * row_keys             their keys, in the order of their bytes
 * users:USER           the keys of the rows that belong to a user
 * expiring             the keys of the rows that expire, by that time
 * due                  the keys of the rows with a due time, by that time
 * due_partitions       key of such a row -> its partition
 *
 * Times of leases are milliseconds of the clock of the server. The channel `wake` gets a message, the name of the sender, when `ready` is no longer empty,
 * and when a row is due before all others.
 *
 * The scripts avoid slow operations of Redis: a Lua string is hashed byte by byte, so that only claims read texts of updates;
 * a number is an argument three times as slow as a string; and small hashes are searched from their start.
 */
const prelude = `
local function name(part) return KEYS[1] .. ':' .. part end
local ready, owners, dead_letters = name('ready'), name('owners'), name('dead_letters')
local queues, leases, updates, marks = name('queue:'), name('lease:'), name('updates'), name('marks')
local function held_by(owner) return name('held:' .. owner) end
local function to_id(number) return string.format('%.0f', number) end
local function reserve_ids(count)
  -- Ids are times in microseconds at least, so that no id is used again after a failover or a restart that has lost the last ids.
  local time = redis.call('TIME')
  local last = math.max(redis.call('GET', name('seq')) or 0, time[1] * 1000000 + time[2])
  redis.call('SET', name('seq'), to_id(last + count))
  return last
end
-- Calls a command with many values, a thousand at a time, and puts the results into one table. They follow the key, if one is given.
local function call_with(results, values, command, key)
  for from = 1, #values, 1000 do
    local to, result = math.min(from + 999, #values)
    if key then
      result = redis.call(command, key, unpack(values, from, to))
    else
      result = redis.call(command, unpack(values, from, to))
    end
    if results then for at = 1, #result do results[from + at - 1] = result[at] end end
  end
end
local was_empty, is_sooner
local function make_ready(key, head)
  if was_empty == nil then was_empty = redis.call('EXISTS', ready) == 0 end
  redis.call('ZADD', ready, head, key)
end
-- Consumers that found partitions claim again, so that only those that found none have to be woken.
local function wake(sender)
  if is_sooner or (was_empty and redis.call('EXISTS', ready) == 1) then redis.pcall('PUBLISH', name('wake'), sender) end
end
`

export const appending = `
local appended = {}
local function append(key, id, update)
  local at = #appended
  appended[at + 1], appended[at + 2] = id, update
  if redis.call('RPUSH', queues .. key, id) == 1 and redis.call('EXISTS', leases .. key) == 0 then make_ready(key, id) end
end
-- Stores the updates that were appended.
local function store_appended() call_with(nil, appended, 'HSET', updates) end
`

export const holding = `${readingClock}
local function count_attempt(key, id, crashes)
  if not redis.call('LPOS', queues .. key, id) then return end
  local attempts, crashed = string.match(redis.call('HGET', marks, id) or '', '^(%d+):(%d+)$')
  redis.call('HSET', marks, id, to_id((attempts or 0) + 1) .. ':' .. to_id((crashed or 0) + crashes))
end
-- Makes a partition that has lost its owner ready, if it has a queued update.
local function give_back(key)
  local first = redis.call('LINDEX', queues .. key, '0')
  if first then make_ready(key, first) end
end
local function remove_held(owner, keys)
  call_with(nil, keys, 'ZREM', held_by(owner))
  if redis.call('EXISTS', held_by(owner)) == 0 then redis.call('ZREM', owners, owner) end
end
`

export const script = (...parts: ReadonlyArray<string>) =>
  Redis.script((prefix: string, args: ReadonlyArray<string>) => [prefix, ...args], {
    numberOfKeys: 1,
    lua: [prelude, ...parts].join("")
  })

/** A script whose parameters are the prefix and its arguments. */
export type InboxScript<A> = Redis.Script<{ params: [string, ReadonlyArray<string>]; result: A }>
