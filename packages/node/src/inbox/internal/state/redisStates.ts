import type { StateKey, StateStore, StateWrite, StoredState } from "@colloquy/core/inbox/InboxStore"
import type { StoreError } from "@colloquy/core/base/StoreError"
import * as Effect from "effect/Effect"
import { decodeText, encodeText } from "../../../base/internal/stores/values.ts"
import { type Run, script } from "../redisLua.ts"
import { batchReads } from "./batchedReads.ts"

/** A script reads at most this many values. */
const pageSize = 500

/**
 * Maximum number of values that a script deletes. Deletions are slow, because a value has entries in several indexes.
 */
const removalSize = 100

/**
 * Reads and writes values. A write is four values: name and scope of the state, the expected revision, and the value,
 * which is empty for a deletion. A value that was overwritten by hand has the revision of a missing value, so that it
 * can be replaced.
 */
export const writingStates = `
local states, scopes_of, state_ends, state_users = name('state:'), name('state_scopes:'), name('state_ends'), name('state_users:')
local function to_member(state, scope) return #state .. ':' .. state .. scope end
local function user_of(scope) return string.match('/' .. scope, '/(user:[^/]+)$') end
local function remove_state(state, scope)
  if redis.call('HDEL', states .. state, scope) == 0 then return 0 end
  local member, user = to_member(state, scope), user_of(scope)
  redis.call('ZREM', scopes_of .. state, scope)
  redis.call('ZREM', state_ends, member)
  if user then redis.call('SREM', state_users .. user, member) end
  return 1
end
local function write_states(values, first, last)
  for at = first, last, 4 do
    local state, scope, value = values[at], values[at + 1], values[at + 3]
    if value == '' then
      remove_state(state, scope)
    else
      local is_new = redis.call('HSET', states .. state, scope, value) == 1
      local expires_at, member, user = string.match(value, '^[^,;]*,[^,;]*,([^;]*);'), to_member(state, scope), user_of(scope)
      if is_new then redis.call('ZADD', scopes_of .. state, '0', scope) end
      if is_new and user then redis.call('SADD', state_users .. user, member) end
      if expires_at ~= '' then
        redis.call('ZADD', state_ends, expires_at, member)
      elseif not is_new then
        redis.call('ZREM', state_ends, member)
      end
    end
  end
end
local function are_expected(values, first, last)
  for at = first, last, 4 do
    local stored = redis.call('HGET', states .. values[at], values[at + 1])
    if (stored and string.match(stored, '^([%w.-]+),%d+,%d*;') or '') ~= values[at + 2] then return false end
  end
  return true
end
`

/** Arguments: name and scope of each value. Returns the values. */
const getScript = script(`
local values = {}
for at = 1, #ARGV, 2 do values[#values + 1] = redis.call('HGET', name('state:') .. ARGV[at], ARGV[at + 1]) end
return values
`).withReturnType<ReadonlyArray<string | null>>()

/** Arguments: the writes. Returns 1 if the writes were applied. */
const writeScript = script(
  writingStates,
  `
if not are_expected(ARGV, 1, #ARGV) then return 0 end
write_states(ARGV, 1, #ARGV)
return 1
`
).withReturnType<number>()

/** Arguments: name of the state, where the scopes begin, number of values. Returns scopes and values. */
const pageScript = script(`
local scopes = redis.call('ZRANGEBYLEX', name('state_scopes:') .. ARGV[1], ARGV[2], '+', 'LIMIT', '0', ARGV[3])
local values = {}
call_with(values, scopes, 'HMGET', name('state:') .. ARGV[1])
return { scopes, values }
`).withReturnType<readonly [scopes: ReadonlyArray<string>, values: ReadonlyArray<string | null>]>()

const removing = `
local function remove_members(members)
  local count = 0
  for _, member in ipairs(members) do
    local length, from = string.match(member, '^(%d+):()')
    count = count + remove_state(string.sub(member, from, from + length - 1), string.sub(member, from + length))
  end
  return count
end
`

/** Arguments: the user, maximum number of values. Returns how many were deleted, and 1 if there may be more. */
const forgetScript = script(
  writingStates,
  removing,
  `
local members = redis.call('SPOP', state_users .. ARGV[1], ARGV[2])
return { remove_members(members), #members == tonumber(ARGV[2]) and 1 or 0 }
`
).withReturnType<readonly [deleted: number, more: number]>()

/** Arguments: a time, maximum number of values. Returns 1 if there may be more. */
const cleanupScript = script(
  writingStates,
  removing,
  `
local members = redis.call('ZRANGEBYSCORE', state_ends, '-inf', '(' .. ARGV[1], 'LIMIT', '0', ARGV[2])
remove_members(members)
call_with(nil, members, 'ZREM', state_ends)
return #members == tonumber(ARGV[2]) and 1 or 0
`
).withReturnType<number>()

export const writeArguments = (writes: ReadonlyArray<StateWrite>): ReadonlyArray<string> =>
  writes.flatMap(({ expected = "", name, revision, scope, value }) => [
    encodeText(name),
    scope,
    expected,
    value === undefined ? "" : `${revision},${value.version},${value.expiresAt ?? ""};${encodeText(value.text)}`
  ])

const header = /^([\w.-]+),(\d+),(\d*);/

/** A value that was overwritten by hand is returned unchanged, with the version 0. */
const toStored = (packed: string): StoredState => {
  const [start, revision, version, expiresAt] = header.exec(packed) ?? []
  if (start === undefined) return { text: packed, version: 0, expiresAt: undefined, revision: "" }
  return {
    text: decodeText(packed.slice(start.length)),
    version: Number(version),
    expiresAt: expiresAt === "" ? undefined : Number(expiresAt),
    revision: revision!
  }
}

export const make = (run: Run): StateStore => {
  const get = run("getState", getScript)
  const write = run("writeState", writeScript)
  const page = run("pageState", pageScript)
  const forget = run("forgetState", forgetScript)
  const cleanup = run("cleanupState", cleanupScript)

  const readPage = Effect.fnUntraced(function* (
    name: string,
    after: string | undefined,
    limit: number
  ): Effect.fn.Return<ReadonlyArray<StateKey & StoredState>, StoreError> {
    const read: Array<StateKey & StoredState> = []
    let from = after === undefined ? "-" : `(${after}`
    for (let left = limit; left > 0; left -= pageSize) {
      const count = Math.min(left, pageSize)
      const [scopes, values] = yield* page([encodeText(name), from, String(count)])
      scopes.forEach((scope, index) => {
        const value = values[index]
        if (value != null) read.push({ name, scope, ...toStored(value) })
      })
      if (scopes.length < count) break
      from = `(${scopes.at(-1)!}`
    }
    return read
  })

  return {
    get: batchReads((keys) =>
      keys.length === 0
        ? Effect.succeed([])
        : Effect.map(get(keys.flatMap(({ name, scope }) => [encodeText(name), scope])), (values) =>
            values.map((value) => (value === null ? undefined : toStored(value)))
          )
    ),
    write: (writes) =>
      writes.length === 0
        ? Effect.succeed(true)
        : Effect.map(
            Effect.suspend(() => write(writeArguments(writes))),
            (applied) => applied === 1
          ),
    page: ({ after, limit, name }) => readPage(name, after, limit),
    forget: Effect.fnUntraced(function* (user) {
      let deleted = 0
      for (;;) {
        const [count, more] = yield* forget([user, String(removalSize)])
        deleted += count
        if (more === 0) return deleted
      }
    }),
    cleanup: (expiredBefore) =>
      cleanup([String(expiredBefore), String(removalSize)]).pipe(
        Effect.repeat({ while: (more) => more === 1 }),
        Effect.asVoid
      )
  }
}
