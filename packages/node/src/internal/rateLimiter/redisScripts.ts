import type { AdaptiveState, Limit, PermitRequest, PermitResult } from "@colloquy/core/RateLimiterStore"
import * as Effect from "effect/Effect"
import * as Redis from "effect/persistence/Redis"
import * as Schema from "effect/Schema"

/**
 * The permits of the host and of each bucket are lists of times, the latest last, in milliseconds of the server's clock.
 * A process that did not get all its permits is registered as waiting: since when it waits, and until when it is expected
 * to ask again. A process leaves one permit of the host free for each process that has waited longer.
 */
const acquireLua = `
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local host, state, waiting = KEYS[1], KEYS[2], KEYS[3]
local count, window, process = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3]
local grace, counted = tonumber(ARGV[4]), now + ARGV[5]
local function text(number) return string.format('%.3f', number) end
local function expire(key, millis) redis.call('PEXPIRE', key, math.ceil(millis) + 1000) end

local stored = redis.call('HMGET', state, 'limit', 'paused', 'paced')
local limit = math.min(count, tonumber(stored[1]) or count)
local paused, paced = tonumber(stored[2]) or 0, tonumber(stored[3]) or 0
local spacing = window / limit

-- The clock of the server was set back.
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
local processes = redis.call('HGETALL', waiting)
for i = 1, #processes, 2 do
  local began, expected = string.match(processes[i + 1], '(%S+) (%S+)')
  if tonumber(expected) < now then redis.call('HDEL', waiting, processes[i])
  elseif processes[i] == process then since = tonumber(began)
  else others[#others + 1] = tonumber(began) end
end
local function ahead()
  local number = 0
  for _, began in ipairs(others) do if began < since then number = number + 1 end end
  return number
end
local function hostReady(before)
  local permit = redis.call('LINDEX', host, -math.max(1, limit - before))
  return math.max(paused, permit and tonumber(permit) + window or 0)
end

local results, wait = {}, 0
for i = 6, #ARGV, 4 do
  local key, bucketCount = KEYS[3 + tonumber(ARGV[i])], tonumber(ARGV[i + 1])
  local bucketWindow, isPaced = tonumber(ARGV[i + 2]), ARGV[i + 3] == '1'
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
    local full = bucketCount > 0 and redis.call('LINDEX', key, -bucketCount)
    if full and tonumber(full) + bucketWindow > now then
      results[#results + 1] = 'B ' .. text(tonumber(full) + bucketWindow - now)
    else
      local used = redis.call('LLEN', host)
      redis.call('RPUSH', host, text(counted))
      expire(host, window + counted - now)
      local isBucketFull = '0'
      if bucketCount > 0 then
        if redis.call('RPUSH', key, text(counted)) > bucketCount then redis.call('LTRIM', key, -bucketCount, -1) end
        expire(key, bucketWindow + counted - now)
        full = redis.call('LINDEX', key, -bucketCount)
        if full and tonumber(full) + bucketWindow > now then isBucketFull = '1' end
      end
      if isPaced then paced = math.max(paced, now - (math.ceil(limit / 3) - 1) * spacing) + spacing end
      since = now
      results[#results + 1] = 'G ' .. text(now) .. ' ' .. text(counted) .. ' ' .. used .. ' ' .. isBucketFull
    end
  end
end
if wait > 0 then
  redis.call('HSET', waiting, process, text(since) .. ' ' .. text(now + wait + grace))
  expire(waiting, wait + grace)
else
  redis.call('HDEL', waiting, process)
end
redis.call('HSET', state, 'paced', text(paced))
if redis.call('PTTL', state) < 600000 then redis.call('PEXPIRE', state, 900000) end
return { tostring(limit), unpack(results) }
`

export const keysOf = (prefix: string) => ({
  host: `${prefix}:host`,
  state: `${prefix}:state`,
  waiting: `${prefix}:waiting`,
  bucket: (key: string) => `${prefix}:${key}`
})

type Keys = ReturnType<typeof keysOf>

interface Acquire {
  readonly keys: Keys
  readonly host: Limit
  readonly processId: string
  readonly gracePeriod: number
  readonly delay: number
  readonly requests: ReadonlyArray<PermitRequest>
}

const bucketsOf = ({ requests }: Acquire) => requests.flatMap(({ bucket }) => (bucket === undefined ? [] : [bucket]))

export const acquire = Redis.script(
  (options: Acquire) => {
    const { delay, gracePeriod, host, keys, processId, requests } = options
    const buckets = bucketsOf(options)
    return [
      keys.host,
      keys.state,
      keys.waiting,
      ...buckets.map(({ key }) => keys.bucket(key)),
      host.count,
      host.window,
      processId,
      gracePeriod,
      delay,
      ...requests.flatMap(({ bucket, isPaced }) => [
        bucket === undefined ? 0 : buckets.indexOf(bucket) + 1,
        bucket?.count ?? 0,
        bucket?.window ?? 0,
        isPaced ? 1 : 0
      ])
    ]
  },
  { lua: acquireLua, numberOfKeys: (options) => 3 + bucketsOf(options).length }
).withReturnType<readonly [hostLimit: string, ...results: ReadonlyArray<string>]>()

export const resultOf = (result: string): PermitResult => {
  const [kind, first, countedAt, used, isBucketFull] = result.split(" ")
  const millis = Number(first)
  return kind === "G"
    ? {
        _tag: "Granted",
        at: millis,
        countedAt: Number(countedAt),
        used: Number(used),
        isBucketFull: isBucketFull === "1"
      }
    : { _tag: kind === "B" ? "BucketFull" : "HostFull", retryAfter: millis }
}

const AdaptiveStateJson: Schema.Codec<AdaptiveState, string> = Schema.fromJsonString(
  Schema.Struct({
    limit: Schema.Finite,
    limitBefore: Schema.Finite,
    limitAfter: Schema.Finite,
    reducedAt: Schema.Finite,
    raiseAt: Schema.Finite,
    raiseBy: Schema.Finite,
    raiseDelay: Schema.Finite
  })
)

const decode = Schema.decodeUnknownEffect(AdaptiveStateJson)

/** Decodes the stored adaptive state. An empty text is no state. */
export const decodeState = (stored: string): Effect.Effect<AdaptiveState | undefined, Schema.SchemaError> =>
  stored === "" ? Effect.succeed(undefined) : decode(stored)

/**
 * Returns the time, the stored adaptive state, and whether it was replaced: `next` replaces the state if it is still
 * `expected`. Without `next`, the state is only read.
 */
export const exchangeState = Redis.script(
  (keys: Keys, expected: string, next: string, limit: number) => [keys.state, expected, next, limit],
  {
    numberOfKeys: 1,
    lua: `
local time = redis.call('TIME')
local stored = redis.call('HGET', KEYS[1], 'adaptive') or ''
local isReplaced = 0
if ARGV[2] ~= '' and stored == ARGV[1] then
  redis.call('HSET', KEYS[1], 'adaptive', ARGV[2], 'limit', ARGV[3])
  redis.call('PEXPIRE', KEYS[1], 900000)
  isReplaced = 1
end
return { string.format('%.3f', time[1] * 1000 + time[2] / 1000), stored, isReplaced }
`
  }
).withReturnType<readonly [now: string, stored: string, isReplaced: number]>()

export const pause = Redis.script((keys: Keys, millis: number) => [keys.state, millis], {
  numberOfKeys: 1,
  lua: `
local time = redis.call('TIME')
local pausedUntil = time[1] * 1000 + time[2] / 1000 + ARGV[1]
local paused = tonumber(redis.call('HGET', KEYS[1], 'paused') or 0)
redis.call('HSET', KEYS[1], 'paused', string.format('%.3f', math.max(pausedUntil, paused)))
redis.call('PEXPIRE', KEYS[1], math.ceil(ARGV[1]) + 900000)
`
})

export const mergeBuckets = Redis.script(
  (keys: Keys, from: string, to: string) => [keys.bucket(from), keys.bucket(to)],
  {
    numberOfKeys: 2,
    lua: `
local times = redis.call('LRANGE', KEYS[1], 0, -1)
if #times == 0 then return end
for _, time in ipairs(redis.call('LRANGE', KEYS[2], 0, -1)) do times[#times + 1] = time end
table.sort(times, function(a, b) return tonumber(a) < tonumber(b) end)
local ttl = math.max(redis.call('PTTL', KEYS[1]), redis.call('PTTL', KEYS[2]))
redis.call('DEL', KEYS[1], KEYS[2])
redis.call('RPUSH', KEYS[2], unpack(times))
redis.call('PEXPIRE', KEYS[2], ttl)
`
  }
)

export const postpone = Redis.script(
  (keys: Keys, bucket: string | undefined, from: number, to: number) => [
    keys.host,
    ...(bucket === undefined ? [] : [keys.bucket(bucket)]),
    from.toFixed(3),
    to.toFixed(3)
  ],
  {
    numberOfKeys: (_, bucket) => (bucket === undefined ? 1 : 2),
    lua: `
for _, key in ipairs(KEYS) do
  local index = redis.call('LPOS', key, ARGV[1], 'RANK', -1)
  if index then redis.call('LSET', key, index, ARGV[2]) end
end
`
  }
)
