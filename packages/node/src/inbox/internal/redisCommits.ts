import { removingJournals } from "./journal/redisJournals.ts"
import { writingStates } from "./state/redisStates.ts"
import { changingTimers, valuesOfChange } from "./timers/redisTimers.ts"
import { addingDeadLetters } from "./redisDeadLetters.ts"
import { holding, script } from "./redisLua.ts"

const committing = `
local commits, keys, records = {}, {}, {}
local at = 2
while at <= #ARGV do
  local owner, count = ARGV[at], tonumber(ARGV[at + 1])
  at = at + 2
  for _ = 1, count do
    local key, completed, begun, rest = unpack(ARGV, at, at + 3)
    at = at + 4
    local commit = { owner, key, completed, begun, rest, at, 0, '', 0, 0 }
    if #rest > 1 then
      local is_release, dead, writes, timers, failed = string.match(rest, '^(%d) (%d+) (%d+) (%d+) (.*)$')
      commit[5], commit[7], commit[8], commit[9], commit[10] = is_release, tonumber(dead), failed, tonumber(writes), tonumber(timers)
      at = at + 3 * commit[7] + 4 * commit[9] + ${valuesOfChange} * commit[10]
    end
    commits[#commits + 1] = commit
    if records[key] == nil then
      records[key] = false
      keys[#keys + 1] = key
    end
  end
end

-- The leases are read once, changed here, and written once.
local names, stored, changed, done, acknowledged = {}, {}, {}, 0, {}
for index, key in ipairs(keys) do names[index] = leases .. key end
names[#keys + 1] = name('has_journals')
call_with(stored, names, 'MGET')
for index, key in ipairs(keys) do records[key] = stored[index] end

-- Completes an update. Returns the number of completed updates at the front of the queue, which are removed together later.
local function complete(list, id, front, failed_at, failure)
  local head = redis.call('LINDEX', list, front == 0 and '0' or front * 3)
  while head and head ~= id and string.sub(head, 1, 1) == 'x' do
    front = front + 1
    head = redis.call('LINDEX', list, front * 3)
  end
  local is_first = head == id
  local place = is_first and front or place_of(list, id, front + 1)
  if not place then return front end
  done = done + 1
  if failure then
    add_dead_letter(id, redis.call('LINDEX', list, place * 3 + 2), failed_at, failure)
  else
    acknowledged[#acknowledged + 1] = id
  end
  if is_first then return front + 1 end
  redis.call('LSET', list, place * 3, 'x' .. id)
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
for index, commit in ipairs(commits) do
  local owner, key, completed, begun, is_release, letters, dead, failed, writes, timers = unpack(commit)
  local record = records[key]
  local bar = record and string.find(record, '|', 1, true)
  local is_held = bar and string.sub(record, bar + 1) == owner
  local is_handled = is_held and writes + timers > 0 and are_queued(queues .. key, completed, letters, dead)
  local first_write = letters + 3 * dead
  local first_timer = first_write + 4 * writes
  if is_handled and not are_expected(ARGV, first_write, first_timer - 1) then
    results[index] = 2
  elseif is_held then
    results[index] = 1
    local list, front = queues .. key, 0
    local running, ended = string.sub(record, 1, bar - 1), completed
    if string.find(completed, ',', 1, true) then
      for id in string.gmatch(completed, '%d+') do front = complete(list, id, front) end
    elseif completed ~= '' then
      front = complete(list, completed, front)
    end
    for letter = letters, letters + 3 * dead - 1, 3 do
      front = complete(list, ARGV[letter], front, ARGV[letter + 1], ARGV[letter + 2])
      ended = ended .. ',' .. ARGV[letter]
    end
    if front > 0 then redis.call('LTRIM', list, front == 1 and '3' or front * 3, '-1') end
    if failed ~= '' then
      for id in string.gmatch(failed, '%d+') do count_attempt(key, id, 0) end
      ended = ended .. ',' .. failed
    end
    if is_handled then
      write_states(ARGV, first_write, first_timer - 1)
      change_timers(ARGV, first_timer, first_timer + ${valuesOfChange} * timers - 1)
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
for index, key in ipairs(keys) do
  if changed[key] and records[key] then
    written[#written + 1] = names[index]
    written[#written + 1] = records[key]
  elseif changed[key] then
    removed[#removed + 1] = names[index]
  end
end
call_with(nil, written, 'MSET')
call_with(nil, removed, 'DEL')
for owner, partitions in pairs(released) do remove_held(owner, partitions) end
if stored[#keys + 1] and #acknowledged > 0 then
  ${removingJournals}
  remove_journals(acknowledged)
end
if done > 0 then redis.call('DECRBY', name('queued'), done) end
wake(ARGV[1])
return results
`

/**
 * Applies commits without writes and timers. Arguments:
 *
 * 1. the sender;
 * 2. for each owner, its name and the number of its commits, and then these commits;
 * 3. for each commit, the partition, the ids of completed updates, the ids of updates that begin (both separated by commas), and
 *    either `1` or `0`, whether it releases the partition, or this digit followed by the numbers of dead letters, of writes and of
 *    timers and by the ids of failed updates, separated by spaces;
 * 4. after a commit with these numbers, the id, the time of the failure and the failure of each dead letter, the writes, and the
 *    timers.
 *
 * Returns 1 for each applied commit, 0 for each whose lease is lost, and 2 for each whose state was changed.
 */
export const commit = script(addingDeadLetters, holding, committing).withReturnType<ReadonlyArray<number>>()

/** Like `commit`, for commits with writes and timers. */
export const commitHandled = script(
  addingDeadLetters,
  holding,
  writingStates,
  changingTimers,
  `
-- Whether all updates that a commit completes are queued.
local function are_queued(list, completed, letters, count)
  local function is_queued(id) return redis.call('LINDEX', list, '0') == id or place_of(list, id, 1) end
  for id in string.gmatch(completed, '%d+') do if not is_queued(id) then return false end end
  for letter = letters, letters + 3 * count - 1, 3 do if not is_queued(ARGV[letter]) then return false end end
  return true
end
`,
  committing
).withReturnType<ReadonlyArray<number>>()
