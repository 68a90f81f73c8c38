import { Bot, Handler, Inbox, UpdateLog, Updates } from "@colloquy/core"
import * as InboxStore from "@colloquy/core/inbox/InboxStore"
import * as Update from "@colloquy/core/model/Update"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { databases } from "../support/sharedStores.ts"

const started = (timestamp: number): Inbox.Received => {
  const user = { user_id: 1, first_name: "Ann", is_bot: false }
  return { decoded: Update.parse(JSON.stringify({ update_type: "bot_started", timestamp, chat_id: 7, user })) }
}

const source = (updates: ReadonlyArray<Inbox.Received>) =>
  Layer.effect(
    Updates.Updates,
    Inbox.Inbox.use((inbox) =>
      Effect.succeed(Updates.Updates.of({ inbox, source: Effect.orDie(inbox.receive(updates)) }))
    )
  )

/** The inbox of a process, which ends with the effect. */
const inProcess = <A, E>(
  store: InboxStore.InboxStore["Service"],
  options: Inbox.Options,
  effect: Effect.Effect<A, E, Inbox.Inbox>
) => effect.pipe(Effect.provide(Layer.fresh(Inbox.layer(options))), Effect.provideService(InboxStore.InboxStore, store))

const bot = Bot.drain(Handler.on("bot_started", () => Effect.void))

const count = 60

/** Handles updates, and waits until the log of this process is written. */
const handled = (store: InboxStore.InboxStore["Service"], process: number) =>
  Effect.gen(function* () {
    const rows = store.rows({ prefix: "handled/", by: "key", limit: 1000 })
    const before = new Set((yield* rows).map(({ key }) => key))
    const updates = Array.from({ length: count }, (_, index) => started(process * 100 + index))
    yield* Effect.provide(bot, source(updates))
    const added = Effect.map(rows, (all) =>
      all.filter(({ key }) => !before.has(key)).flatMap(({ text }) => text.split("\n"))
    )
    yield* Effect.repeat(Effect.delay(added, "20 millis"), { until: ({ length }) => length === count, times: 2000 })
  })

describe("The log of handled updates", () => {
  for (const { isMissing, kind, opened } of databases) {
    it.live.skipIf(isMissing)(`is read by another process in ${kind}, and its rows are bounded`, () =>
      Effect.gen(function* () {
        const { another, store } = yield* opened
        const logSize = count
        for (let process = 0; process < 3; process++) yield* inProcess(store, { logSize }, handled(store, process))
        const other = yield* another
        const entries = yield* inProcess(other, {}, UpdateLog.entries)
        assert.strictEqual(entries.at(-1)?.chat_id, 7)
        assert.strictEqual(entries.at(-1)?.outcome, "handled")
        assert.isAtLeast(entries.length, logSize)
        // A process removes the rows of the others once, so a log can have more entries than its size for a time.
        assert.isBelow(entries.length, 3 * count)
        const ids = entries.map(({ id }) => Number(id))
        assert.deepStrictEqual(
          ids,
          ids.toSorted((a, b) => a - b)
        )
        assert.lengthOf(yield* inProcess(other, { logSize: 5 }, UpdateLog.entries), 5)
      }).pipe(Effect.scoped)
    )
  }
})
