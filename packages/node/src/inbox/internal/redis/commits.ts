import { removingJournals, valuesOfRow, writingRows } from "./rows.ts"
import { addingDeadLetters } from "./deadLetters.ts"
import { holding, script } from "./lua.ts"

/**
 * Applies commits. Arguments:
 *
 * 1. the sender;
 * 2. for each owner, its name and the number of its commits, and then these commits;
 * 3. for each commit, the partition, the ids of completed updates, the ids of updates that begin (both separated by commas), and
 *    either `1` or `0`, whether it releases the partition, or this digit followed by the numbers of dead letters and of rows and by
 *    the ids of failed updates, separated by spaces;
 * 4. after a commit with these numbers, the id, the time of the failure and the failure of each dead letter, and the rows.
 *
 * Returns 1 for each applied commit, 0 for each whose lease is lost, and 2 for each conflict.
 */
export const commit = script(
  addingDeadLetters,
  holding,
  writingRows,
  removingJournals,
  `
local commits, keys, records = {}, {}, {}
local at = 2
while at <= #ARGV do
  local owner, count = ARGV[at], tonumber(ARGV[at + 1])
  at = at + 2
  for _ = 1, count do
    local key, completed, begun, rest = unpack(ARGV, at, at + 3)
    at = at + 4
    local commit = { owner, key, completed, begun, rest, at, 0, '', 0 }
    if #rest > 1 then
      local is_release, dead, rows, failed = string.match(rest, '^(%d) (%d+) (%d+) (.*)$')
      commit[5], commit[7], commit[8], commit[9] = is_release, tonumber(dead), failed, tonumber(rows)
      at = at + 3 * commit[7] + ${valuesOfRow} * commit[9]
    end
    commits[#commits + 1] = commit
    if records[key] == nil then
      records[key] = false
      keys[#keys + 1] = key
    end
  end
end

-- The leases are read once, changed here, and written once.
local names, stored, changed, gone, acknowledged = {}, {}, {}, {}, {}
for index, key in ipairs(keys) do names[index] = leases .. key end
call_with(stored, names, 'MGET')
for index, key in ipairs(keys) do records[key] = stored[index] end

local function complete(key, id, failed_at, failure)
  if redis.call('LREM', queues .. key, '1', id) == 0 then return end
  gone[#gone + 1] = id
  if failure then
    add_dead_letter(id, redis.call('HGET', updates, id) or '', failed_at, failure)
  else
    acknowledged[#acknowledged + 1] = id
  end
end

local function without(begun, ended)
  if begun == ended then return '' end
  local is_ended, kept = {}, {}
  for id in string.gmatch(ended, '%d+') do is_ended[id] = true end
  for id in string.gmatch(begun, '%d+') do if not is_ended[id] then kept[#kept + 1] = id end end
  return table.concat(kept, ',')
end

-- Whether all updates that a commit completes are queued.
local function are_queued(list, completed, letters, count)
  for id in string.gmatch(completed, '%d+') do if not redis.call('LPOS', list, id) then return false end end
  for letter = letters, letters + 3 * count - 1, 3 do if not redis.call('LPOS', list, ARGV[letter]) then return false end end
  return true
end

local results, released = {}, {}
for index, commit in ipairs(commits) do
  local owner, key, completed, begun, is_release, letters, dead, failed, count = unpack(commit)
  local record = records[key]
  local bar = record and string.find(record, '|', 1, true)
  local is_held = bar and string.sub(record, bar + 1) == owner
  local has_rows = is_held and count > 0 and are_queued(queues .. key, completed, letters, dead)
  local first_row = letters + 3 * dead
  local last_row = first_row + ${valuesOfRow} * count - 1
  if has_rows and not are_expected(rows, ARGV, first_row, last_row) then
    results[index] = 2
  elseif is_held then
    results[index] = 1
    local running, ended = string.sub(record, 1, bar - 1), completed
    for id in string.gmatch(completed, '%d+') do complete(key, id) end
    for letter = letters, letters + 3 * dead - 1, 3 do
      complete(key, ARGV[letter], ARGV[letter + 1], ARGV[letter + 2])
      ended = ended .. ',' .. ARGV[letter]
    end
    if failed ~= '' then
      for id in string.gmatch(failed, '%d+') do count_attempt(key, id, 0) end
      ended = ended .. ',' .. failed
    end
    if has_rows then write_rows(ARGV, first_row, last_row) end
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
call_with(nil, gone, 'HDEL', updates)
if redis.call('EXISTS', marks) == 1 then call_with(nil, gone, 'HDEL', marks) end
if redis.call('EXISTS', name('journaled')) == 1 then remove_journals(acknowledged) end
wake(ARGV[1])
return results
`
).withReturnType<ReadonlyArray<number>>()
