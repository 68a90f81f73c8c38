import type { Batch, BatchStore, ClaimedUpdate, Commit, Completed, Failure, Partition } from "@colloquy/core/InboxStore"
import * as QueuedUpdate from "@colloquy/core/QueuedUpdate"
import type { StoreError } from "@colloquy/core/StoreError"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redis from "effect/persistence/Redis"
import * as Schema from "effect/Schema"
import { randomUUID } from "node:crypto"
import { decodeBigInt, decodeText, encodeIndexed, encodeText, isId } from "../stores/values.ts"
import { redisToStoreError } from "../stores/redis.ts"
import * as scripts from "./redisScripts.ts"

const toStoreError = redisToStoreError("inbox")

/** Receive time, fingerprint, partition key and text. The `stats` script reads the receive time, so it comes first. */
const Packed = Schema.Tuple([Schema.Number, Schema.String, Schema.String, Schema.String])

const pack = ({ receivedAt, fingerprint, partitionKey, text }: QueuedUpdate.QueuedUpdate): string =>
  JSON.stringify([
    receivedAt,
    encodeIndexed(fingerprint),
    encodeIndexed(partitionKey),
    encodeText(text)
  ] satisfies typeof Packed.Type)

const decodePacked = Schema.decodeUnknownOption(Schema.fromJsonString(Packed))

/** A missing or malformed value becomes an update that cannot be decoded, so that the consumer makes it a dead letter. */
const unpack = (packed: string | null): typeof Packed.Type =>
  Option.getOrElse(decodePacked(packed), () => [0, "", "", packed ?? ""] as const)

/** Error, number of attempts and time of the failure. */
const PackedFailure = Schema.Tuple([Schema.String, Schema.Number, Schema.Number])

const packFailure = ({ error, attempts, failedAt }: Failure): string =>
  JSON.stringify([encodeText(error), attempts, failedAt] satisfies typeof PackedFailure.Type)

const decodePackedFailure = Schema.decodeUnknownOption(Schema.fromJsonString(PackedFailure))

const unpackFailure = (packed: string | null): typeof PackedFailure.Type =>
  Option.getOrElse(decodePackedFailure(packed), () => [packed ?? "", 0, 0] as const)

const toEntry = (id: string, packed: string | null): QueuedUpdate.Entry => {
  const [receivedAt, fingerprint, partitionKey, text] = unpack(packed)
  return {
    id,
    update: QueuedUpdate.fromStored({
      fingerprint: decodeText(fingerprint),
      partitionKey: decodeText(partitionKey),
      receivedAt,
      text: decodeText(text)
    })
  }
}

const toDeadLetter = ([id, update, failure]: scripts.DeadLetter): QueuedUpdate.DeadLetter => {
  const [error, attempts, failedAt] = unpackFailure(failure)
  return { ...toEntry(id, update), error: decodeText(error), attempts, failedAt }
}

const toPartition = ([key, ...rest]: scripts.Claimed): Partition => {
  const updates: Array<ClaimedUpdate> = []
  for (let index = 0; index < rest.length; index += 4) {
    const [id, packed, attempts, crashes] = rest.slice(index, index + 4) as [string, ...Array<string | null>]
    updates.push({ ...toEntry(id, packed ?? null), attempts: Number(attempts ?? 0), crashes: Number(crashes ?? 0) })
  }
  return { key: decodeText(key), updates }
}

const enqueueArguments = (batches: ReadonlyArray<Batch>): ReadonlyArray<string> => {
  const args: Array<string> = []
  let count = 0
  for (const { updates, deadLetters, now, duplicatesSince } of batches) {
    const since = duplicatesSince <= now ? String(duplicatesSince) : ""
    const add = (update: QueuedUpdate.QueuedUpdate, failedAt: string, failure: string) => {
      count++
      const { fingerprint, partitionKey } = update
      args.push(
        encodeIndexed(fingerprint),
        String(now),
        since,
        encodeIndexed(partitionKey),
        pack(update),
        failedAt,
        failure
      )
    }
    for (const update of updates) add(update, "", "")
    for (const { update, error } of deadLetters) {
      add(update, String(now), packFailure({ error, attempts: 0, failedAt: now }))
    }
  }
  const markers = batches.flatMap(({ marker }) =>
    marker === undefined ? [] : [encodeIndexed(marker.source), String(marker.value)]
  )
  return [String(count), ...args, ...markers]
}

const completedArguments = ({ failure, id }: Completed): ReadonlyArray<string> =>
  failure === undefined ? ["ack", id] : ["dead", id, String(failure.failedAt), packFailure(failure)]

const commitArguments = ({ begun, completed, failed, owner, partitionKey, release }: Commit): ReadonlyArray<string> => {
  const changes = [
    ...completed.flatMap(completedArguments),
    ...failed.flatMap((id) => ["fail", id]),
    ...begun.flatMap((id) => ["begin", id])
  ]
  return [encodeIndexed(owner), encodeIndexed(partitionKey), release ? "1" : "0", String(changes.length), ...changes]
}

const lostMessage = (prefix: string) =>
  `The inbox in Redis lost its data: the keys ${prefix}:* were deleted, or the server started without its data. Queued ` +
  "updates, dead letters and the fingerprints of duplicates are lost; handlers that are running are not affected. Set " +
  "`appendonly yes` and `appendfsync always`, and check that nothing flushes the database, or choose another store."

const cleanupChunk = 1000

/** The client queues commands while it is disconnected. The time-out tells the caller. */
const timeout = "10 seconds"

export const make = Effect.fnUntraced(function* (prefix: string) {
  const redis = yield* Redis.Redis

  const operation =
    (name: string) =>
    <A>(effect: Effect.Effect<A, Redis.RedisError>): Effect.Effect<A, StoreError> =>
      effect.pipe(
        Effect.timeout(timeout),
        Effect.mapError(toStoreError(name)),
        Effect.withTracerEnabled(false),
        // The server runs in real time, also when the program runs with a test clock.
        Effect.provideService(Clock.Clock, Clock.Clock.defaultValue())
      )

  const run = <A>(name: string, script: Redis.Script<{ params: [string, ReadonlyArray<string>]; result: A }>) => {
    const evaluate = redis.eval(script)
    const named = operation(name)
    return (args: ReadonlyArray<string> = []) => named(evaluate(prefix, args))
  }

  const enqueue = run("enqueue", scripts.enqueue)
  const claim = run("claim", scripts.claim)
  const commit = run("commit", scripts.commit)
  const renew = run("renew", scripts.renew)
  const release = run("release", scripts.releaseAll)
  const stats = run("stats", scripts.stats)
  const deadLetters = run("deadLetters", scripts.deadLetters)
  const replay = run("replay", scripts.replay)
  const drop = run("drop", scripts.drop)
  const cleanup = run("cleanup", scripts.cleanup)

  const get = (name: string, part: string, fields: ReadonlyArray<string>) =>
    operation(name)(redis.send<ReadonlyArray<string | null>>("HMGET", `${prefix}:${part}`, ...fields))

  const enqueueAll = (batches: ReadonlyArray<Batch>) =>
    Effect.map(
      Effect.suspend(() => enqueue(enqueueArguments(batches))),
      (added) => {
        let from = 0
        return batches.map(({ updates, deadLetters }) => {
          const to = from + updates.length + deadLetters.length
          const count = added.slice(from, to).reduce((sum, one) => sum + one, 0)
          from = to
          return count
        })
      }
    )

  let lastRun: string | undefined

  const checkRun = (run: string) =>
    Effect.suspend(() => {
      const isLost = lastRun !== undefined && lastRun !== run
      lastRun = run
      return isLost ? Effect.logError(lostMessage(prefix)) : Effect.void
    })

  const replayAll = Effect.fnUntraced(function* (ids: ReadonlyArray<string>) {
    if (ids.length === 0) return 0
    const packed = yield* get("replay", "updates", ids)
    const failures = yield* get("replay", "failures", ids)
    return yield* replay(
      packed.flatMap((update, index) =>
        update === null ? [] : [ids[index], unpack(update)[2], String(unpackFailure(failures[index])[1])]
      )
    )
  })

  const store: BatchStore = {
    isShared: true,
    enqueueAll,
    claim: ({ owner, leaseDuration, maxPartitions, maxUpdates, begin }) =>
      Effect.flatMap(
        claim([encodeIndexed(owner), ...[leaseDuration, maxPartitions, maxUpdates, begin].map(String), randomUUID()]),
        ([run, ...claimed]) => Effect.as(checkRun(run), claimed.map(toPartition))
      ),
    commit: (commits) =>
      commits.length === 0
        ? Effect.succeed([])
        : Effect.map(commit(commits.flatMap(commitArguments)), (results) =>
            results.map((isApplied) => (isApplied === 1 ? "applied" : "leaseLost"))
          ),
    renew: (owner, leaseDuration) =>
      Effect.map(renew([encodeIndexed(owner), String(leaseDuration)]), (keys) => keys.map(decodeText)),
    release: (owner) => Effect.asVoid(release([encodeIndexed(owner)])),
    stats: Effect.map(stats(), ([queued, deadLetters, oldest]) => ({
      queued,
      deadLetters,
      oldestReceivedAt: oldest == null ? undefined : Number(oldest)
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
      Effect.asVoid(
        Effect.repeat(cleanup([fingerprintsBefore, deadLettersBefore, cleanupChunk].map(String)), {
          while: (more) => more === 1
        })
      )
  }
  return store
})

/** The settings of the server that can lose updates. A server that does not answer `INFO` has none. */
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
