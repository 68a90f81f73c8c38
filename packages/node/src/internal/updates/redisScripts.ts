import * as Redis from "effect/persistence/Redis"

/*
 * The keys, all in one hash slot:
 *
 * seq      the last id
 * letters  id -> letter, of those that wait and of the dead
 * box:KEY  the ids that wait in a mailbox, in their order
 * ready    mailboxes with letters that nobody has, by their first id
 * owners   mailbox -> who has it
 * leases   mailboxes that somebody has, by the end of the lease
 * seen     fingerprints, by when they came
 * dead     ids of the dead, in their order; died the same by time of death; deaths id -> why
 * markers  source -> how far it was read
 */
const prelude = `
local function name(part) return KEYS[1] .. ':' .. part end
local letters, ready, owners, leases = name('letters'), name('ready'), name('owners'), name('leases')
local seen, dead, died, deaths = name('seen'), name('dead'), name('died'), name('deaths')
local function box(key) return name('box:' .. key) end
local function nextId() return string.format('%.0f', redis.call('INCR', name('seq'))) end
local function add(key, letter)
  local id = nextId()
  redis.call('HSET', letters, id, letter)
  if redis.call('RPUSH', box(key), id) == 1 and redis.call('HEXISTS', owners, key) == 0 then
    redis.call('ZADD', ready, id, key)
  end
end
local function bury(id, at, death)
  redis.call('HSETNX', letters, id, '')
  redis.call('ZADD', dead, id, id)
  redis.call('ZADD', died, at, id)
  redis.call('HSET', deaths, id, death)
end
local function exhume(id)
  if redis.call('ZREM', dead, id) == 0 then return false end
  redis.call('ZREM', died, id)
  redis.call('HDEL', deaths, id)
  local letter = redis.call('HGET', letters, id)
  redis.call('HDEL', letters, id)
  return letter
end
local function giveBack(key)
  redis.call('HDEL', owners, key)
  redis.call('ZREM', leases, key)
  local head = redis.call('LINDEX', box(key), 0)
  if head then redis.call('ZADD', ready, head, key) end
end
`

const script = (lua: string) =>
  Redis.script((prefix: string, args: ReadonlyArray<string>) => [prefix, ...args], {
    numberOfKeys: 1,
    lua: prelude + lua
  })

/** Letters of seven arguments each, after their number; then markers of two. Gives for each letter whether it is new. */
export const put = script(`
local at, isNew = 2, {}
for index = 1, tonumber(ARGV[1]) do
  local fingerprint, now, since, key, letter, diedAt, death = unpack(ARGV, at, at + 6)
  at = at + 7
  local before = since ~= '' and redis.call('ZSCORE', seen, fingerprint)
  if before and tonumber(before) >= tonumber(since) then
    isNew[index] = 0
  else
    isNew[index] = 1
    if since ~= '' then redis.call('ZADD', seen, now, fingerprint) end
    if diedAt == '' then
      add(key, letter)
    else
      local id = nextId()
      redis.call('HSET', letters, id, letter)
      bury(id, diedAt, death)
    end
  end
end
for marker = at, #ARGV, 2 do redis.call('HSET', name('markers'), ARGV[marker], ARGV[marker + 1]) end
return isNew
`).withReturnType<ReadonlyArray<number>>()

/** The key of a mailbox, then ids and letters. A letter that is gone is `null`. */
export type Claimed = readonly [key: string, ...rest: ReadonlyArray<string | null>]

/** By owner, now, end of the lease, number of mailboxes, letters of each. Gives key, ids and letters of each mailbox. */
export const claim = script(`
local owner, now, leaseUntil, count, perMailbox = unpack(ARGV)
for _, key in ipairs(redis.call('ZRANGEBYSCORE', leases, '-inf', now)) do giveBack(key) end
local claimed = {}
for _, key in ipairs(redis.call('ZRANGE', ready, 0, count - 1)) do
  redis.call('ZREM', ready, key)
  redis.call('HSET', owners, key, owner)
  redis.call('ZADD', leases, leaseUntil, key)
  local mailbox = { key }
  for _, id in ipairs(redis.call('LRANGE', box(key), 0, perMailbox - 1)) do
    mailbox[#mailbox + 1] = id
    mailbox[#mailbox + 1] = redis.call('HGET', letters, id)
  end
  claimed[#claimed + 1] = mailbox
end
return claimed
`).withReturnType<ReadonlyArray<Claimed>>()

/** Settlements of six arguments each. */
export const settle = script(`
for at = 1, #ARGV, 6 do
  local owner, key, id, diedAt, death, release = unpack(ARGV, at, at + 5)
  if redis.call('HGET', owners, key) == owner then
    if id ~= '' and redis.call('LINDEX', box(key), 0) == id then
      redis.call('LPOP', box(key))
      if diedAt == '' then redis.call('HDEL', letters, id) else bury(id, diedAt, death) end
    end
    if release == '1' then giveBack(key) end
  end
end
`)

export const extend = script(`
local all = redis.call('HGETALL', owners)
for at = 1, #all, 2 do
  if all[at + 1] == ARGV[1] then redis.call('ZADD', leases, ARGV[2], all[at]) end
end
`)

/** Gives how many wait, how many are dead, and when the first of those that wait arrived. */
export const stats = script(`
local first = tonumber(redis.call('ZRANGE', ready, 0, 0, 'WITHSCORES')[2])
for _, key in ipairs(redis.call('ZRANGE', leases, 0, -1)) do
  local head = tonumber(redis.call('LINDEX', box(key), 0) or nil)
  if head and (not first or head < first) then first = head end
end
local count = redis.call('ZCARD', dead)
local letter = first and redis.call('HGET', letters, string.format('%.0f', first))
return { redis.call('HLEN', letters) - count, count, letter and string.match(letter, '^%[(-?%d+)') }
`).withReturnType<readonly [waiting: number, dead: number, oldest?: string | null]>()

/** By the id before the page and its size. Gives id, letter and death of each. */
export const list = script(`
local page = {}
for _, id in ipairs(redis.call('ZRANGEBYSCORE', dead, '(' .. ARGV[1], '+inf', 'LIMIT', 0, ARGV[2])) do
  page[#page + 1] = { id, redis.call('HGET', letters, id), redis.call('HGET', deaths, id) }
end
return page
`).withReturnType<ReadonlyArray<readonly [id: string, letter: string, death: string]>>()

/** Ids and their keys. */
export const replay = script(`
local count = 0
for at = 1, #ARGV, 2 do
  local letter = exhume(ARGV[at])
  if letter then
    count = count + 1
    add(ARGV[at + 1], letter)
  end
end
return count
`).withReturnType<number>()

export const drop = script(`
local count = 0
for _, id in ipairs(ARGV) do if exhume(id) then count = count + 1 end end
return count
`).withReturnType<number>()

/** By two times and the size of a chunk. Gives whether there may be more. */
export const sweep = script(`
local old = redis.call('ZRANGEBYSCORE', seen, '-inf', '(' .. ARGV[1], 'LIMIT', 0, ARGV[3])
for _, fingerprint in ipairs(old) do redis.call('ZREM', seen, fingerprint) end
local ids = redis.call('ZRANGEBYSCORE', died, '-inf', '(' .. ARGV[2], 'LIMIT', 0, ARGV[3])
for _, id in ipairs(ids) do exhume(id) end
return math.max(#old, #ids) == tonumber(ARGV[3]) and 1 or 0
`).withReturnType<number>()
