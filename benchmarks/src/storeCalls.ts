/**
 * Prints for how many milliseconds each call of the stores keeps the event loop of this process busy, with many chats and many
 * waiting updates: `storeCalls.ts STORE NAME COUNT`. It is CPU time, so that other programs do not count.
 */
import { ChatStore } from "@colloquy/core"
import { ChatId } from "@colloquy/core/model/Chat"
import * as ChatRecord from "@colloquy/core/bot/ChatRecord"
import * as InboxStore from "@colloquy/core/inbox/InboxStore"
import * as QueuedUpdate from "@colloquy/core/inbox/QueuedUpdate"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Option from "effect/Option"
import { printCosts } from "./child.ts"
import { acknowledge } from "./inbox/commits.ts"
import * as places from "./inbox/places.ts"
import { threadTime } from "./rounds.ts"

const place = places.fromArguments(process.argv.slice(2))

const total = Number(process.argv[4])

const page = 1000

const cpu = (): number => threadTime() / 1000

const costs: Record<string, Array<number>> = {}

/** Measures the longest turn of the event loop during a call, as the shortest of several, which had no garbage collection. */
const measure = (name: string, call: Effect.Effect<unknown, unknown>) =>
  Effect.gen(function* () {
    for (let round = 0; round < 3; round++) {
      let last = cpu()
      let most = 0
      const turn = (): void => {
        const now = cpu()
        most = Math.max(most, now - last)
        last = now
      }
      const beat = (): void => {
        turn()
        timer = setImmediate(beat)
      }
      let timer = setImmediate(beat)
      yield* Effect.sleep("5 millis")
      most = 0
      yield* call
      turn()
      clearImmediate(timer)
      costs[name] = [Math.min(costs[name]?.[0] ?? Infinity, most)]
    }
  })

const pages = Array.from({ length: total / page }, (_, index) => index * page)

const recordOf = (index: number) =>
  ChatRecord.make(ChatId.make(1 + index), index, { member_at: 1, type: index % 100_000 === 0 ? "channel" : "chat" })

const chats = Effect.gen(function* () {
  const store = yield* ChatStore.ChatStore
  const records = (first: number) => Array.from({ length: page }, (_, at) => recordOf(first + at))
  for (const first of pages) yield* store.upsert(records(first))
  yield* measure("chats.upsert", store.upsert(records(0)))
  yield* measure("chats.get", store.get(ChatId.make(1)))
  for (const filter of [{}, { type: "channel" }, { activeSince: total - 10 }] as const) {
    const name = Object.keys(filter).join()
    yield* measure(`chats.count(${name})`, store.count(filter))
    yield* measure(`chats.page(${name})`, store.page(filter, Option.none(), 100))
  }
  yield* measure("chats.cleanup", store.cleanup(1))
})

const batch = (first: number, count: number): InboxStore.Batch => ({
  updates: Array.from({ length: count }, (_, at) =>
    QueuedUpdate.fromStored({
      fingerprint: String(first + at),
      partitionKey: String((first + at) % (total / 10)),
      receivedAt: 1,
      text: `{"text":"${"x".repeat(500)}"}`
    })
  ),
  deadLetters: [],
  now: 1,
  duplicatesSince: 0
})

const inbox = Effect.gen(function* () {
  const store = yield* InboxStore.InboxStore
  for (const first of pages) yield* store.enqueue(batch(first, page))
  let next = total
  const claim = { owner: "one", leaseDuration: 60_000, maxPartitions: 62, maxUpdates: 16, begin: 0 }
  let claimed: ReadonlyArray<InboxStore.Partition> = []
  yield* measure(
    "inbox.enqueue",
    Effect.suspend(() => store.enqueue(batch((next += 100), 100)))
  )
  yield* measure(
    "inbox.claim",
    Effect.tap(store.claim(claim), (partitions) => Effect.sync(() => void (claimed = partitions)))
  )
  yield* measure(
    "inbox.commit",
    Effect.suspend(() =>
      store.commit(
        claimed.map(({ key, updates }) => acknowledge("one", { key, updates: updates.slice(0, 1) }, { release: false }))
      )
    )
  )
  yield* measure("inbox.renew", store.renew("one", 60_000))
  yield* measure("inbox.stats", store.stats)
  yield* measure("inbox.deadLetters", store.updates({ of: "deadLetters", limit: 100 }))
  yield* measure("inbox.release", store.renew("one", 0))
  yield* measure("inbox.cleanup", store.cleanup({ fingerprintsBefore: 2, deadLettersBefore: 2, rowsBefore: 2 }))
})

await Effect.runPromise(Effect.provide(chats, Layer.merge(places.layerChats(place), Logger.layer([]))))
await Effect.runPromise(Effect.provide(inbox, Layer.provideMerge(places.layer(place), Logger.layer([]))))
printCosts(costs)
