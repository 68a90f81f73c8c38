import type { StoreError } from "@colloquy/core/base/StoreError"
import type * as Effect from "effect/Effect"
import * as Redis from "effect/persistence/Redis"
import { readingClock } from "../../base/internal/stores/redis.ts"

/*
 * All keys start with the prefix, which is one hash slot of a cluster:
 *
 * run                  the name of the store, which is new after the data was lost
 * seq                  the last id
 * queued               the number of queued updates
 * queue:KEY            list of the updates of a partition, in order: three values for each, its id, its mark and its text. The id of
 *                      an update that was completed before earlier ones begins with `x`.
 * ready                partitions that have a queued update and no owner, by the id of their first update
 * lease:KEY            the lease of a partition: ids of the updates that are begun, separated by commas, `|`, and the owner
 * held:OWNER           partitions that the owner holds, by the end of the lease
 * owners               owners that hold partitions, by a time that is not after the end of any of their leases
 * fingerprints         fingerprints, by the time when they were received
 * dead_letters         ids of dead letters, in order
 * dead_letters_by_time ids of dead letters, by the time of the failure
 * dead_letter_updates  id -> update of a dead letter
 * failures             id -> failure of a dead letter
 * markers              source -> marker
 * journaled            ids of the updates and dead letters that have a journal
 * has_journals         present if `journaled` is
 * journal:ID           the journal of an update: slot -> `s` (started) or `d` (done), and the text
 * state:NAME           the values of a state: scope -> revision, version, when it expires, and the text
 * state_scopes:NAME    the scopes of these values, in the order of their bytes
 * state_ends           the values that expire, by that time. A value is the length of the name, the name, and the scope.
 * state_users:USER     the values that belong to a user
 * timers               id of a timer -> its number, its user, its partition, and its update without the receive time
 * timers_due           numbers and ids of timers, by the time when they are due
 * timer_users:USER     ids of the timers that belong to a user, and of those whose occurrence is queued
 * occurrences          id of a timer -> the id of the update that it became, and its user, until it is handled or cancelled
 * cancelled            ids of queued updates whose timers were cancelled
 * next_timer           the first of these times
 *
 * The mark of an update is empty, or the numbers of its attempts and crashes (`2:1`). Times of leases are milliseconds of
 * the clock of the server. The channel `wake` gets a message, the name of the sender, when `ready` is no longer empty.
 *
 * The scripts avoid slow operations of Redis: a Lua string is hashed byte by byte, so that only claims read texts of updates;
 * a number is an argument three times as slow as a string; and small hashes are searched from their start.
 */
const prelude = `
local function name(part) return KEYS[1] .. ':' .. part end
local ready, owners, dead_letters = name('ready'), name('owners'), name('dead_letters')
local queues, leases = name('queue:'), name('lease:')
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

export const appending = `
local function append(key, id, mark, update)
  if redis.call('RPUSH', queues .. key, id, mark, update) == 3 and redis.call('EXISTS', leases .. key) == 0 then
    make_ready(key, id)
  end
end
`

export const finding = `
-- The place of an update in its queue. The ids of a queue ascend.
local function place_of(list, id, first)
  local number, low, high = tonumber(id), first, redis.call('LLEN', list) / 3 - 1
  while low <= high do
    local middle = math.floor((low + high) / 2)
    local text = redis.call('LINDEX', list, middle * 3)
    if text == id then return middle end
    local other = tonumber(string.match(text, '%d+'))
    if not other or other >= number then high = middle - 1 else low = middle + 1 end
  end
end
`

export const holding = `${readingClock}${finding}
local function count_attempt(key, id, crashes)
  local list = queues .. key
  local place = place_of(list, id, 0)
  if not place then return end
  local attempts, crashed = string.match(redis.call('LINDEX', list, place * 3 + 1), '^(%d+):(%d+)$')
  redis.call('LSET', list, place * 3 + 1, to_id((attempts or 0) + 1) .. ':' .. to_id((crashed or 0) + crashes))
end
-- Makes a partition that has lost its owner ready, if it has a queued update.
local function give_back(key)
  local list = queues .. key
  local head = redis.call('LINDEX', list, '0')
  while head and string.sub(head, 1, 1) == 'x' do
    redis.call('LTRIM', list, '3', '-1')
    head = redis.call('LINDEX', list, '0')
  end
  if head then make_ready(key, head) end
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

/** Prepares a script. `name` is the operation in its errors. */
export type Run = <A>(
  name: string,
  script: InboxScript<A>
) => (args?: ReadonlyArray<string>) => Effect.Effect<A, StoreError>
