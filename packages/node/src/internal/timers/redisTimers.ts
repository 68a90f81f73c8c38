import type { TimerChange, TimerStore } from "@colloquy/core/HandlingStore"
import * as Effect from "effect/Effect"
import { encodeIndexed, encodeText } from "../stores/values.ts"
import { readingClock, type Run, script } from "../updates/redisLua.ts"
import { pack } from "../updates/redisRows.ts"

const keepingNextTimer = `
local function keep_next_timer()
  local due_at = redis.call('ZRANGE', name('timers_due'), '0', '0', 'WITHSCORES')[2]
  if due_at then redis.call('SET', name('next_timer'), due_at) else redis.call('DEL', name('next_timer')) end
end
`

/**
 * Changes timers. A change is four values: the id of the timer, when it is due (`=` and a time, `+` and a number of
 * milliseconds, or nothing to cancel it), its partition, and its update without the receive time.
 */
export const changingTimers = `${keepingNextTimer}
local function change_timers(values, first, last)
  local timers, due_timers = name('timers'), name('timers_due')
  for at = first, last, 4 do
    local id, due, key, update = unpack(values, at, at + 3)
    local replaced = redis.call('HGET', timers, id)
    if replaced then redis.call('ZREM', due_timers, (string.match(replaced, '^%d+') or '') .. ':' .. id) end
    if due ~= '' then
      local number = to_id(reserve_ids(1) + 1)
      local time = tonumber(string.sub(due, 2))
      if string.byte(due) == 43 then time = time + read_clock() end
      redis.call('HSET', timers, id, number .. ',' .. #key .. ';' .. key .. update)
      redis.call('ZADD', due_timers, to_id(time), number .. ':' .. id)
    elseif replaced then
      redis.call('HDEL', timers, id)
    end
  end
  if last >= first then keep_next_timer() end
end
`

/** Moves timers that are due to the ends of their partitions. It needs `append`. */
export const movingTimers = `${keepingNextTimer}
local function move_timers(now, limit)
  local timers, due_timers, moved = name('timers'), name('timers_due'), 0
  local due = redis.call('ZRANGEBYSCORE', due_timers, '-inf', now, 'WITHSCORES', 'LIMIT', '0', limit)
  for at = 1, #due, 2 do
    local number, id = string.match(due[at], '^(%d*):(.*)$')
    local timer = redis.call('HGET', timers, id)
    local stored, length, from = string.match(timer or '', '^(%d+),(%d+);()')
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
      append(key, to_id(reserve_ids(1) + 1), '', update)
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

export const changeArguments = (changes: ReadonlyArray<TimerChange>): ReadonlyArray<string> =>
  changes.flatMap(({ key, name, set }) => {
    const id = encodeText(`${name.length}:${name}${key}`)
    if (set === undefined) return [id, "", "", ""]
    const due = "at" in set.due ? `=${Math.floor(set.due.at)}` : `+${Math.ceil(set.due.after)}`
    const partitionKey = encodeIndexed(set.partitionKey)
    return [id, due, partitionKey, pack(encodeIndexed(set.fingerprint), partitionKey, set.text)]
  })

export const make = (run: Run): TimerStore => {
  const change = run("changeTimers", changeScript)
  const untilNext = run("untilNext", untilNextScript)

  return {
    change: (changes) =>
      changes.length === 0 ? Effect.void : Effect.asVoid(Effect.suspend(() => change(changeArguments(changes)))),
    untilNext: Effect.map(untilNext(), (wait) => (wait === null ? undefined : Number(wait)))
  }
}
