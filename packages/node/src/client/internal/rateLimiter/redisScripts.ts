import type {
  AcquireOptions,
  AcquireResult,
  AdaptiveState,
  Limit,
  PermitResult
} from "@colloquy/core/client/RateLimiterStore"
import * as Effect from "effect/Effect"
import * as Redis from "effect/persistence/Redis"
import * as Schema from "effect/Schema"

/** The clock of the server in milliseconds, as `now`, which never goes back. KEYS[1] is the state. */
const clockLua = `
local time = redis.call('TIME')
local clock = redis.call('HMGET', KEYS[1], 'clock', 'offset')
local wall, last, offset = time[1] * 1000 + time[2] / 1000, tonumber(clock[1]) or 0, tonumber(clock[2]) or 0
local now = wall + offset
local function text(number) return string.format('%.3f', number) end
if now < last then now, offset = last, last - wall end
`

const saveClockLua = `
redis.call('HSET', KEYS[1], 'clock', text(now), 'offset', text(offset))
`

/**
 * The permits of the host and of each bucket are sorted sets of ids, by the times at which they count. A member is
 * stored as the times from which the process is absent and removed, and its number of reserved permits. A process that
 * did not get all its permits is registered as waiting, with the start of its wait and the time until which its next
 * request is expected.
 */
const acquireLua = `${clockLua}
local state, host, members, waiting = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local input = cjson.decode(ARGV[1])
local process, count, window = input.process, input.host.count, input.host.window
if now > input.deadline then return { 'late', text(now) } end
${saveClockLua}
local function expire(key, millis)
  if redis.call('PTTL', key) < millis then redis.call('PEXPIRE', key, math.ceil(millis) + 1000) end
end

local stored = redis.call('HMGET', state, 'limit', 'paused', 'paced', 'epoch', 'lostEpoch', 'lost', 'lostUntil')
local hostLimit = math.min(count, tonumber(stored[1]) or count)
local paused, paced, epoch = tonumber(stored[2]) or 0, tonumber(stored[3]) or 0, stored[4]
local lost, lostUntil = tonumber(stored[6]) or 0, tonumber(stored[7]) or 0
if not epoch then
  epoch = process.id .. ':' .. text(now)
  paused = math.max(paused, now + window + input.maxDelay)
  redis.call('HSET', state, 'epoch', epoch, 'paused', text(paused))
end
if process.epoch and process.epoch ~= epoch then
  if stored[5] == process.epoch then lost = math.max(0, lost - process.reserved)
  else lost, lostUntil = process.reservedForOthers, now + process.reserveFor end
  redis.call('HSET', state, 'lostEpoch', process.epoch, 'lost', lost, 'lostUntil', text(lostUntil))
end

local others, absent, reserved = 0, 0, 0
if lostUntil + window + input.maxDelay >= now then others, absent = lost, lost end
local entries = redis.call('HGETALL', members)
for i = 1, #entries, 2 do
  local absentAt, removedAt, held = string.match(entries[i + 1], '(%S+) (%S+) (%S+)')
  if tonumber(removedAt) < now then redis.call('HDEL', members, entries[i])
  elseif entries[i] ~= process.id then
    others = others + tonumber(held)
    if tonumber(absentAt) < now then absent = absent + tonumber(held) end
  end
end
if process.share > 0 then
  reserved = math.max(0, math.min(math.max(1, math.floor(hostLimit * process.share)), hostLimit - others))
  local lasts = process.reserveFor + window + input.maxDelay
  -- The process uses its earlier reservation until this result arrives.
  local held = math.max(reserved, process.reserved)
  redis.call('HSET', members, process.id, text(now + process.absentAfter) .. ' ' .. text(now + lasts) .. ' ' .. held)
  expire(members, lasts)
end

for _, permit in ipairs(input.unused) do
  redis.call('ZREM', host, permit.id)
  if permit.key then redis.call('ZREM', KEYS[permit.key], permit.id) end
end
for _, sent in ipairs(input.sentAlone) do
  redis.call('ZADD', host, text(now - sent.age), sent.id)
  if sent.key then
    redis.call('ZADD', KEYS[sent.key], text(now - sent.age), sent.id)
    expire(KEYS[sent.key], sent.window)
  end
end
redis.call('ZREMRANGEBYSCORE', host, '-inf', text(now - window))

local limit = hostLimit - absent
local spacing = window / math.max(1, limit)
local since, waits = now, {}
entries = redis.call('HGETALL', waiting)
for i = 1, #entries, 2 do
  local began, expected = string.match(entries[i + 1], '(%S+) (%S+)')
  if tonumber(expected) < now then redis.call('HDEL', waiting, entries[i])
  elseif entries[i] == process.id then since = tonumber(began)
  else waits[#waits + 1] = { began = tonumber(began), at = tonumber(expected) - input.gracePeriod } end
end
local soon = now + #waits * input.turn
local function ahead()
  local number = 0
  for _, other in ipairs(waits) do if other.began < since and other.at <= soon then number = number + 1 end end
  return number
end
local function readyAt(key, allowed, window)
  local size = redis.call('ZCARD', key)
  if size < allowed then return 0 end
  return tonumber(redis.call('ZRANGE', key, size - allowed, size - allowed, 'WITHSCORES')[2]) + window
end
local function hostReadyAt(before)
  if limit <= 0 then return math.max(paused, now + input.reservedRetryAfter) end
  return math.max(paused, readyAt(host, math.max(1, limit - before), window))
end

local results, wait = {}, 0
for _, request in ipairs(input.requests) do
  local key = request.key and KEYS[request.key]
  local before = ahead()
  local ready = hostReadyAt(before)
  if request.isPaced then
    if ready > now then paced = math.max(paced, hostReadyAt(0)) end
    ready = math.max(ready, paced + before * spacing)
  end
  local bucketReady = 0
  local at = math.max(now, ready)
  if key and ready <= now + input.advance then
    redis.call('ZREMRANGEBYSCORE', key, '-inf', text(now - request.window))
    bucketReady = readyAt(key, request.count, request.window)
  end
  if ready > now + input.advance then
    -- Those that come first may take fewer permits than are left free for them.
    if not request.isPaced then ready = math.min(ready, math.max(now, hostReadyAt(0)) + before * input.turn) end
    wait = math.max(wait, ready - now)
    results[#results + 1] = 'H ' .. text(ready - now)
  elseif bucketReady > at then
    results[#results + 1] = 'B ' .. text(bucketReady - now)
  else
    local used, counted, isBucketFull = redis.call('ZCOUNT', host, '(' .. text(at - window), '+inf'), at + input.delay, '0'
    redis.call('ZADD', host, text(counted), request.id)
    expire(host, window + input.advance + input.delay)
    if key then
      redis.call('ZADD', key, text(counted), request.id)
      expire(key, request.window + input.advance + input.delay)
      if redis.call('ZCARD', key) >= request.count then isBucketFull = '1' end
    end
    if request.isPaced then paced = math.max(paced, at - (math.ceil(limit / 3) - 1) * spacing) + spacing end
    since = now
    results[#results + 1] = 'G ' .. text(at) .. ' ' .. text(counted) .. ' ' .. used .. ' ' .. isBucketFull
  end
end
if wait > 0 then
  redis.call('HSET', waiting, process.id, text(since) .. ' ' .. text(now + wait + input.gracePeriod))
  expire(waiting, wait + input.gracePeriod)
else
  redis.call('HDEL', waiting, process.id)
end
redis.call('HSET', state, 'paced', text(paced))
redis.call('PEXPIRE', state, input.stateExpiry)
return { 'acquired', text(now), tostring(hostLimit), epoch, tostring(reserved), tostring(others), unpack(results) }
`

/** Without the state, the store counts as empty, and its first call waits for a window. */
const stateExpiry = 86_400_000

export const keysOf = (prefix: string) => ({
  state: `${prefix}:state`,
  host: `${prefix}:host`,
  members: `${prefix}:members`,
  waiting: `${prefix}:waiting`,
  bucket: (key: string) => `${prefix}:${key}`
})

type Keys = ReturnType<typeof keysOf>

interface Acquire extends AcquireOptions {
  readonly keys: Keys
  readonly gracePeriod: number
  readonly reservedRetryAfter: number
  readonly turn: number
}

const fixedKeys = 4

const bucketsOf = ({ requests, sentAlone, unused }: AcquireOptions) => [
  ...new Set([
    ...requests.flatMap(({ bucket }) => bucket?.key ?? []),
    ...sentAlone.flatMap(({ bucket }) => bucket?.key ?? []),
    ...unused.flatMap(({ bucket }) => bucket ?? [])
  ])
]

export const acquire = Redis.script(
  (options: Acquire) => {
    const { keys, requests, sentAlone, unused, ...rest } = options
    const buckets = bucketsOf(options)
    const indexOf = (key: string | undefined) => (key === undefined ? undefined : buckets.indexOf(key) + 1 + fixedKeys)
    const withIndex = <A extends { readonly bucket: (Limit & { readonly key: string }) | undefined }>({
      bucket,
      ...item
    }: A) => ({ ...item, ...bucket, key: indexOf(bucket?.key) })
    const input = {
      ...rest,
      stateExpiry,
      requests: requests.map(withIndex),
      sentAlone: sentAlone.map(withIndex),
      unused: unused.map(({ bucket, id }) => ({ id, key: indexOf(bucket) }))
    }
    return [keys.state, keys.host, keys.members, keys.waiting, ...buckets.map(keys.bucket), JSON.stringify(input)]
  },
  { lua: acquireLua, numberOfKeys: (options) => fixedKeys + bucketsOf(options).length }
).withReturnType<ReadonlyArray<string>>()

const permitOf = (result: string): PermitResult => {
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

export const resultOf = ([kind, now, ...rest]: ReadonlyArray<string>): AcquireResult => {
  if (kind === "late") return { _tag: "Late", now: Number(now) }
  const [hostLimit, epoch, reserved, reservedForOthers, ...results] = rest
  return {
    _tag: "Acquired",
    now: Number(now),
    results: results.map(permitOf),
    hostLimit: Number(hostLimit),
    epoch,
    reserved: Number(reserved),
    reservedForOthers: Number(reservedForOthers)
  }
}

export const time = Redis.script((keys: Keys) => [keys.state], {
  numberOfKeys: 1,
  lua: `${clockLua}return text(now)`
}).withReturnType<string>()

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
    lua: `${clockLua}
local stored = redis.call('HGET', KEYS[1], 'adaptive') or ''
local isReplaced = 0
if ARGV[2] ~= '' and stored == ARGV[1] then
  redis.call('HSET', KEYS[1], 'adaptive', ARGV[2], 'limit', ARGV[3])
  redis.call('PEXPIRE', KEYS[1], ${stateExpiry})
  isReplaced = 1
end
return { text(now), stored, isReplaced }
`
  }
).withReturnType<readonly [now: string, stored: string, isReplaced: number]>()

export const pause = Redis.script((keys: Keys, millis: number) => [keys.state, millis], {
  numberOfKeys: 1,
  lua: `${clockLua}
local paused = tonumber(redis.call('HGET', KEYS[1], 'paused') or 0)
redis.call('HSET', KEYS[1], 'paused', text(math.max(now + ARGV[1], paused)))
redis.call('PEXPIRE', KEYS[1], math.ceil(ARGV[1]) + ${stateExpiry})
`
})

export const mergeBuckets = Redis.script(
  (keys: Keys, from: string, to: string) => [keys.bucket(from), keys.bucket(to)],
  {
    numberOfKeys: 2,
    lua: `
local ttl = math.max(redis.call('PTTL', KEYS[1]), redis.call('PTTL', KEYS[2]))
if ttl < 0 then return end
redis.call('ZUNIONSTORE', KEYS[2], 2, KEYS[1], KEYS[2], 'AGGREGATE', 'MAX')
redis.call('DEL', KEYS[1])
redis.call('PEXPIRE', KEYS[2], ttl)
`
  }
)

export const move = Redis.script(
  (keys: Keys, bucket: string | undefined, id: string, to: number) => [
    keys.host,
    ...(bucket === undefined ? [] : [keys.bucket(bucket)]),
    id,
    to.toFixed(3)
  ],
  {
    numberOfKeys: (_, bucket) => (bucket === undefined ? 1 : 2),
    lua: `
for _, key in ipairs(KEYS) do
  local counted = redis.call('ZSCORE', key, ARGV[1])
  if counted then
    redis.call('ZADD', key, ARGV[2], ARGV[1])
    redis.call('PEXPIRE', key, redis.call('PTTL', key) + math.max(0, math.ceil(ARGV[2] - counted)))
  end
end
`
  }
)

export const leave = Redis.script((keys: Keys, process: string) => [keys.members, process], {
  numberOfKeys: 1,
  lua: `redis.call('HDEL', KEYS[1], ARGV[1])`
})
