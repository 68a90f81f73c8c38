import type { Batch, BatchStore, Row } from "@colloquy/core/inbox/InboxStore"
import { StoreError } from "@colloquy/core/base/StoreError"
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Redis from "effect/persistence/Redis"
import { randomUUID } from "node:crypto"
import { redisToStoreError } from "../../../base/internal/stores/redis.ts"
import { withTimeLimit } from "../../../base/internal/stores/timeLimit.ts"
import { decodeText, encodeIndexed, encodeKey, isId } from "../../../base/internal/stores/values.ts"
import { batchReads } from "../batchedReads.ts"
import * as Listener from "../listener.ts"
import { commitArguments, enqueueArguments, writeArguments } from "./arguments.ts"
import * as commitScripts from "./commits.ts"
import * as deadLetterScripts from "./deadLetters.ts"
import type { InboxScript } from "./lua.ts"
import * as rowScripts from "./rows.ts"
import * as scripts from "./scripts.ts"
import { toDeadLetter, toEntry, toPartitions, unpack } from "./updates.ts"

const toStoreError = redisToStoreError("inbox")

const statementsError = new StoreError({
  store: "inbox",
  operation: "commit",
  reason: "a store in Redis executes neither statements nor commits of several partitions",
  isRetryable: false
})

const lostMessage = (prefix: string) =>
  `The inbox in Redis lost its data: the keys ${prefix}:* were deleted, or the server started without its data. Queued ` +
  "updates, dead letters, journals, state, timers and the fingerprints of duplicates are lost; handlers that are running are not affected. Set " +
  "`appendonly yes` and `appendfsync always`, and check that nothing flushes the database, or choose another store."

const results = ["leaseLost", "applied", "conflict"] as const

/** Maximum number of rows that a script reads or deletes, so that the server stays available to other clients. */
const chunk = 500

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

  /** Prepares a script. `name` is the operation in its errors. */
  const run = <A>(name: string, script: InboxScript<A>) => {
    const evaluate = redis.eval(script)
    const named = operation(name)
    return (args: ReadonlyArray<string> = []) => named(evaluate(prefix, args))
  }

  const enqueue = run("enqueue", scripts.enqueue)
  const claim = run("claim", scripts.claim)
  const commit = run("commit", commitScripts.commit)
  const untilNext = run("untilNext", scripts.untilNext)
  const renew = run("renew", scripts.renew)
  const write = run("write", rowScripts.write)
  const pages = { key: run("rows", rowScripts.pageByKey), due: run("rows", rowScripts.pageByDue) }
  const forget = run("forget", rowScripts.forget)
  const queue = run("updates", scripts.queue)
  const deadLetters = run("updates", scripts.deadLetters)
  const stats = run("stats", scripts.stats)
  const replay = run("takeDeadLetters", deadLetterScripts.replay)
  const drop = run("takeDeadLetters", deadLetterScripts.drop)
  const cleanup = run("cleanup", deadLetterScripts.cleanup)

  const get = (name: string, part: string, fields: ReadonlyArray<string>) =>
    fields.length === 0
      ? Effect.succeed([])
      : operation(name)(redis.send<ReadonlyArray<string | null>>("HMGET", `${prefix}:${part}`, ...fields))

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
    const args: Array<string> = [sender]
    for (const [index, stored] of (yield* get("takeDeadLetters", "failures", ids)).entries()) {
      const { failure, update } = toDeadLetter(ids[index]!, stored)
      args.push(ids[index]!, encodeIndexed(update.partitionKey), String(failure.attempts))
    }
    return yield* replay(args)
  })

  const readPage = Effect.fnUntraced(function* ({ after, by, limit, prefix }: Parameters<BatchStore["rows"]>[0]) {
    const found: Array<Row> = []
    let last = after
    for (let left = limit; left > 0; left -= chunk) {
      const count = Math.min(left, chunk)
      const args = [encodeKey(prefix), last === undefined ? "" : encodeKey(last.key), String(count)]
      if (last?.dueAt !== undefined) args.push(String(last.dueAt))
      const page = rowScripts.toRows(...(yield* pages[by](args)))
      found.push(...page)
      if (page.length < count) break
      last = page.at(-1)
    }
    return found
  })

  const forgetAll = Effect.fnUntraced(function* (user: string, prefix: string) {
    let deleted = 0
    for (;;) {
      const [count, more] = yield* forget([rowScripts.encodeUser(user), encodeKey(prefix), String(chunk)])
      deleted += count
      if (more === 0) return deleted
    }
  })

  const store: BatchStore = {
    isShared: true,
    executesStatements: false,
    enqueueAll: (batches: ReadonlyArray<Batch>) => Effect.suspend(() => enqueue(enqueueArguments(sender, batches))),
    minConcurrentCommits,
    appliesInOrder: true,
    claim: ({ begin, leaseDuration, maxDue = 0, maxPartitions, maxUpdates, owner }) =>
      Effect.flatMap(
        claim([
          sender,
          encodeIndexed(owner),
          ...[leaseDuration, maxPartitions, maxUpdates, begin].map(String),
          randomUUID(),
          String(maxDue)
        ]),
        (claimed) => Effect.as(checkRun(claimed[0]), toPartitions(claimed))
      ),
    commit: (commits) => {
      if (commits.length === 0) return Effect.succeed([])
      if (commits.some(({ statements, together }) => statements !== undefined || together !== undefined)) {
        return Effect.fail(statementsError)
      }
      return Effect.map(
        Effect.suspend(() => commit(commitArguments(sender, commits))),
        (applied) => applied.map((result) => results[result]!)
      )
    },
    renew: (owner, leaseDuration) =>
      Effect.map(renew([sender, encodeIndexed(owner), String(leaseDuration)]), (keys) => keys.map(decodeText)),
    write: (writes) =>
      writes.length === 0
        ? Effect.succeed([])
        : Effect.map(
            Effect.suspend(() => write(writeArguments(sender, writes))),
            (applied) => applied.map((result) => results[result]!)
          ),
    read: batchReads((keys) => {
      const encoded = keys.map(encodeKey)
      return Effect.map(get("read", "rows", encoded), (stored) =>
        stored.map((row, index) => (row === null ? undefined : rowScripts.toRow(encoded[index]!, row)))
      )
    }),
    rows: readPage,
    forget: ({ prefix, user }) => forgetAll(user, prefix),
    updates: ({ after = "0", limit, of, partitionKey }) => {
      const page = [isId(after) ? after : "0", String(limit)]
      return of === "deadLetters"
        ? Effect.map(deadLetters(page), ([ids, stored]) => ids.map((id, index) => toDeadLetter(id, stored[index]!)))
        : Effect.map(
            queue(partitionKey === undefined ? page : [...page, encodeIndexed(partitionKey)]),
            ([ids, stored]) => ids.map((id, index) => toEntry(id, stored[index]!))
          )
    },
    takeDeadLetters: ({ ids, replay }) => (replay ? replayAll(ids.filter(isId)) : drop(ids.filter(isId))),
    stats: Effect.map(stats([String(comparedPartitions)]), ([queued, deadLetters, oldest]) => ({
      queued,
      deadLetters,
      oldestReceivedAt: oldest == null ? undefined : unpack(oldest).receivedAt
    })),
    cleanup: ({ deadLettersBefore, fingerprintsBefore, rowsBefore }) =>
      cleanup([fingerprintsBefore, deadLettersBefore, rowsBefore, chunk].map(String)).pipe(
        Effect.repeat({ while: (more) => more === 1 }),
        Effect.asVoid
      ),
    untilNext: Effect.map(untilNext(), (wait) => (wait === null ? undefined : Number(wait))),
    listen
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
