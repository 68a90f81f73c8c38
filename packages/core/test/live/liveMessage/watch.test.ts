import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import * as Inbox from "../../../src/inbox/Inbox.ts"
import * as InboxStore from "../../../src/inbox/InboxStore.ts"
import { watch } from "../../../src/live/internal/liveMessage/watch.ts"
import { Attempt } from "../../../src/inbox/internal/consumer/attempt.ts"
import { CurrentUpdate } from "../../../src/inbox/internal/consumer/currentUpdate.ts"
import { Update } from "../../../src/model/Update.ts"
import { message } from "../../support/fixtures.ts"

const received = (text: string): Inbox.Received => ({
  decoded: Result.succeed(
    Schema.decodeUnknownSync(Update)({
      update_type: "message_created",
      timestamp: 1775000000000,
      message: message({ body: { mid: `mid.${text}`, seq: 1, text } })
    })
  )
})

/** Watches the partition of the first of these updates while it is handled by an inbox, and returns what arrived. */
const watching = Effect.fnUntraced(function* (isShared: boolean) {
  const store = { ...(yield* InboxStore.makeMemory), isShared }
  const provideStore = Effect.provideService(InboxStore.InboxStore, store)
  const own = yield* provideStore(Inbox.make())
  const other = yield* provideStore(Inbox.make())
  yield* own.receive([received("first"), received("second")])
  const [partition] = yield* store.claim({
    owner: "own",
    leaseDuration: 60_000,
    maxPartitions: 1,
    maxUpdates: 1,
    begin: 1
  })
  const [entry] = partition!.updates
  const value = Result.getOrThrow(entry!.update.decoded)
  const current = new Attempt({
    value,
    inbox: own,
    journal: undefined as never,
    answers: undefined as never,
    entry: entry!
  })
  const arrived: Array<string> = []
  const fiber = yield* watch(({ update }) =>
    Effect.sync(() => {
      if (update.update_type === "message_created") arrived.push(update.message?.body?.text ?? "")
    })
  ).pipe(Effect.provideService(CurrentUpdate, current), Effect.forkChild({ startImmediately: true }))
  return { arrived, fiber, other, own }
})

describe("watch", () => {
  it.effect("notices waiting updates, and updates that this process receives, at once and once", () =>
    Effect.gen(function* () {
      const { arrived, fiber, own } = yield* watching(false)
      yield* Effect.yieldNow
      assert.deepStrictEqual(arrived, ["second"])
      yield* own.receive([received("third")])
      yield* own.receive([received("third")])
      yield* TestClock.adjust(0)
      assert.deepStrictEqual(arrived, ["second", "third"])
      yield* Fiber.interrupt(fiber)
    })
  )

  it.effect("notices updates that another process receives within half a second", () =>
    Effect.gen(function* () {
      const { arrived, fiber, other } = yield* watching(true)
      yield* other.receive([received("third")])
      yield* TestClock.adjust(500)
      assert.deepStrictEqual(arrived, ["second", "third"])
      yield* Fiber.interrupt(fiber)
    })
  )

  it.effect("ends at once outside of the handling of an update", () => watch(() => Effect.void))
})
