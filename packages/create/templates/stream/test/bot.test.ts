import { Inbox, LongPolling } from "@colloquy/core"
import { NodeSqlite, SqlInboxStore } from "@colloquy/node"
import { Emulator } from "@colloquy/testing"
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { bot } from "../src/bot.ts"

const inbox = Inbox.layer().pipe(
  Layer.provideMerge(SqlInboxStore.layer()),
  Layer.provideMerge(NodeSqlite.layer({ filename: ":memory:" }))
)

const platform = LongPolling.layer().pipe(Layer.provideMerge(Layer.merge(Emulator.layerBot(), inbox)))

it.effect("stores each message once", () =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const inbox = yield* Inbox.Inbox
    const ann = yield* Emulator.user("Ann")
    yield* ann.send("one")
    yield* ann.send("two")
    // A batch is written after a second at the latest.
    yield* TestClock.adjust("1 second")
    yield* Effect.repeat(Effect.andThen(TestClock.adjust("1 second"), inbox.stats), {
      until: ({ queued }) => queued === 0
    })
    const rows = yield* sql<{ text: string }>`SELECT text FROM messages ORDER BY sent_at`
    assert.deepStrictEqual(
      rows.map(({ text }) => text),
      ["one", "two"]
    )
  }).pipe(Effect.raceFirst(bot), Effect.provide(platform))
)
