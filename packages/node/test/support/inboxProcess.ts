/**
 * Executes operations of a store of the inbox for its parent: `node inboxProcess.ts KIND PLACE`. Each line of the input is an
 * operation as JSON, and each line of the output its result. The first line of the output is `"ready"`.
 */
import { QueuedUpdate } from "@colloquy/core"
import * as InboxStore from "@colloquy/core/inbox/InboxStore"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import { createInterface } from "node:readline"
import { layerOf } from "./inboxLayers.ts"

export type Operation =
  | { readonly name: "enqueue"; readonly keys: ReadonlyArray<string> }
  | { readonly name: "claim"; readonly claim: InboxStore.Claim }
  | { readonly name: "commit"; readonly commits: ReadonlyArray<InboxStore.Commit> }
  | { readonly name: "read"; readonly keys: ReadonlyArray<string> }
  | { readonly name: "renew"; readonly owner: string; readonly leaseDuration: number }

let enqueued = 0

const toUpdate = (partitionKey: string) => {
  const fingerprint = `${process.pid}:${enqueued++}`
  return QueuedUpdate.fromStored({ fingerprint, partitionKey, receivedAt: Date.now(), text: `"${fingerprint}"` })
}

const execute = (store: InboxStore.InboxStore["Service"], operation: Operation): Effect.Effect<unknown, unknown> => {
  switch (operation.name) {
    case "enqueue": {
      const batch = { updates: operation.keys.map(toUpdate), deadLetters: [], now: 0, duplicatesSince: 0 }
      return store.enqueue(batch)
    }
    case "claim":
      return Effect.map(store.claim(operation.claim), (partitions) =>
        partitions.map(({ key, updates }) => ({
          key,
          updates: updates.map(({ attempts, crashes, id }) => ({ attempts, crashes, id }))
        }))
      )
    case "commit":
      return store.commit(operation.commits)
    case "read":
      return store.read(operation.keys)
    case "renew":
      return store.renew(operation.owner, operation.leaseDuration)
  }
}

const print = (value: unknown) => Effect.sync(() => void process.stdout.write(`${JSON.stringify(value)}\n`))

const [kind = "", place = ""] = process.argv.slice(2)
const program = Effect.gen(function* () {
  const store = yield* InboxStore.InboxStore
  yield* store.stats
  yield* print("ready")
  const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]()
  for (;;) {
    const line = yield* Effect.promise(() => lines.next())
    if (line.done === true) return
    yield* Effect.flatMap(execute(store, JSON.parse(line.value) as Operation), print)
  }
})
await Effect.runPromise(Effect.provide(program, Layer.provide(layerOf(kind, place), Logger.layer([]))))
