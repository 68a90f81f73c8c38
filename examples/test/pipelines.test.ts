import { BotApi, Chat, Inbox, Json, LongPolling, Message, Messages, RateLimiter, Update, Updates } from "@colloquy/core"
import { Emulator, Fixtures, TestBotApi, TestUpdates } from "@colloquy/testing"
import { SqlInboxStore } from "@colloquy/node"
import { NodeFileSystem } from "@effect/platform-node"
import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Redacted, Schema, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { randomBytes } from "node:crypto"
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { answerAndLog } from "../src/pipelines/auditLog.ts"
import { countPerMinute } from "../src/pipelines/countPerMinute.ts"
import { greeting } from "../src/pipelines/greeting.ts"
import { moderation } from "../src/pipelines/moderation.ts"
import { countMessagesWith } from "../src/pipelines/replay.ts"
import { answerAsBoth } from "../src/pipelines/twoBots.ts"

const url = Redacted.make(process.env["DATABASE_URL"] ?? "postgres://postgres@127.0.0.1:5432/postgres")

/** Runs statements in a new connection. */
const execute = (statement: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(statement)).pipe(
    Effect.provide(PgClient.layer({ url, connectTimeout: "3 seconds" }))
  )

const isMissing = await Effect.runPromise(
  Effect.match(execute("SELECT 1"), { onFailure: () => true, onSuccess: () => false })
)
if (isMissing) console.warn("The tests of pipelines with PostgreSQL are skipped: the database cannot be reached.")
const needsDatabase = { skip: isMissing && process.env["CI"] !== "true" }

/** A database with these tables in a schema of its own, which is dropped at the end. */
const database = (...tables: ReadonlyArray<string>) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const schema = `pipelines_${randomBytes(6).toString("hex")}`
      yield* Effect.acquireRelease(execute(`CREATE SCHEMA ${schema}`), () =>
        Effect.orDie(execute(`DROP SCHEMA ${schema} CASCADE`))
      )
      const client = PgClient.layer({ url, startupParameters: { search_path: schema } })
      const create = Effect.flatMap(SqlClient.SqlClient, (sql) =>
        Effect.forEach(tables, (table) => sql.unsafe(`CREATE TABLE ${table}`))
      )
      return Layer.provideMerge(Layer.effectDiscard(create), client)
    })
  )

const message = (mid: string, chat: number, timestamp: number, text = "hello"): Update.Of<"message_created"> => ({
  ...Fixtures.messageCreated({
    mid: Message.MessageId.make(mid),
    recipient: { chat_id: Chat.ChatId.make(chat), chat_type: "chat" },
    text,
    timestamp
  }),
  timestamp
})

/** A bot whose messages are recorded instead of sent. */
const recording = (sent: Array<string>) =>
  TestBotApi.layer(
    TestBotApi.on(Messages.send, ({ text }) =>
      Effect.sync(() => {
        sent.push(text ?? "")
        return Fixtures.message()
      })
    )
  )

const queued = Inbox.Inbox.use(({ stats }) => Effect.map(stats, ({ queued }) => queued))

describe("the pipeline countPerMinute", () => {
  it.live(
    "counts each message once per chat and minute, also if it comes again",
    () =>
      Effect.gen(function* () {
        const updates = Array.from({ length: 1200 }, (_, index) =>
          message(`mid.${index}`, index % 100, index < 300 ? 60_000 : 125_000)
        )
        const sql = yield* SqlClient.SqlClient
        for (const given of [updates, updates.slice(0, 700), []]) {
          const source = Layer.provideMerge(Updates.layer(Stream.fromIterable(given)), Inbox.layer())
          yield* countPerMinute.pipe(Effect.provide(Layer.provideMerge(source, Layer.fresh(SqlInboxStore.layer()))))
        }
        const chats = Array.from({ length: 100 }, (_, chat) => chat)
        const rows = yield* sql<{ chat_id: string; minute: string; messages: string }>`
          SELECT chat_id, minute, messages FROM messages_per_minute ORDER BY minute, chat_id`
        assert.deepStrictEqual(
          rows.map(({ chat_id, messages, minute }) => [chat_id, minute, messages].map(Number)),
          [...chats.map((chat) => [chat, 1, 3]), ...chats.map((chat) => [chat, 2, 9])]
        )
      }).pipe(
        Effect.provide(
          database(
            "messages_per_minute (chat_id bigint, minute bigint, messages bigint NOT NULL, PRIMARY KEY (chat_id, minute))"
          )
        )
      ),
    needsDatabase
  )
})

describe("the pipeline moderation", () => {
  it.effect("removes the messages of a user beyond 5 within 10 seconds, in this chat only", () =>
    Effect.gen(function* () {
      const [ann, ben] = [yield* Emulator.user("Ann"), yield* Emulator.user("Ben")]
      const options = { members: [ann, ben], bot: { admin: true } } as const
      const [group, other] = [yield* Emulator.chat(options), yield* Emulator.chat(options)]
      yield* Effect.forkChild(moderation, { startImmediately: true })
      const inbox = yield* Inbox.Inbox
      const say = Effect.fnUntraced(function* (person: typeof ann, chat: typeof group, count: number) {
        for (let index = 1; index <= count; index++) yield* person.send(chat, `${index}`)
        // Every update is polled and handled.
        yield* TestClock.adjust("2 seconds")
        yield* Effect.repeat(Effect.andThen(TestClock.adjust("20 millis"), inbox.stats), {
          until: ({ queued }) => queued === 0
        })
      })
      const textsIn = (chat: typeof group) =>
        Effect.map(Emulator.messages(chat), (messages) => messages.map(({ body }) => body?.text).join(""))
      yield* say(ann, group, 8)
      yield* say(ben, group, 5)
      yield* say(ann, other, 5)
      assert.strictEqual(yield* textsIn(group), "1234512345")
      assert.strictEqual(yield* textsIn(other), "12345")
      yield* TestClock.adjust("10 seconds")
      yield* say(ann, group, 5)
      assert.strictEqual(yield* textsIn(group), "123451234512345")
    }).pipe(Effect.provide(LongPolling.layer().pipe(Layer.provideMerge(Emulator.layerBot()))))
  )
})

describe("the pipeline answerAndLog", () => {
  it.live(
    "answers messages, and logs every update once",
    () =>
      Effect.gen(function* () {
        const sent: Array<string> = []
        const updates = [
          ...Array.from({ length: 250 }, (_, index) => message(`mid.${index}`, index % 50, index)),
          Fixtures.botStarted()
        ]
        const sql = yield* SqlClient.SqlClient
        for (const given of [updates, updates.slice(0, 20)]) {
          yield* Effect.gen(function* () {
            yield* answerAndLog
            assert.strictEqual(yield* queued, 0)
          }).pipe(Effect.provide(Layer.merge(TestUpdates.layer(given), recording(sent))))
        }
        assert.strictEqual(sent.length, 270)
        const rows = yield* sql<{ update_type: string; count: string }>`
          SELECT update_type, count(*) AS count FROM audit_log GROUP BY update_type ORDER BY update_type`
        assert.deepStrictEqual(
          rows.map(({ count, update_type }) => [update_type, Number(count)]),
          [
            ["bot_started", 1],
            ["message_created", 250]
          ]
        )
      }).pipe(Effect.provide(database("audit_log (fingerprint text PRIMARY KEY, update_type text NOT NULL)"))),
    needsDatabase
  )
})

describe("the pipeline greeting", () => {
  it.effect("greets at most 10 users per second, and everybody in the end", () =>
    Effect.gen(function* () {
      const sent: Array<string> = []
      const updates = Array.from({ length: 35 }, (_, index) => ({
        ...Fixtures.botStarted({ chat_id: Chat.ChatId.make(index + 1) })
      }))
      const fiber = yield* Effect.gen(function* () {
        yield* greeting
        return yield* queued
      }).pipe(
        Effect.provide(Layer.merge(TestUpdates.layer(updates), recording(sent))),
        Effect.forkChild({ startImmediately: true })
      )
      const counts: Array<number> = []
      for (let second = 0; second < 4; second++) {
        const before = sent.length
        for (let step = 0; step < 50; step++) yield* TestClock.adjust("20 millis")
        counts.push(sent.length - before)
      }
      assert.isTrue(
        counts.every((count) => count <= 20),
        String(counts)
      )
      assert.strictEqual(sent.length, 35)
      assert.strictEqual(yield* Fiber.join(fiber), 0)
    })
  )
})

describe("the pipeline answerAsBoth", () => {
  it.effect("answers each message by the bot that received it", () =>
    Effect.gen(function* () {
      const bot = (token: string) =>
        LongPolling.layer().pipe(
          Layer.provideMerge(BotApi.layer({ token: Redacted.make(token), baseUrl: Emulator.baseUrl })),
          Layer.provide(RateLimiter.layerMemory(RateLimiter.unlimited)),
          Layer.provideMerge(Inbox.layerMemory()),
          Updates.fromLayer
        )
      const [first, second] = [yield* bot("first"), yield* bot("second")]
      yield* Effect.forkChild(answerAsBoth(first, second), { startImmediately: true })
      const bots = yield* Emulator.bots
      for (const name of ["Ann", "Ben"]) {
        const person = yield* Emulator.user(name)
        for (const bot of bots) {
          yield* person.with(bot).send("hello")
          const { body, sender } = yield* person.with(bot).reply
          assert.deepStrictEqual([body?.text, sender?.user_id], ["Thank you", bot.user_id])
        }
      }
    }).pipe(Effect.scoped, Effect.provide(Emulator.layer({ token: "first", moreTokens: ["second"] })))
  )
})

describe("the pipeline countMessagesWith", () => {
  it.live("counts in a file, and continues after the last line when it runs again", () =>
    Effect.gen(function* () {
      const folder = yield* Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "replay-"))),
        (path) => Effect.sync(() => rmSync(path, { recursive: true }))
      )
      const path = join(folder, "updates.jsonl")
      const line = (index: number, text: string) =>
        `${Json.stringify(Schema.encodeSync(Update.Update)(message(`mid.${index}`, index, index, text)))}\n`
      writeFileSync(path, [line(1, "hello"), "{ broken\n", line(2, "hello again"), line(3, "good morning")].join(""))
      assert.strictEqual(yield* countMessagesWith(path, "hello"), 2)
      appendFileSync(path, line(4, "hello hello"))
      assert.strictEqual(yield* countMessagesWith(path, "hello"), 1)
      assert.strictEqual((yield* Stream.runCollect(Inbox.deadLetters)).length, 1)
      const error = yield* Effect.flip(countMessagesWith(join(folder, "missing"), "hello"))
      assert.strictEqual(error._tag, "PlatformError")
    }).pipe(Effect.scoped, Effect.provide(Layer.merge(Inbox.layerMemory(), NodeFileSystem.layer)))
  )
})

describe("docs/streams.md", () => {
  it("has the code of each pipeline", () => {
    const read = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8")
    const page = read("../../docs/streams.md")
    for (const name of readdirSync(new URL("../src/pipelines", import.meta.url))) {
      assert.include(page, `\`\`\`ts\n${read(`../src/pipelines/${name}`)}\`\`\``, name)
    }
  })
})
