import type { Batch, BatchStore, Commit, CommitResult } from "@colloquy/core/inbox/InboxStore"
import type { StoreError } from "@colloquy/core/base/StoreError"
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Redis from "effect/persistence/Redis"
import { randomUUID } from "node:crypto"
import * as RedisJournals from "./journal/redisJournals.ts"
import * as RedisStates from "./state/redisStates.ts"
import { redisToStoreError } from "../../base/internal/stores/redis.ts"
import { withTimeLimit } from "../../base/internal/stores/timeLimit.ts"
import { decodeBigInt, decodeText, encodeIndexed, isId } from "../../base/internal/stores/values.ts"
import * as RedisTimers from "./timers/redisTimers.ts"
import * as SoonerTimers from "./timers/soonerTimers.ts"
import * as Listener from "./listener.ts"
import { commitArguments, enqueueArguments, isHandled } from "./redisArguments.ts"
import * as commitScripts from "./redisCommits.ts"
import * as deadLetterScripts from "./redisDeadLetters.ts"
import type { Run } from "./redisLua.ts"
import { toDeadLetter, toPartition, toQueued } from "./redisReplies.ts"
import { unpack, unpackFailure } from "./redisRows.ts"
import * as scripts from "./redisScripts.ts"

const toStoreError = redisToStoreError("inbox")

const lostMessage = (prefix: string) =>
  `The inbox in Redis lost its data: the keys ${prefix}:* were deleted, or the server started without its data. Queued ` +
  "updates, dead letters, journals, state, timers and the fingerprints of duplicates are lost; handlers that are running are not affected. Set " +
  "`appendonly yes` and `appendfsync always`, and check that nothing flushes the database, or choose another store."

const commitResults: ReadonlyArray<CommitResult> = ["leaseLost", "applied", "stateConflict"]

/** Maximum number of rows that a script changes, so that the server stays available to other clients. */
const chunk = 1000

/**
 * Minimum number of updates whose commits start another script while a script with commits runs (benchmark
 * `redis-over-groupmq`).
 */
const minConcurrentCommits = 16

/** Maximum number of claimed partitions whose first updates are compared for the age of the oldest update. */
const comparedPartitions = 4000

export const make = Effect.fnUntraced(function* (prefix: string, operationTimeout: Duration.Input) {
  const redis = yield* Redis.Redis
  /** The name of this store in the messages that wake other processes. */
  const sender = randomUUID()

  const operation = (name: string) => {
    const limited = withTimeLimit(Duration.fromInputUnsafe(operationTimeout), () => new Cause.TimeoutError())
    return <A>(effect: Effect.Effect<A, Redis.RedisError>): Effect.Effect<A, StoreError> =>
      Effect.withTracerEnabled(Effect.mapError(limited(effect), toStoreError(name)), false)
  }

  const run: Run = (name, script) => {
    const evaluate = redis.eval(script)
    const named = operation(name)
    return (args = []) => named(evaluate(prefix, args))
  }

  const enqueue = run("enqueue", scripts.enqueue)
  const claim = run("claim", scripts.claim)
  const commitUpdates = run("commit", commitScripts.commit)
  const commitHandled = run("commit", commitScripts.commitHandled)
  const untilClaimable = run("untilClaimable", scripts.untilClaimable)
  const renew = run("renew", scripts.renew)
  const release = run("release", scripts.release)
  const queuedAfter = run("queuedAfter", scripts.queuedAfter)
  const queued = run("queued", scripts.queued)
  const stats = run("stats", scripts.stats)
  const deadLetters = run("deadLetters", deadLetterScripts.deadLetters)
  const replay = run("replay", deadLetterScripts.replay)
  const drop = run("drop", deadLetterScripts.drop)
  const cleanup = run("cleanup", deadLetterScripts.cleanup)

  const get = (name: string, part: string, fields: ReadonlyArray<string>) =>
    operation(name)(redis.send<ReadonlyArray<string | null>>("HMGET", `${prefix}:${part}`, ...fields))

  const enqueueAll = (batches: ReadonlyArray<Batch>) => Effect.suspend(() => enqueue(enqueueArguments(sender, batches)))

  const wake = Effect.ignore(operation("wake")(redis.send("PUBLISH", `${prefix}:wake`, sender)))
  const wakingForTimers = SoonerTimers.make(wake)

  const commit = (commits: ReadonlyArray<Commit>) =>
    Effect.map(
      wakingForTimers(
        Effect.suspend(() =>
          (commits.some(isHandled) ? commitHandled : commitUpdates)(commitArguments(sender, commits))
        ),
        SoonerTimers.changedBy(commits)
      ),
      (results) => results.map((result) => commitResults[result]!)
    )

  const listen = yield* Listener.make({
    subscribe: redis.subscribe(`${prefix}:wake`),
    toStoreError: toStoreError("listen"),
    isForeign: ({ message }) => message !== sender
  })

  let lastRun: string | undefined

  const checkRun = (run: string) =>
    Effect.suspend(() => {
      const isLost = lastRun !== undefined && lastRun !== run
      lastRun = run
      return isLost ? Effect.logError(lostMessage(prefix)) : Effect.void
    })

  const replayAll = Effect.fnUntraced(function* (ids: ReadonlyArray<string>) {
    if (ids.length === 0) return 0
    const packed = yield* get("replay", "dead_letter_updates", ids)
    const failures = yield* get("replay", "failures", ids)
    const args = packed.flatMap((update, index) => {
      const { partitionKey } = unpack(update)
      const { attempts } = unpackFailure(failures[index]!)
      return update === null ? [] : [ids[index]!, encodeIndexed(partitionKey), String(attempts)]
    })
    return yield* replay([sender, ...args])
  })

  /** Runs a script until nothing is left to change. */
  const runAll = (script: Effect.Effect<number, StoreError>) =>
    Effect.asVoid(Effect.repeat(script, { while: (more) => more === 1 }))

  const timers = RedisTimers.make(run)

  const store: BatchStore = {
    isShared: true,
    enqueueAll,
    minConcurrentCommits,
    appliesInOrder: true,
    claim: ({ begin, leaseDuration, maxPartitions, maxTimers = 0, maxUpdates, owner }) =>
      Effect.flatMap(
        claim([
          sender,
          encodeIndexed(owner),
          ...[leaseDuration, maxPartitions, maxUpdates, begin].map(String),
          randomUUID(),
          String(maxTimers)
        ]),
        ([run, ...claimed]) => Effect.as(checkRun(run), claimed.map(toPartition))
      ),
    commit: (commits) => (commits.length === 0 ? Effect.succeed([]) : commit(commits)),
    renew: (owner, leaseDuration) =>
      Effect.map(renew([encodeIndexed(owner), String(leaseDuration)]), (keys) => keys.map(decodeText)),
    release: (owner) => runAll(release([sender, encodeIndexed(owner), String(chunk)])),
    listen,
    untilClaimable: Effect.map(untilClaimable(), (wait) => (wait === null ? undefined : Number(wait))),
    queuedAfter: ({ after, limit, partitionKey }) =>
      Effect.map(queuedAfter([encodeIndexed(partitionKey), isId(after) ? after : "0", String(limit)]), toQueued),
    queued: ({ after = "0", limit }) => Effect.map(queued([isId(after) ? after : "0", String(limit)]), toQueued),
    stats: Effect.map(stats([String(comparedPartitions)]), ([queued, deadLetters, oldest]) => ({
      queued,
      deadLetters,
      oldestReceivedAt: oldest == null ? undefined : unpack(oldest).receivedAt
    })),
    marker: (source) =>
      Effect.flatMap(get("marker", "markers", [encodeIndexed(source)]), ([value]) =>
        value == null ? Effect.succeed(undefined) : Effect.mapError(decodeBigInt(value), toStoreError("marker"))
      ),
    deadLetters: ({ after = "0", limit }) =>
      Effect.map(deadLetters([isId(after) ? after : "0", String(limit)]), (page) => page.map(toDeadLetter)),
    replay: (ids) => replayAll(ids.filter(isId)),
    drop: (ids) => drop(ids.filter(isId)),
    cleanup: ({ fingerprintsBefore, deadLettersBefore }) =>
      runAll(cleanup([fingerprintsBefore, deadLettersBefore, chunk].map(String))),
    journal: RedisJournals.make(run),
    state: RedisStates.make(run),
    timers: { ...timers, change: (changes) => wakingForTimers(timers.change(changes), changes) }
  }
  return store
})

/** The settings of the server that can lose updates. The result is empty for a server that does not answer `INFO`. */
export const findRisks = Effect.fnUntraced(function* () {
  const redis = yield* Redis.Redis
  const read = (section: string) => Effect.orElseSucceed(redis.send<unknown>("INFO", section), () => "")
  const text = `${String(yield* read("persistence"))}\n${String(yield* read("memory"))}`
  const risks: Array<string> = []
  if (/^aof_enabled:0/m.test(text)) risks.push("the append-only file is disabled. Set `appendonly yes`")
  const policy = /^maxmemory_policy:(\S+)/m.exec(text)?.[1] ?? "noeviction"
  if (policy !== "noeviction") {
    risks.push(`\`maxmemory-policy\` is ${policy}, so Redis may evict keys. Set \`maxmemory-policy noeviction\``)
  }
  return risks
})
