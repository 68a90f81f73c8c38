import { movingJournals, removingJournals } from "./journal/redisJournals.ts"
import { appending, script } from "./redisLua.ts"

export const addingDeadLetters = `
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
  movingJournals,
  removingDeadLetters,
  `
local count = 0
for at = 2, #ARGV, 3 do
  local update = remove_dead_letter(ARGV[at])
  if update then
    count = count + 1
    local id = to_id(reserve_ids(1) + 1)
    append(ARGV[at + 1], id, ARGV[at + 2] == '0' and '' or ARGV[at + 2] .. ':0', update)
    move_journal(ARGV[at], id)
  end
end
if count > 0 then redis.call('INCRBY', name('queued'), count) end
wake(ARGV[1])
return count
`
).withReturnType<number>()

/** Arguments: ids. Returns how many dead letters existed. */
export const drop = script(
  removingJournals,
  removingDeadLetters,
  `
local removed = {}
for _, id in ipairs(ARGV) do if remove_dead_letter(id) then removed[#removed + 1] = id end end
remove_journals(removed)
return #removed
`
).withReturnType<number>()

/** Arguments: the two times, maximum number of rows to delete. Returns 1 if there may be more. */
export const cleanup = script(
  removingJournals,
  removingDeadLetters,
  `
local limit = tonumber(ARGV[3])
local old = math.min(limit, redis.call('ZCOUNT', name('fingerprints'), '-inf', '(' .. ARGV[1]))
if old > 0 then redis.call('ZREMRANGEBYRANK', name('fingerprints'), 0, old - 1) end
local ids = redis.call('ZRANGEBYSCORE', name('dead_letters_by_time'), '-inf', '(' .. ARGV[2], 'LIMIT', 0, limit)
for _, id in ipairs(ids) do remove_dead_letter(id) end
remove_journals(ids)
return math.max(old, #ids) == limit and 1 or 0
`
).withReturnType<number>()
