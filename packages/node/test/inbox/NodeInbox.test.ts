import { Bot, Inbox, Updates } from "@colloquy/core"
import { NodeInbox } from "@colloquy/node"
import { Fixtures } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import { Clock, ConfigProvider, Effect, Latch, Layer, Option, Result, Tracer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import * as Files from "../support/files.ts"

const receive = Inbox.Inbox.use((inbox) =>
  inbox.receive([{ decoded: Result.succeed(Fixtures.messageCreated()) }], { source: "polling", value: 2n ** 60n })
)

const opening = (filename: string) => Effect.flip(Effect.scoped(Layer.build(NodeInbox.layer({ filename }))))

describe("NodeInbox", () => {
  it.effect("keeps queued updates and markers in its file", () =>
    Effect.gen(function* () {
      const filename = join(yield* Files.folder, "of/a/bot.sqlite")
      yield* Effect.provide(receive, NodeInbox.layer({ filename }))
      yield* Effect.gen(function* () {
        const inbox = yield* Inbox.Inbox
        assert.strictEqual((yield* inbox.stats).queued, 1)
        assert.deepStrictEqual(yield* inbox.marker("polling"), Option.some(2n ** 60n))
        const options = { owner: "one", leaseDuration: 0, maxPartitions: 1, maxUpdates: 1, begin: 0 }
        const [partition] = yield* inbox.store.claim(options)
        assert.deepStrictEqual(partition.updates[0].update.decoded, Result.succeed(Fixtures.messageCreated()))
      }).pipe(Effect.provide(NodeInbox.layer({ filename })))
    })
  )

  it.live("fails with a retryable StoreError if an operation takes longer than `operationTimeout`", () =>
    Effect.gen(function* () {
      const filename = yield* Files.file
      yield* Effect.gen(function* () {
        const inbox = yield* Inbox.Inbox
        const other = new DatabaseSync(filename)
        other.exec("BEGIN IMMEDIATE")
        const error = yield* Effect.flip(receive)
        assert.deepInclude(error, { _tag: "StoreError", operation: "enqueue", isRetryable: true })
        assert.include(error.message, "did not answer within 50ms")
        other.exec("COMMIT")
        other.close()
        // The machine may be slow, so an operation without a lock may take too long as well.
        yield* Effect.retry(receive, { while: (error) => error._tag === "StoreError" && error.isRetryable })
        assert.strictEqual((yield* Effect.retry(inbox.stats, { while: ({ isRetryable }) => isRetryable })).queued, 1)
      }).pipe(Effect.provide(NodeInbox.layer({ filename, operationTimeout: "50 millis" })))
    })
  )

  it.effect("opens its file at the first use with `layerLazy`", () =>
    Effect.gen(function* () {
      const filename = yield* Files.file
      yield* Effect.gen(function* () {
        yield* Inbox.Inbox
        yield* TestClock.adjust("1 hour")
        assert.isFalse(existsSync(filename))
        yield* receive
        assert.isTrue(existsSync(filename))
      }).pipe(Effect.provide(NodeInbox.layerLazy({ filename })))
    })
  )

  it.effect("says what to do when the file cannot be opened", () =>
    Effect.gen(function* () {
      const folder = yield* Files.folder
      const error = yield* opening(folder)
      assert.strictEqual(error._tag, "StoreError")
      assert.include(error.message, `${folder} is a folder. Pass the path of a file in it`)
    })
  )

  it.effect("says what to do when the file is not a database", () =>
    Effect.gen(function* () {
      const filename = yield* Files.file
      writeFileSync(filename, "not a database ".repeat(100))
      assert.include((yield* opening(filename)).message, `${filename} is corrupt, or not a SQLite file`)
    })
  )

  it.effect("fails with a StoreError while its file cannot be opened with `layerLazy`", () =>
    Effect.gen(function* () {
      const filename = yield* Files.file
      yield* Effect.gen(function* () {
        yield* Inbox.Inbox
        writeFileSync(filename, "not a database ".repeat(100))
        assert.strictEqual((yield* Effect.flip(receive))._tag, "StoreError")
        writeFileSync(filename, "")
        yield* receive
      }).pipe(Effect.provide(NodeInbox.layerLazy({ filename })))
    })
  )

  it.effect("fails with a StoreError if the path of its file cannot be examined", () =>
    Effect.gen(function* () {
      const filename = join(dirname(yield* Files.file), "a".repeat(300))
      const failed = yield* Effect.flip(Effect.provide(receive, NodeInbox.layerLazy({ filename })))
      assert.strictEqual(failed._tag, "StoreError")
      assert.include(failed.message, "a file in a folder to which the process can write")
    })
  )

  it.effect.each(["no database", "a folder", "corrupt", "in no folder"])(
    "fails with `layerLazy` if another attempt to open its file would fail the same way: it is %s",
    (what) =>
      Effect.gen(function* () {
        const file = yield* Files.file
        const filename =
          what === "a folder" ? yield* Files.folder : what === "in no folder" ? join(file, "bot.sqlite") : file
        if (what === "in no folder") writeFileSync(file, "")
        if (what === "no database") writeFileSync(filename, "not a database ".repeat(100))
        if (what === "corrupt") {
          const database = new DatabaseSync(filename)
          database.exec("CREATE TABLE notes (id INTEGER)")
          database.close()
          const bytes = readFileSync(filename)
          writeFileSync(filename, bytes.fill(7, 100, 4096))
        }
        const error = yield* Effect.flip(Effect.scoped(Layer.build(NodeInbox.layerLazy({ filename }))))
        assert.deepInclude(error, { _tag: "StoreError", operation: "open", isRetryable: false })
        assert.include(error.message, filename)
      })
  )

  it.live("is built with `layerLazy` while its file is locked, and used when it is free", () =>
    Effect.gen(function* () {
      const filename = yield* Files.file
      const other = new DatabaseSync(filename)
      other.exec("BEGIN EXCLUSIVE")
      yield* Effect.gen(function* () {
        yield* Inbox.Inbox
        other.close()
        yield* receive
      }).pipe(Effect.provide(NodeInbox.layerLazy({ filename })))
    })
  )

  it.effect("creates no spans except those of the handled updates", () =>
    Effect.gen(function* () {
      const filename = yield* Files.file
      const spans: Array<string> = []
      const tracer = Tracer.make({
        span: (options) => {
          spans.push(options.name)
          return new Tracer.NativeSpan(options)
        }
      })
      yield* Effect.gen(function* () {
        const inbox = yield* Inbox.Inbox
        const handled = yield* Latch.make(false)
        const bot = Bot.run(() => handled.open).pipe(
          Effect.provideService(Updates.Updates, Updates.Updates.of({ inbox, source: Effect.never }))
        )
        yield* Effect.forkScoped(bot)
        yield* receive
        yield* handled.await
        yield* TestClock.adjust("30 seconds")
        assert.strictEqual((yield* inbox.stats).queued, 0)
      }).pipe(Effect.scoped, Effect.provide(NodeInbox.layer({ filename })), Effect.withTracer(tracer))
      assert.deepStrictEqual(spans, ["Updates.handle", "Updates.handler", "Updates.commit"])
    })
  )

  it.effect("renews its leases in time for the event loop to be busy for half of their duration", () =>
    Effect.gen(function* () {
      const filename = yield* Files.file
      const leaseMillis = 6000
      const leaseUntil = () => {
        const database = new DatabaseSync(filename)
        const [{ value }] = database.prepare("SELECT min(lease_until) AS value FROM colloquy_inbox_leases").all()
        database.close()
        return Number(value)
      }
      yield* Effect.gen(function* () {
        const inbox = yield* Inbox.Inbox
        const handling = yield* Latch.make(false)
        yield* Bot.run(() => Effect.andThen(handling.open, Effect.never), { shutdownTimeout: 0 }).pipe(
          Effect.provideService(Updates.Updates, Updates.Updates.of({ inbox, source: Effect.never })),
          Effect.forkScoped
        )
        yield* receive
        yield* handling.await
        const ends = new Set<number>()
        for (let step = 0; step < 40; step++) {
          const end = leaseUntil()
          assert.isAbove(end - (yield* Clock.currentTimeMillis), leaseMillis / 2)
          ends.add(end)
          yield* TestClock.adjust("199 millis")
        }
        assert.isAbove(ends.size, 3)
      }).pipe(Effect.scoped, Effect.provide(NodeInbox.layer({ filename, leaseDuration: leaseMillis })))
    })
  )

  it.effect("shares its file with other stores of the bot", () =>
    Effect.gen(function* () {
      const BOT_INBOX = yield* Files.file
      const settings = ConfigProvider.layer(ConfigProvider.fromEnv({ env: { BOT_INBOX } }))
      const tables = yield* Effect.gen(function* () {
        yield* receive
        const sql = yield* SqlClient.SqlClient
        return yield* sql<{ name: string }>`SELECT name FROM sqlite_master WHERE type = 'table'`
      }).pipe(
        Effect.provide(
          Layer.merge(NodeInbox.layer({ filename: BOT_INBOX }), Layer.provide(NodeInbox.layerSqlConfig(), settings))
        )
      )
      assert.isTrue(tables.some(({ name }) => name.startsWith("colloquy_inbox_")))
    })
  )

  it.effect("opens the file of the configuration with `layerConfig`", () =>
    Effect.gen(function* () {
      const BOT_INBOX = yield* Files.file
      const settings = ConfigProvider.layer(ConfigProvider.fromEnv({ env: { BOT_INBOX } }))
      yield* Effect.provide(receive, Layer.provide(NodeInbox.layerConfig(), settings))
      assert.isTrue(existsSync(BOT_INBOX))
    })
  )

  it.effect("reads the name of its file from BOT_INBOX, with ./colloquy.sqlite as default", () =>
    Effect.gen(function* () {
      const read = (env: Record<string, string>) => NodeInbox.filename.parse(ConfigProvider.fromEnv({ env }))
      assert.strictEqual(yield* read({ BOT_INBOX: "/data/bot.sqlite" }), "/data/bot.sqlite")
      assert.strictEqual(yield* read({}), "./colloquy.sqlite")
    })
  )
})
