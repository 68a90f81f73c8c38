import type { Row, RowWrite } from "@colloquy/core/inbox/InboxStore"
import { decodeKey, decodeText, encodeIndexed, encodeKey, encodeText } from "../../../base/internal/stores/values.ts"
import { readingClock } from "../../../base/internal/stores/redis.ts"
import { script } from "./lua.ts"

/** How many values a written row has as arguments of a script. */
export const valuesOfRow = 4

/**
 * Writes rows. A row is four values: its key; its condition, which is empty, or `!` (conflict) or `?` (skip) and the expected
 * revision, if any; the row without its due time, or nothing to delete the row; and when the row is due: nothing, or `=` and a
 * time or `+` and a number of milliseconds, `,`, and the partition.
 */
export const writingRows = `
local rows, row_keys, due_rows, due_partitions, expiring = name('rows'), name('row_keys'), name('due'), name('due_partitions'), name('expiring')
-- The due time, the revision, the end and the user of a row, and where its text begins. A row that was overwritten by hand has none of them.
local function fields(row) return string.match(row, '^(%-?%d*),([%w.-]+),([%d.e+-]*),([^;]*);()') end
local function is_expected(condition, row)
  local _, revision = fields(row or '')
  return string.sub(condition, 2) == (row and (revision or '-') or '')
end
-- Whether all conditions are met whose rows may not be left out.
local function are_expected(hash, values, first, last)
  for at = first, last, ${valuesOfRow} do
    local condition = values[at + 1]
    if string.byte(condition) == 33 and not is_expected(condition, redis.call('HGET', hash, values[at])) then return false end
  end
  return true
end
local function clear_row(key, row)
  local due_at, _, ends_at, user = fields(row)
  if due_at ~= '' then
    redis.call('ZREM', due_rows, key)
    redis.call('HDEL', due_partitions, key)
  end
  if ends_at ~= '' then redis.call('ZREM', expiring, key) end
  if user and user ~= '' then redis.call('ZREM', name('users:') .. user, key) end
end
local function delete_row(key)
  local row = redis.call('HGET', rows, key)
  if not row then return 0 end
  clear_row(key, row)
  redis.call('HDEL', rows, key)
  redis.call('ZREM', row_keys, key)
  return 1
end
local function due_time(key, due)
  local kind, time, partition = string.match(due, '^(.)(%-?%d+),(.*)$')
  time = tonumber(time) + (kind == '+' and read_clock() or 0)
  local first = redis.call('ZRANGE', due_rows, '0', '0', 'WITHSCORES')[2]
  if not first or time < tonumber(first) then is_sooner = true end
  return to_id(time), partition
end
local function write_rows(values, first, last)
  for at = first, last, ${valuesOfRow} do
    local key, condition, value, due = unpack(values, at, at + ${valuesOfRow - 1})
    local row = redis.call('HGET', rows, key)
    if string.byte(condition) == 63 and not is_expected(condition, row) then
      -- The row is left out.
    elseif value == '' then
      delete_row(key)
    else
      local due_at, partition = '', nil
      if due ~= '' then due_at, partition = due_time(key, due) end
      if row then clear_row(key, row) else redis.call('ZADD', row_keys, '0', key) end
      redis.call('HSET', rows, key, due_at .. value)
      local _, _, ends_at, user = fields(value)
      if ends_at ~= '' then redis.call('ZADD', expiring, ends_at, key) end
      if user ~= '' then redis.call('ZADD', name('users:') .. user, '0', key) end
      if partition then
        redis.call('ZADD', due_rows, due_at, key)
        redis.call('HSET', due_partitions, key, partition)
      end
    end
  end
end
`

/** Moves due rows to the ends of their partitions. Requires `append`. */
export const appendingDueRows = `
local function append_due_rows(now, limit)
  local due = redis.call('ZRANGEBYSCORE', due_rows, '-inf', now, 'WITHSCORES', 'LIMIT', '0', limit)
  for at = 1, #due, 2 do
    local key = due[at]
    local row = redis.call('HGET', rows, key)
    local length, partition = string.match(redis.call('HGET', due_partitions, key) or '0;', '^(%d+);(.*)$')
    redis.call('ZREM', due_rows, key)
    redis.call('HDEL', due_partitions, key)
    if row then
      -- A row that was overwritten by hand becomes an update that cannot be decoded.
      local due_at, revision, _, _, text = fields(row)
      if due_at then redis.call('HSET', rows, key, string.sub(row, #due_at + 1)) end
      local head = to_id(tonumber(due[at + 1])) .. ',' .. #(revision or '') .. ',' .. length .. ';' .. (revision or '')
      append(partition, to_id(reserve_ids(1) + 1), head .. partition .. string.sub(row, text or 1))
    end
  end
  store_appended()
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
end
`

/**
 * Arguments: the sender; for each write, the owner, the partition and the id of its update, which is empty without a journal, and
 * the number of rows; then the rows. Returns 1 for each applied write, 0 for each whose lease is lost, and 2 for each conflict.
 */
export const write = script(
  readingClock,
  writingRows,
  removingJournals,
  `
local function is_held(owner, key, id)
  local lease = redis.call('GET', leases .. key)
  local bar = lease and string.find(lease, '|', 1, true)
  if not bar or string.sub(lease, bar + 1) ~= owner then return false end
  return redis.call('LPOS', queues .. key, id)
end
local function write_journal(id, values, first, last)
  local journal = name('journal:') .. id
  for at = first, last, ${valuesOfRow} do
    local key, condition, value = values[at], values[at + 1], values[at + 2]
    if string.byte(condition) ~= 63 or is_expected(condition, redis.call('HGET', journal, key)) then
      if value == '' then redis.call('HDEL', journal, key) else redis.call('HSET', journal, key, value) end
    end
  end
  if redis.call('EXISTS', journal) == 1 then redis.call('SADD', name('journaled'), id) else remove_journals({ id }) end
end
local results, at = {}, 2
while at <= #ARGV do
  local owner, key, id, count = unpack(ARGV, at, at + 3)
  local first, last = at + 4, at + 3 + ${valuesOfRow} * count
  at = last + 1
  local has_journal = id ~= ''
  if has_journal and not is_held(owner, key, id) then
    results[#results + 1] = 0
  elseif not are_expected(has_journal and name('journal:') .. id or rows, ARGV, first, last) then
    results[#results + 1] = 2
  else
    if has_journal then write_journal(id, ARGV, first, last) else write_rows(ARGV, first, last) end
    results[#results + 1] = 1
  end
end
wake(ARGV[1])
return results
`
).withReturnType<ReadonlyArray<number>>()

/** Arguments: the prefix of the keys, the key of the last row of the page before or nothing, the number of rows. Returns keys and rows. */
export const pageByKey = script(`
local prefix, after, limit = unpack(ARGV)
local first = after == '' and '[' .. prefix or '(' .. after
local keys, found = redis.call('ZRANGEBYLEX', name('row_keys'), first, '(' .. prefix .. '\\255', 'LIMIT', '0', limit), {}
call_with(found, keys, 'HMGET', name('rows'))
return { keys, found }
`).withReturnType<readonly [keys: ReadonlyArray<string>, rows: ReadonlyArray<string | null>]>()

/** Like `pageByKey`, with the due time of the last row of the page before. */
export const pageByDue = script(`
local due_rows, prefix, after, limit, time = name('due'), unpack(ARGV)
local place, keys, found = 0, {}, {}
-- Redis orders rows of the same time by the bytes of their keys. Lua would order them by the language of the server.
local function is_after(key)
  for at = 1, #key do
    local byte, other = string.byte(key, at), string.byte(after, at)
    if byte ~= other then return not other or byte > other end
  end
  return false
end
if time then
  place = redis.call('ZCOUNT', due_rows, '-inf', '(' .. time)
  local to = place + redis.call('ZCOUNT', due_rows, time, time)
  while place < to do
    local middle = math.floor((place + to) / 2)
    if is_after(redis.call('ZRANGE', due_rows, middle, middle)[1]) then to = middle else place = middle + 1 end
  end
end
repeat
  local page = redis.call('ZRANGE', due_rows, place, place + limit - 1)
  for _, key in ipairs(page) do
    if #keys < tonumber(limit) and string.sub(key, 1, #prefix) == prefix then keys[#keys + 1] = key end
  end
  place = place + limit
until #page == 0 or #keys == tonumber(limit)
call_with(found, keys, 'HMGET', name('rows'))
return { keys, found }
`).withReturnType<readonly [keys: ReadonlyArray<string>, rows: ReadonlyArray<string | null>]>()

/** Arguments: the user, the prefix of the keys, maximum number of rows. Returns how many were deleted, and 1 if there may be more. */
export const forget = script(
  writingRows,
  `
local keys_of_user, prefix, count = name('users:') .. ARGV[1], ARGV[2], 0
local keys = redis.call('ZRANGEBYLEX', keys_of_user, '[' .. prefix, '(' .. prefix .. '\\255', 'LIMIT', '0', ARGV[3])
for _, key in ipairs(keys) do count = count + delete_row(key) end
call_with(nil, keys, 'ZREM', keys_of_user)
return { count, #keys == tonumber(ARGV[3]) and 1 or 0 }
`
).withReturnType<readonly [deleted: number, more: number]>()

/** The user is a part of a key, and ends in a row with a semicolon. */
export const encodeUser = (user: string): string => encodeURIComponent(encodeKey(user))

const encodeDue = ({ due }: NonNullable<RowWrite["row"]>): string => {
  if (due === undefined) return ""
  const partition = encodeIndexed(due.partitionKey)
  const time = "at" in due.time ? `=${Math.floor(due.time.at)}` : `+${Math.ceil(due.time.after)}`
  return `${time},${partition.length};${partition}`
}

const encodeCondition = ({ expected, otherwise }: RowWrite): string =>
  expected === undefined ? "" : `${otherwise === "skip" ? "?" : "!"}${expected ?? ""}`

export const pushRows = (args: Array<string>, writes: ReadonlyArray<RowWrite>): void => {
  for (const write of writes) {
    const { key, revision, row } = write
    args.push(encodeKey(key), encodeCondition(write))
    if (row === undefined) args.push("", "")
    else {
      const user = row.user === undefined ? "" : encodeUser(row.user)
      args.push(`,${revision},${row.expiresAt ?? ""},${user};${encodeText(row.text)}`, encodeDue(row))
    }
  }
}

const header = /^(-?\d*),([A-Za-z\d.-]+),([\d.e+-]*),[^;]*;/

/** A row that was overwritten by hand is returned unchanged, with the revision `-`. */
export const toRow = (key: string, stored: string): Row => {
  const [start, dueAt, revision, expiresAt] = header.exec(stored) ?? []
  if (start === undefined) return { key: decodeKey(key), text: stored, revision: "-" }
  return {
    key: decodeKey(key),
    text: decodeText(stored.slice(start.length)),
    revision: revision!,
    ...(expiresAt !== "" && { expiresAt: Number(expiresAt) }),
    ...(dueAt !== "" && { dueAt: Number(dueAt) })
  }
}

export const toRows = (keys: ReadonlyArray<string>, stored: ReadonlyArray<string | null>): ReadonlyArray<Row> =>
  keys.flatMap((key, index) => (stored[index] == null ? [] : [toRow(key, stored[index])]))
