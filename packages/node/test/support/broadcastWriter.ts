/** A process that adds records of `count` recipients, three at a time, each of them in two batches: `node broadcastWriter.ts STORE PLACE COUNT`. */
import * as BroadcastStore from "@colloquy/core/broadcast/BroadcastStore"
import { ChatId } from "@colloquy/core/model/Chat"
import * as Effect from "effect/Effect"
import { stores } from "./broadcastStores.ts"

const [name = "", place = "", count = "0"] = process.argv.slice(2)

const program = Effect.gen(function* () {
  const store = yield* BroadcastStore.BroadcastStore
  yield* Effect.forEach(
    Array.from({ length: Number(count) }, (_, index) => index + 1),
    (id) =>
      store.addRecords(
        "news",
        [id, id - 1].map((chat_id) => ({ chat_id: ChatId.make(chat_id), status: "Sent", at: 0 }))
      ),
    { concurrency: 3, discard: true }
  )
})

await Effect.runPromise(Effect.provide(program, stores[name]!(place)))
