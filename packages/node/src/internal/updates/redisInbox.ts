import type { Arrival, Claim, BatchStore, Settlement } from "@colloquy/core/InboxStore"
import * as Letter from "@colloquy/core/Letter"
import type { StoreError } from "@colloquy/core/StoreError"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redis from "effect/persistence/Redis"
import * as Schema from "effect/Schema"
import { ofRedis } from "../stores/failure.ts"
import { fromPlain, isId, toName, toPlain } from "./plain.ts"
import * as Scripts from "./redisScripts.ts"

/** Time of arrival, fingerprint, key and text. The script of the stats reads the time, so it stands first. */
const Packed = Schema.Tuple([Schema.Number, Schema.String, Schema.String, Schema.String])

const pack = ({ receivedAt, fingerprint, key, text }: Letter.Letter): string =>
  JSON.stringify([receivedAt, toName(fingerprint), toName(key), toPlain(text)] satisfies typeof Packed.Type)

const readPacked = Schema.decodeUnknownOption(Schema.fromJsonString(Packed))

/** What is gone or is no letter is given as one that cannot be read, so that it is put aside. */
const unpack = (packed: string | null): typeof Packed.Type =>
  Option.getOrElse(readPacked(packed), () => [0, "", "", packed ?? ""] as const)

const toStored = (id: string, packed: string | null): Letter.Stored => {
  const [receivedAt, fingerprint, key, text] = unpack(packed)
  return {
    id,
    letter: Letter.fromStored({
      fingerprint: fromPlain(fingerprint),
      key: fromPlain(key),
      receivedAt,
      text: fromPlain(text)
    })
  }
}

const packDeath = (problem: string, attempts: number, at: number): string =>
  JSON.stringify([toPlain(problem), attempts, at])

const toDead = ([id, letter, death]: readonly [id: string, letter: string | null, death: string]): Letter.Dead => {
  const [problem, attempts, diedAt] = JSON.parse(death) as [string, number, number]
  return { ...toStored(id, letter), problem: fromPlain(problem), attempts, diedAt }
}

const toMailbox = ([key, ...rest]: Scripts.Claimed) => {
  const letters: Array<Letter.Stored> = []
  for (let index = 0; index < rest.length; index += 2) letters.push(toStored(rest[index]!, rest[index + 1]))
  return { key: fromPlain(key), letters }
}

const argumentsOf = (arrivals: ReadonlyArray<Arrival>): ReadonlyArray<string> => {
  const args: Array<string> = []
  let count = 0
  for (const { letters, unreadable, now, duplicatesSince } of arrivals) {
    const since = duplicatesSince <= now ? String(duplicatesSince) : ""
    const add = (letter: Letter.Letter, diedAt: string, death: string) => {
      count++
      args.push(toName(letter.fingerprint), String(now), since, toName(letter.key), pack(letter), diedAt, death)
    }
    for (const letter of letters) add(letter, "", "")
    for (const { letter, problem } of unreadable) add(letter, String(now), packDeath(problem, 0, now))
  }
  const markers = arrivals.flatMap(({ marker }) =>
    marker === undefined ? [] : [toName(marker.source), String(marker.value)]
  )
  return [String(count), ...args, ...markers]
}

const argumentsOfSettlement = ({ owner, key, letter, release }: Settlement): ReadonlyArray<string> => {
  const death = letter?.death
  return [
    toName(owner),
    toName(key),
    letter?.id ?? "",
    death === undefined ? "" : String(death.at),
    death === undefined ? "" : packDeath(death.problem, death.attempts, death.at),
    release ? "1" : "0"
  ]
}

const failure = ofRedis("inbox")

const sweepChunk = 1000

/** A client that waits for its connection keeps its commands; whoever waits for them is told. */
const timeout = "10 seconds"

export const make = Effect.fnUntraced(function* (prefix: string) {
  const redis = yield* Redis.Redis

  const operation =
    (name: string) =>
    <A>(effect: Effect.Effect<A, Redis.RedisError>): Effect.Effect<A, StoreError> =>
      effect.pipe(
        Effect.timeout(timeout),
        Effect.mapError(failure(name)),
        // A database is outside the program: it does not run in virtual time.
        Effect.provideService(Clock.Clock, Clock.Clock.defaultValue())
      )

  const run = <A>(name: string, script: Redis.Script<{ params: [string, ReadonlyArray<string>]; result: A }>) => {
    const evaluate = redis.eval(script)
    const named = operation(name)
    return (args: ReadonlyArray<string> = []) => named(evaluate(prefix, args))
  }

  const put = run("put", Scripts.put)
  const claim = run("claim", Scripts.claim)
  const settle = run("settle", Scripts.settle)
  const extend = run("extend", Scripts.extend)
  const stats = run("stats", Scripts.stats)
  const list = run("dead", Scripts.list)
  const replay = run("replay", Scripts.replay)
  const drop = run("drop", Scripts.drop)
  const sweep = run("sweep", Scripts.sweep)

  const get = (name: string, part: string, fields: ReadonlyArray<string>) =>
    operation(name)(redis.send<ReadonlyArray<string | null>>("HMGET", `${prefix}:${part}`, ...fields))

  const putAll = (arrivals: ReadonlyArray<Arrival>) =>
    Effect.map(
      Effect.suspend(() => put(argumentsOf(arrivals))),
      (isNew) => {
        let from = 0
        return arrivals.map(({ letters, unreadable }) => {
          const to = from + letters.length + unreadable.length
          const count = isNew.slice(from, to).reduce((sum, one) => sum + one, 0)
          from = to
          return count
        })
      }
    )

  const replayAll = Effect.fnUntraced(function* (ids: ReadonlyArray<string>) {
    if (ids.length === 0) return 0
    const packed = yield* get("replay", "letters", ids)
    return yield* replay(packed.flatMap((letter, index) => (letter === null ? [] : [ids[index], unpack(letter)[2]])))
  })

  const store: BatchStore = {
    isShared: true,
    putAll,
    claim: ({ owner, now, leaseUntil, mailboxes, letters }: Claim) =>
      Effect.map(claim([toName(owner), ...[now, leaseUntil, mailboxes, letters].map(String)]), (claimed) =>
        claimed.map(toMailbox)
      ),
    settle: (settlements) =>
      settlements.length === 0 ? Effect.void : Effect.asVoid(settle(settlements.flatMap(argumentsOfSettlement))),
    extend: (owner, leaseUntil) => Effect.asVoid(extend([toName(owner), String(leaseUntil)])),
    stats: Effect.map(stats(), ([waiting, dead, oldest]) => ({
      waiting,
      dead,
      oldest: oldest == null ? undefined : Number(oldest)
    })),
    marker: (source) =>
      Effect.map(get("marker", "markers", [toName(source)]), ([value]) => (value === null ? undefined : BigInt(value))),
    dead: ({ after = "0", limit }) =>
      Effect.map(list([isId(after) ? after : "0", String(limit)]), (page) => page.map(toDead)),
    replay: (ids) => replayAll(ids.filter(isId)),
    drop: (ids) => drop(ids.filter(isId)),
    sweep: ({ seenBefore, diedBefore }) =>
      Effect.asVoid(
        Effect.repeat(sweep([seenBefore, diedBefore, sweepChunk].map(String)), { while: (more) => more === 1 })
      )
  }
  return store
})

/** What the settings of the server let go, as far as it tells. */
export const risks = Effect.fnUntraced(function* () {
  const redis = yield* Redis.Redis
  const read = (section: string) => Effect.orElseSucceed(redis.send<unknown>("INFO", section), () => "")
  const text = `${String(yield* read("persistence"))}\n${String(yield* read("memory"))}`
  const found: Array<string> = []
  if (/^aof_enabled:0/m.test(text)) found.push("it writes no append-only file (`appendonly yes`)")
  const policy = /^maxmemory_policy:(\S+)/m.exec(text)?.[1] ?? "noeviction"
  if (policy !== "noeviction") found.push(`it may evict keys (\`maxmemory-policy\` is ${policy})`)
  return found
})
