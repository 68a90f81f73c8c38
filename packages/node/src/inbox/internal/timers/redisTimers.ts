import type { StoredTimer, TimerChange, TimerStore } from "@colloquy/core/inbox/InboxStore"
import * as Effect from "effect/Effect"
import { encodeIndexed, encodeText, isId } from "../../../base/internal/stores/values.ts"
import { readingClock } from "../../../base/internal/stores/redis.ts"
import { type Run, script } from "../redisLua.ts"
import { pack, unpack } from "../redisRows.ts"

/** How many values a change has as arguments of a script. */
export const valuesOfChange = 6

/** A script cancels at most this many timers of a user. */
const removalSize = 100

const keepingNextTimer = `
local function keep_next_timer()
  local due_at = redis.call('ZRANGE', name('timers_due'), '0', '0', 'WITHSCORES')[2]
  if due_at then redis.call('SET', name('next_timer'), due_at) else redis.call('DEL', name('next_timer')) end
end
`

const cancellingTimers = `${keepingNextTimer}
local function user_of_timer(user, id, command) if user ~= '' then redis.call(command, name('timer_users:') .. user, id) end end
-- Removes a timer that is set. Returns the number of removed timers.
local function remove_timer(id)
  local timer = redis.call('HGET', name('timers'), id)
  if not timer then return 0 end
  redis.call('ZREM', name('timers_due'), (string.match(timer, '^%d+') or '') .. ':' .. id)
  redis.call('HDEL', name('timers'), id)
  user_of_timer(string.match(timer, '^%d+,%d+,([^;]*);') or '', id, 'SREM')
  return 1
end
-- Cancels the queued occurrence of a timer. Returns the number of cancelled occurrences.
local function cancel_occurrence(id)
  local queued = redis.call('HGET', name('occurrences'), id)
  if not queued then return 0 end
  local occurrence, user = string.match(queued, '^(%d+);(.*)$')
  redis.call('HDEL', name('occurrences'), id)
  redis.call('SADD', name('cancelled'), occurrence)
  user_of_timer(user, id, 'SREM')
  return 1
end
`

/**
 * Changes timers. A change is six values: the id of the timer, when it is due (`=` and a time, `+` and a number of
 * milliseconds, or nothing to cancel it), its partition, its update without the receive time, its user, and the occurrence
 * whose handling it ends.
 */
export const changingTimers = `${cancellingTimers}
local function end_occurrence(id, occurrence)
  redis.call('SREM', name('cancelled'), occurrence)
  local queued, user = string.match(redis.call('HGET', name('occurrences'), id) or '', '^(%d+);(.*)$')
  if queued ~= occurrence then return false end
  redis.call('HDEL', name('occurrences'), id)
  user_of_timer(user, id, 'SREM')
  return true
end
local function change_timers(values, first, last)
  for at = first, last, ${valuesOfChange} do
    local id, due, key, update, user, occurrence = unpack(values, at, at + ${valuesOfChange - 1})
    local applies = true
    if occurrence == '' then
      cancel_occurrence(id)
      remove_timer(id)
    else
      applies = end_occurrence(id, occurrence)
    end
    if applies and due ~= '' then
      remove_timer(id)
      local number = to_id(reserve_ids(1) + 1)
      local time = tonumber(string.sub(due, 2))
      if string.byte(due) == 43 then time = time + read_clock() end
      redis.call('HSET', name('timers'), id, number .. ',' .. #key .. ',' .. user .. ';' .. key .. update)
      redis.call('ZADD', name('timers_due'), to_id(time), number .. ':' .. id)
      user_of_timer(user, id, 'SADD')
    end
  end
  if last >= first then keep_next_timer() end
end
`

/** Moves due timers to the ends of their partitions. Requires `append`. */
export const movingTimers = `${keepingNextTimer}
local function move_timers(now, limit)
  local timers, due_timers, moved = name('timers'), name('timers_due'), 0
  local due = redis.call('ZRANGEBYSCORE', due_timers, '-inf', now, 'WITHSCORES', 'LIMIT', '0', limit)
  for at = 1, #due, 2 do
    local number, id = string.match(due[at], '^(%d*):(.*)$')
    local timer = redis.call('HGET', timers, id)
    local stored, length, user, from = string.match(timer or '', '^(%d+),(%d+),([^;]*);()')
    redis.call('ZREM', due_timers, due[at])
    -- Only a timer that was overwritten by hand leaves its number behind when it is replaced.
    if stored and stored ~= number then timer = false else redis.call('HDEL', timers, id) end
    if timer then
      -- One that was overwritten by hand becomes an update that cannot be decoded.
      local key, update = '', timer
      if length then
        key = string.sub(timer, from, from + length - 1)
        update = to_id(tonumber(due[at + 1])) .. string.sub(timer, from + length)
      end
      local occurrence = to_id(reserve_ids(1) + 1)
      append(key, occurrence, '', update)
      if length then redis.call('HSET', name('occurrences'), id, occurrence .. ';' .. user) end
      moved = moved + 1
    end
  end
  if moved > 0 then redis.call('INCRBY', name('queued'), moved) end
  keep_next_timer()
end
`

/** Arguments: the changes. */
const changeScript = script(readingClock, changingTimers, "change_timers(ARGV, 1, #ARGV)").withReturnType<null>()

/** Returns in how many milliseconds the next timer is due. */
const untilNextScript = script(
  readingClock,
  `
local due_at = redis.call('GET', name('next_timer'))
return due_at and to_id(math.max(0, tonumber(due_at) - read_clock()))
`
).withReturnType<string | null>()

/** Arguments: the id of an update. Returns 1 if the update is a cancelled occurrence. */
const isCancelledScript = script("return redis.call('SISMEMBER', name('cancelled'), ARGV[1])").withReturnType<number>()

/**
 * Arguments: time and member of the last timer of the page before, or nothing, and the number of timers. Returns
 * member, time and update of each timer. A timer that was overwritten by hand is returned unchanged.
 */
const pageScript = script(`
local due_timers, time, after, limit = name('timers_due'), ARGV[1], ARGV[2], tonumber(ARGV[3])
local from = 0
if time ~= '' then
  -- The first of the timers of this time whose member is greater.
  from = redis.call('ZCOUNT', due_timers, '-inf', '(' .. time)
  local to = from + redis.call('ZCOUNT', due_timers, time, time)
  while from < to do
    local middle = math.floor((from + to) / 2)
    if redis.call('ZRANGE', due_timers, middle, middle)[1] > after then to = middle else from = middle + 1 end
  end
end
local members, page = redis.call('ZRANGE', due_timers, from, from + limit - 1, 'WITHSCORES'), {}
for at = 1, #members, 2 do
  local timer = redis.call('HGET', name('timers'), string.match(members[at], '^%d*:(.*)$')) or ''
  local length, from = string.match(timer, '^%d+,(%d+),[^;]*;()')
  page[#page + 1] = { members[at], members[at + 1], length and '0' .. string.sub(timer, from + length) or timer }
end
return page
`).withReturnType<ReadonlyArray<readonly [member: string, dueAt: string, update: string]>>()

/** Arguments: the user, maximum number of timers. Returns how many were cancelled, and 1 if there may be more. */
const forgetScript = script(
  cancellingTimers,
  `
local ids, count = redis.call('SRANDMEMBER', name('timer_users:') .. ARGV[1], ARGV[2]), 0
for _, id in ipairs(ids) do
  count = count + remove_timer(id) + cancel_occurrence(id)
  redis.call('SREM', name('timer_users:') .. ARGV[1], id)
end
keep_next_timer()
return { count, #ids == tonumber(ARGV[2]) and 1 or 0 }
`
).withReturnType<readonly [count: number, more: number]>()

export const changeArguments = (changes: ReadonlyArray<TimerChange>): ReadonlyArray<string> =>
  changes.flatMap(({ key, name, occurrence = "", set }) => {
    const id = encodeText(`${name.length}:${name}${key}`)
    if (occurrence !== "" && !isId(occurrence)) return []
    if (set === undefined) return [id, "", "", "", "", occurrence]
    const due = "at" in set.due ? `=${Math.floor(set.due.at)}` : `+${Math.ceil(set.due.after)}`
    const partitionKey = encodeIndexed(set.partitionKey)
    const update = pack(encodeIndexed(set.fingerprint), partitionKey, set.text)
    return [id, due, partitionKey, update, encodeUser(set.user ?? ""), occurrence]
  })

/** The user is followed by a semicolon. */
const encodeUser = (user: string): string => encodeIndexed(user).replaceAll("%", "%25").replaceAll(";", "%3B")

const toStored = ([id, dueAt, update]: readonly [string, string, string]): StoredTimer => {
  const { partitionKey, text } = unpack(update)
  return { id, dueAt: Number(dueAt), partitionKey, text }
}

export const make = (run: Run): TimerStore => {
  const change = run("changeTimers", changeScript)
  const untilNext = run("untilNext", untilNextScript)
  const isCancelled = run("isCancelled", isCancelledScript)
  const page = run("pageTimers", pageScript)
  const forget = run("forgetTimers", forgetScript)

  return {
    change: (changes) =>
      changes.length === 0 ? Effect.void : Effect.asVoid(Effect.suspend(() => change(changeArguments(changes)))),
    untilNext: Effect.map(untilNext(), (wait) => (wait === null ? undefined : Number(wait))),
    isCancelled: (occurrence) => Effect.map(isCancelled([occurrence]), (found) => found === 1),
    page: ({ after, limit }) =>
      Effect.map(page([after === undefined ? "" : String(after.dueAt), after?.id ?? "", String(limit)]), (found) =>
        found.map(toStored)
      ),
    forget: Effect.fnUntraced(function* (user) {
      let cancelled = 0
      for (;;) {
        const [count, more] = yield* forget([encodeUser(user), String(removalSize)])
        cancelled += count
        if (more === 0) return cancelled
      }
    })
  }
}
