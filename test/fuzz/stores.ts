/** Rows of the inbox as another program, another version or a damaged disk could leave them. */
import { Inbox, Json, type StoreError, Update } from "@colloquy/core"
import * as InboxStore from "@colloquy/core/inbox/InboxStore"
import { NodeSqlite, RedisInboxStore, SqlInboxStore } from "@colloquy/node"
import * as NodeRedis from "@effect/platform-node/NodeRedis"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redis from "effect/persistence/Redis"
import * as Result from "effect/Result"
import * as SqlClient from "effect/sql/SqlClient"
import { connect } from "node:net"
import { inspect } from "node:util"
import { threadId } from "node:worker_threads"
import { mutations } from "./mutation.ts"
import type { Target } from "./target.ts"
import { read, updateTexts } from "./updates.ts"

const fingerprint = "bot_started:1"

/** Columns of a row: the input is an object whose values replace those of the stored row. */
const rows = updateTexts.flatMap((text) => [
  Json.stringify({ text }),
  Json.stringify({
    text,
    fingerprint,
    partition_key: "1",
    received_at: 1,
    error: "no",
    attempts: 1,
    failed_at: 1,
    crashes: 1,
    begun: "1,2",
    value: "1"
  })
])

const columnsOf = (input: string): Readonly<Record<string, unknown>> => {
  const parsed = Result.try(() => Json.parse(input))
  return Result.isSuccess(parsed) && typeof parsed.success === "object" && parsed.success !== null
    ? (parsed.success as Record<string, unknown>)
    : { text: input }
}

/** The values that SQLite can store: texts, numbers, blobs and null. */
const toColumn = (value: unknown): unknown =>
  typeof value === "string" || (typeof value === "bigint" && BigInt.asIntN(64, value) === value) || value === null
    ? value
    : typeof value === "number"
      ? value
      : typeof value === "boolean"
        ? new Uint8Array([1, 2, 255])
        : Json.stringify(value)

const decoded = (text: string): ReadonlyArray<string> => {
  const parsed = Update.parse(text)
  return Result.isSuccess(parsed) ? read(parsed.success) : [parsed.failure.message]
}

/** Executes the operations of a consumer on its store. Returns the texts of the results. */
const consume = (store: InboxStore.InboxStore["Service"]) =>
  Effect.gen(function* () {
    const claim = { owner: "fuzz", leaseDuration: 10_000, maxPartitions: 10, maxUpdates: 10, begin: 1 }
    const partitions = yield* store.claim(claim)
    const texts = partitions.flatMap(({ updates }) => updates.flatMap(({ update }) => decoded(update.text)))
    for (const { key, updates } of partitions) {
      for (const [index, { id, update }] of updates.entries()) {
        const failure = Result.isFailure(update.decoded)
          ? { error: update.decoded.failure.message, attempts: 0, failedAt: 10 }
          : undefined
        yield* store.commit([
          {
            owner: "fuzz",
            partitionKey: key,
            completed: [{ id, failure }],
            failed: [],
            begun: [],
            release: index === updates.length - 1
          }
        ])
      }
    }
    const deadLetters = yield* store.updates({ of: "deadLetters", limit: 10 })
    const stats = yield* store.stats
    yield* store.read(["marker/updates"])
    yield* store.takeDeadLetters({ ids: deadLetters.map(({ id }) => id), replay: true })
    return [...texts, inspect(deadLetters), inspect(stats)]
  })

/** A damaged row may fail an operation, with an error that names the store. */
const orStoreError = <A, R>(effect: Effect.Effect<A, StoreError.StoreError, R>) =>
  Effect.catch(effect, (error) => Effect.succeed([error.message, inspect(error)]))

const enqueue = (store: InboxStore.InboxStore["Service"]) =>
  Effect.gen(function* () {
    const inbox = yield* Effect.provideService(Inbox.make({ deduplicationWindow: 0 }), InboxStore.InboxStore, store)
    const received = updateTexts.slice(0, 3).map((text) => ({ decoded: Update.parse(text), text }))
    yield* inbox.receive([...received, { decoded: Update.parse("{"), text: "{" }], { source: "updates", value: 1n })
  })

export const sqliteRows: Target = {
  name: "rows in SQLite",
  input: mutations(rows),
  start: Effect.gen(function* () {
    const context = yield* Layer.build(
      Layer.provideMerge(SqlInboxStore.layer({ prefix: "bot" }), NodeSqlite.layer({ filename: ":memory:" }))
    )
    const sql = Context.get(context, SqlClient.SqlClient)
    const store = Context.get(context, InboxStore.InboxStore)
    const tables = yield* sql<{ name: string }>`SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'bot%'
      AND name NOT LIKE '%migrations'`
    const take = (input: string) =>
      Effect.gen(function* () {
        for (const { name } of tables) yield* sql`DELETE FROM ${sql(name)}`
        yield* enqueue(store)
        for (const [column, value] of Object.entries(columnsOf(input))) {
          for (const { name } of tables) {
            // A column that the table does not have, or a value that it refuses, cannot be stored.
            yield* Effect.ignore(sql`UPDATE ${sql(name)} SET ${sql(column)} = ${toColumn(value)}`)
          }
        }
        return yield* orStoreError(consume(store))
      }).pipe(Effect.scoped)
    return { take }
  })
}

const packed = [...updateTexts, JSON.stringify(["no", 1, 1]), "1"]

/** What precedes the text of a queued update. */
const header = `1,${fingerprint.length},1;${fingerprint}1`

const prefix = `fuzz-${process.pid}-${threadId}`

export const redisValues: Target = {
  name: "values in Redis",
  input: mutations(packed),
  start: Effect.gen(function* () {
    const context = yield* Layer.build(
      Layer.provideMerge(RedisInboxStore.layer({ prefix }), NodeRedis.layer({ url: "redis://127.0.0.1:6379" }))
    )
    const redis = Context.get(context, Redis.Redis)
    const store = Context.get(context, InboxStore.InboxStore)
    const keys = redis.send<ReadonlyArray<string>>("KEYS", `*${prefix}*`)
    const clear = Effect.flatMap(keys, (keys) => (keys.length === 0 ? Effect.void : redis.send("DEL", ...keys)))
    yield* Effect.addFinalizer(() => Effect.ignore(clear))
    const take = (input: string) =>
      Effect.gen(function* () {
        yield* clear
        yield* enqueue(store)
        for (const key of yield* keys) {
          const part = /:(updates|marks|failures|rows|due_partitions)$/.exec(key)?.[1]
          if (part === undefined) continue
          const isUpdate = part === "updates" && input.length % 8 !== 0
          for (const field of yield* redis.send<ReadonlyArray<string>>("HKEYS", key)) {
            yield* redis.send("HSET", key, field, isUpdate ? `${header}${input}` : input)
          }
        }
        return yield* orStoreError(consume(store))
      }).pipe(Effect.scoped)
    return { take }
  })
}

/** Whether a Redis server answers. */
export const hasRedis = (): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(6379, "127.0.0.1")
    const end = (answers: boolean) => {
      socket.destroy()
      resolve(answers)
    }
    socket.on("connect", () => end(true)).on("error", () => end(false))
  })
