import type { JournalEntry, JournalRecord, JournalStore } from "@colloquy/core/inbox/InboxStore"
import * as Effect from "effect/Effect"
import { decodeText, encodeIndexed, encodeText, isId } from "../../../base/internal/stores/values.ts"
import { finding, type Run, script } from "../redisLua.ts"

/** The slots and values of a journal, one after the other. */
export type Packed = ReadonlyArray<string>

const states = { started: "s", done: "d" } as const

const toValue = ({ state, text }: JournalEntry): string => (state === "removed" ? "" : states[state] + encodeText(text))

export const toEntries = (packed: Packed): ReadonlyArray<JournalEntry> => {
  const entries: Array<JournalEntry> = []
  for (let at = 0; at < packed.length; at += 2) {
    const value = packed[at + 1]!
    const state = value.startsWith(states.done) ? "done" : "started"
    entries.push({ slot: decodeText(packed[at]), state, text: decodeText(value.slice(1)) })
  }
  return entries
}

/** Adds the journals of claimed updates to the reply of a claim: the third value of a partition, by the ids. */
export const addingJournals = `
local function add_journals(reply)
  local ids, owners_of, flags = {}, {}, {}
  for place = 2, #reply do
    local updates = reply[place][2]
    for at = 1, #updates, 3 do ids[#ids + 1], owners_of[#ids + 1] = updates[at], reply[place] end
  end
  call_with(flags, ids, 'SMISMEMBER', name('journaled'))
  for index, id in ipairs(ids) do
    if flags[index] == 1 then
      local partition = owners_of[index]
      partition[3] = partition[3] or {}
      table.insert(partition[3], { id, redis.call('HGETALL', name('journal:') .. id) })
    end
  end
end
`

export const removingJournals = `
local function remove_journals(ids)
  local flags, removed, keys = {}, {}, {}
  call_with(flags, ids, 'SMISMEMBER', name('journaled'))
  for index, id in ipairs(ids) do
    if flags[index] == 1 then removed[#removed + 1], keys[#keys + 1] = id, name('journal:') .. id end
  end
  call_with(nil, removed, 'SREM', name('journaled'))
  call_with(nil, keys, 'UNLINK')
  if #removed > 0 and redis.call('EXISTS', name('journaled')) == 0 then redis.call('DEL', name('has_journals')) end
end
`

export const movingJournals = `
local function move_journal(id, to)
  if redis.call('EXISTS', name('journal:') .. id) == 0 then return end
  redis.call('RENAME', name('journal:') .. id, name('journal:') .. to)
  redis.call('SREM', name('journaled'), id)
  redis.call('SADD', name('journaled'), to)
end
`

/**
 * Arguments: for each record the owner, the partition, the id of the update, and the number of entries; then slot and
 * value of each entry, which is deleted if the value is empty. Returns 1 for each applied record, and 0 for each record
 * whose lease is lost.
 */
const recordScript = script(
  finding,
  removingJournals,
  `
local results, at = {}, 1
while at <= #ARGV do
  local owner, key, id, count = unpack(ARGV, at, at + 3)
  local first, last = at + 4, at + 3 + 2 * tonumber(count)
  at = last + 1
  local list, lease = queues .. key, redis.call('GET', leases .. key)
  local bar = lease and string.find(lease, '|', 1, true)
  local is_held = bar and string.sub(lease, bar + 1) == owner
  if is_held and (redis.call('LINDEX', list, '0') == id or place_of(list, id, 1)) then
    results[#results + 1] = 1
    local journal, is_removing = name('journal:') .. id, first > last
    for entry = first, last, 2 do
      local slot, value = ARGV[entry], ARGV[entry + 1]
      if value == '' then
        is_removing = true
        redis.call('HDEL', journal, slot)
      elseif string.byte(value) == 100 then
        redis.call('HSET', journal, slot, value)
      elseif redis.call('HSETNX', journal, slot, value) == 0 and string.byte(redis.call('HGET', journal, slot)) ~= 100 then
        redis.call('HSET', journal, slot, value)
      end
    end
    if is_removing and redis.call('EXISTS', journal) == 0 then
      remove_journals({ id })
    elseif redis.call('SADD', name('journaled'), id) == 1 then
      redis.call('SET', name('has_journals'), '1')
    end
  else
    results[#results + 1] = 0
  end
end
return results
`
).withReturnType<ReadonlyArray<number>>()

const recordArguments = (records: ReadonlyArray<JournalRecord>): ReadonlyArray<string> => {
  const args: Array<string> = []
  for (const { entries, id, owner, partitionKey } of records) {
    // No update has the id 0.
    args.push(encodeIndexed(owner), encodeIndexed(partitionKey), isId(id) ? id : "0", String(entries.length))
    for (const entry of entries) args.push(encodeText(entry.slot), toValue(entry))
  }
  return args
}

export const make = (run: Run): JournalStore => {
  const record = run("record", recordScript)
  return {
    record: (records) =>
      records.length === 0
        ? Effect.succeed([])
        : Effect.map(
            Effect.suspend(() => record(recordArguments(records))),
            (results) => results.map((applied) => (applied === 1 ? "applied" : "leaseLost"))
          )
  }
}
