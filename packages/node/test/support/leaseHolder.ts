/**
 * Claims updates of the inbox PREFIX in Redis and begins the first two of them, until its parent kills or freezes it:
 * `node leaseHolder.ts PREFIX`. Each line of the input commits all of them as completed, and prints the result.
 */
import * as InboxStore from "@colloquy/core/inbox/InboxStore"
import { RedisInboxStore } from "@colloquy/node"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { createInterface } from "node:readline"
import * as databases from "./databases.ts"
import { acknowledge } from "./inboxRequests.ts"

const [prefix = ""] = process.argv.slice(2)

const hour = 3_600_000

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]()

const program = Effect.gen(function* () {
  const store = yield* InboxStore.InboxStore
  const owner = "holder"
  const claimed = yield* store.claim({ owner, leaseDuration: hour, maxPartitions: 1, maxUpdates: 10, begin: 2 })
  yield* Console.log(`claimed ${claimed.length}`)
  for (;;) {
    yield* Effect.promise(() => lines.next())
    const results = yield* store.commit(claimed.map((partition) => acknowledge(owner, partition, { release: false })))
    yield* Console.log(`committed ${results.join()}, holds ${(yield* store.renew(owner, hour)).length}`)
  }
})

await Effect.runPromise(
  Effect.provide(program, Layer.provide(RedisInboxStore.layer({ prefix }), databases.redisClient))
)
