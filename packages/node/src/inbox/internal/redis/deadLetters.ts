import { removingJournals, writingRows } from "./rows.ts"
import { readingClock } from "../../../base/internal/stores/redis.ts"
import { appending, script } from "./lua.ts"

export const addingDeadLetters = `
local function add_dead_letter(id, update, failed_at, failure)
  redis.call('ZADD', dead_letters, id, id)
  redis.call('ZADD', name('dead_letters_by_time'), failed_at, id)
  redis.call('HSET', name('failures'), id, failure .. '\\n' .. update)
end
`

const removingDeadLetters = `
local function remove_dead_letter(id)
  if redis.call('ZREM', dead_letters, id) == 0 then return false end
  local update = string.match(redis.call('HGET', name('failures'), id) or '', '^[^\\n]*\\n(.*)$') or ''
  redis.call('ZREM', name('dead_letters_by_time'), id)
  redis.call('HDEL', name('failures'), id)
  return update
end
`

/** Arguments: sender; id, partition key and number of attempts of each dead letter. Returns how many existed. */
export const replay = script(
  appending,
  removingDeadLetters,
  `
local count = 0
for at = 2, #ARGV, 3 do
  local from, key, attempts = unpack(ARGV, at, at + 2)
  local update = remove_dead_letter(from)
  if update then
    count = count + 1
    local id = to_id(reserve_ids(1) + 1)
    append(key, id, update)
    if attempts ~= '0' then redis.call('HSET', marks, id, attempts .. ':0') end
    if redis.call('SREM', name('journaled'), from) == 1 then
      redis.call('RENAME', name('journal:') .. from, name('journal:') .. id)
      redis.call('SADD', name('journaled'), id)
    end
  end
end
store_appended()
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

/** Arguments: the three times, maximum number of deletions of each kind. Returns 1 if there may be more. */
export const cleanup = script(
  readingClock,
  removingJournals,
  removingDeadLetters,
  writingRows,
  `
local limit = tonumber(ARGV[4])
local old = math.min(limit, redis.call('ZCOUNT', name('fingerprints'), '-inf', '(' .. ARGV[1]))
if old > 0 then redis.call('ZREMRANGEBYRANK', name('fingerprints'), 0, old - 1) end
local ids = redis.call('ZRANGEBYSCORE', name('dead_letters_by_time'), '-inf', '(' .. ARGV[2], 'LIMIT', 0, limit)
for _, id in ipairs(ids) do remove_dead_letter(id) end
remove_journals(ids)
local expired = redis.call('ZRANGEBYSCORE', expiring, '-inf', '(' .. ARGV[3], 'LIMIT', 0, limit)
for _, key in ipairs(expired) do delete_row(key) end
call_with(nil, expired, 'ZREM', expiring)
return math.max(old, #ids, #expired) == limit and 1 or 0
`
).withReturnType<number>()
