import type { Outcome, Wish } from "@colloquy/core/SharedRateLimiter"
import * as Redis from "effect/persistence/Redis"

/**
 * Departures stand in lists of times, the latest at the end, in milliseconds of the server's clock. A process that did
 * not get all it wished for has a turn: how long it waits already, and when it will have asked again at the latest. Who
 * waits less long leaves one place free for each of those who wait longer.
 */
const takeLua = `
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local host, state, turns = KEYS[1], KEYS[2], KEYS[3]
local count, window, me = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3]
local grace, counted = tonumber(ARGV[4]), now + ARGV[5]
local function text(number) return string.format('%.3f', number) end
local function expire(key, millis) redis.call('PEXPIRE', key, math.ceil(millis) + 1000) end

local stored = redis.call('HMGET', state, 'level', 'paused', 'paced')
local level = math.min(count, tonumber(stored[1]) or count)
local paused, paced = tonumber(stored[2]) or 0, tonumber(stored[3]) or 0
local spacing = window / level

local last = redis.call('LINDEX', host, -1)
if last and tonumber(last) > now + 10000 then
  redis.call('DEL', host)
  paused, paced = now + window, 0
  redis.call('HSET', state, 'paused', text(paused))
end
local oldest = redis.call('LINDEX', host, 0)
while oldest and tonumber(oldest) + window <= now do
  redis.call('LPOP', host)
  oldest = redis.call('LINDEX', host, 0)
end

local since, others = now, {}
local standing = redis.call('HGETALL', turns)
for i = 1, #standing, 2 do
  local began, til = string.match(standing[i + 1], '(%S+) (%S+)')
  if tonumber(til) < now then redis.call('HDEL', turns, standing[i])
  elseif standing[i] == me then since = tonumber(began)
  else others[#others + 1] = tonumber(began) end
end
local function ahead()
  local number = 0
  for _, began in ipairs(others) do if began < since then number = number + 1 end end
  return number
end
local function hostReady(before)
  local place = redis.call('LINDEX', host, -math.max(1, level - before))
  return math.max(paused, place and tonumber(place) + window or 0)
end

local results, wait = {}, 0
for i = 6, #ARGV, 4 do
  local key, lineCount = KEYS[3 + tonumber(ARGV[i])], tonumber(ARGV[i + 1])
  local lineWindow, isPaced = tonumber(ARGV[i + 2]), ARGV[i + 3] == '1'
  local before = ahead()
  local ready = hostReady(before)
  if isPaced then
    if ready > now then paced = math.max(paced, hostReady(0)) end
    ready = math.max(ready, paced + before * spacing)
  end
  if ready > now then
    wait = math.max(wait, ready - now)
    results[#results + 1] = 'H ' .. text(ready - now)
  else
    local full = lineCount > 0 and redis.call('LINDEX', key, -lineCount)
    if full and tonumber(full) + lineWindow > now then
      results[#results + 1] = 'L ' .. text(tonumber(full) + lineWindow - now)
    else
      local load = redis.call('LLEN', host)
      redis.call('RPUSH', host, text(counted))
      expire(host, window + counted - now)
      local isLast = '0'
      if lineCount > 0 then
        if redis.call('RPUSH', key, text(counted)) > lineCount then redis.call('LTRIM', key, -lineCount, -1) end
        expire(key, lineWindow + counted - now)
        full = redis.call('LINDEX', key, -lineCount)
        if full and tonumber(full) + lineWindow > now then isLast = '1' end
      end
      if isPaced then paced = math.max(paced, now - (math.ceil(level / 3) - 1) * spacing) + spacing end
      since = now
      results[#results + 1] = 'D ' .. text(now) .. ' ' .. text(counted) .. ' ' .. load .. ' ' .. isLast
    end
  end
end
if wait > 0 then
  redis.call('HSET', turns, me, text(since) .. ' ' .. text(now + wait + grace))
  expire(turns, wait + grace)
else
  redis.call('HDEL', turns, me)
end
redis.call('HSET', state, 'paced', text(paced))
if redis.call('PTTL', state) < 600000 then redis.call('PEXPIRE', state, 900000) end
return { tostring(level), unpack(results) }
`

/** Names of the keys. What stands in braces is one slot of a cluster. */
export const keysOf = (prefix: string) => {
  const slot = prefix.includes("{") ? prefix : `{${prefix}}`
  return {
    host: `${slot}:host`,
    state: `${slot}:state`,
    turns: `${slot}:turns`,
    line: (name: string) => `${slot}:${name}`
  }
}

type Keys = ReturnType<typeof keysOf>

interface Take {
  readonly keys: Keys
  readonly host: { readonly count: number; readonly window: number }
  readonly me: string
  readonly grace: number
  readonly late: number
  readonly wishes: ReadonlyArray<Wish>
}

const linesOf = ({ wishes }: Take) => wishes.flatMap(({ line }) => (line === undefined ? [] : [line]))

export const take = Redis.script(
  (ask: Take) => {
    const { grace, host, keys, late, me, wishes } = ask
    const lines = linesOf(ask)
    return [
      keys.host,
      keys.state,
      keys.turns,
      ...lines.map(({ name }) => keys.line(name)),
      host.count,
      host.window,
      me,
      grace,
      late,
      ...wishes.flatMap(({ isPaced, line }) => [
        line === undefined ? 0 : lines.indexOf(line) + 1,
        line?.count ?? 0,
        line?.window ?? 0,
        isPaced ? 1 : 0
      ])
    ]
  },
  { lua: takeLua, numberOfKeys: (ask) => 3 + linesOf(ask).length }
).withReturnType<readonly [level: string, ...outcomes: ReadonlyArray<string>]>()

export const outcomeOf = (result: string): Outcome => {
  const [kind, first, counted, load, isLast] = result.split(" ")
  const millis = Number(first)
  return kind === "D"
    ? { _tag: "Departed", at: millis, counted: Number(counted), load: Number(load), isLast: isLast === "1" }
    : { _tag: kind === "L" ? "LineFull" : "HostFull", millis }
}

/** Gives the time and what was learnt; puts `next` in its place where it is still what the caller has `seen`. */
export const learn = Redis.script(
  (keys: Keys, seen: string, next: string, level: number) => [keys.state, seen, next, level],
  {
    numberOfKeys: 1,
    lua: `
local time = redis.call('TIME')
local stored = redis.call('HGET', KEYS[1], 'lessons') or ''
local isChanged = 0
if ARGV[2] ~= '' and stored == ARGV[1] then
  redis.call('HSET', KEYS[1], 'lessons', ARGV[2], 'level', ARGV[3])
  redis.call('PEXPIRE', KEYS[1], 900000)
  isChanged = 1
end
return { string.format('%.3f', time[1] * 1000 + time[2] / 1000), stored, isChanged }
`
  }
).withReturnType<readonly [now: string, stored: string, isChanged: number]>()

export const pause = Redis.script((keys: Keys, millis: number) => [keys.state, millis], {
  numberOfKeys: 1,
  lua: `
local time = redis.call('TIME')
local til = time[1] * 1000 + time[2] / 1000 + ARGV[1]
local paused = tonumber(redis.call('HGET', KEYS[1], 'paused') or 0)
redis.call('HSET', KEYS[1], 'paused', string.format('%.3f', math.max(til, paused)))
redis.call('PEXPIRE', KEYS[1], math.ceil(ARGV[1]) + 900000)
`
})

export const merge = Redis.script((keys: Keys, from: string, to: string) => [keys.line(from), keys.line(to)], {
  numberOfKeys: 2,
  lua: `
local times = redis.call('LRANGE', KEYS[1], 0, -1)
if #times == 0 then return end
for _, time in ipairs(redis.call('LRANGE', KEYS[2], 0, -1)) do times[#times + 1] = time end
table.sort(times, function(a, b) return tonumber(a) < tonumber(b) end)
local left = math.max(redis.call('PTTL', KEYS[1]), redis.call('PTTL', KEYS[2]))
redis.call('DEL', KEYS[1], KEYS[2])
redis.call('RPUSH', KEYS[2], unpack(times))
redis.call('PEXPIRE', KEYS[2], left)
`
})

export const postpone = Redis.script(
  (keys: Keys, line: string | undefined, from: number, to: number) => [
    keys.host,
    ...(line === undefined ? [] : [keys.line(line)]),
    from.toFixed(3),
    to.toFixed(3)
  ],
  {
    numberOfKeys: (_, line) => (line === undefined ? 1 : 2),
    lua: `
for _, key in ipairs(KEYS) do
  local index = redis.call('LPOS', key, ARGV[1], 'RANK', -1)
  if index then redis.call('LSET', key, index, ARGV[2]) end
end
`
  }
)
