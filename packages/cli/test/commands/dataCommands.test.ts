import * as BroadcastStore from "@colloquy/core/broadcast/BroadcastStore"
import * as ChatStore from "@colloquy/core/bot/ChatStore"
import * as ChatRecord from "@colloquy/core/bot/ChatRecord"
import { ChatId } from "@colloquy/core/model/Recipient"
import { UserId } from "@colloquy/core/model/User"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { stores as broadcastStores } from "../../../node/test/support/broadcastStores.ts"
import { stores as chatStores } from "../../../node/test/support/chatStores.ts"
import * as Databases from "../../../node/test/support/databases.ts"
import { makeBot } from "../support/bots.ts"
import { objects } from "../support/run.ts"

const missing: Readonly<Record<string, boolean>> = await Databases.missing()

const user = { user_id: UserId.make(7), first_name: "Anna", is_bot: false }

const records = [
  ChatRecord.make(ChatId.make(-42), 1000, { member_at: 1000, type: "chat", title: { at: 1000, value: "Tea" } }),
  {
    ...ChatRecord.make(ChatId.make(1), 5000, { member_at: 5000, type: "dialog", user: { at: 5000, value: user } }),
    first_seen: 2000
  }
]

for (const kind of ["SQLite", "PostgreSQL", "Redis"]) {
  describe.skipIf(missing[kind]!)(`colloquy with ${kind}`, () => {
    it.live("chats list, count, export and import show and copy the chats", () =>
      Effect.gen(function* () {
        const bot = yield* makeBot(kind)
        if (kind !== "Redis") {
          const none = yield* bot.colloquy("chats", "count")
          assert.strictEqual(none.code, 1)
          assert.include(none.err, "has no chats of a bot with the prefix")
        }
        const onChats = <A, E>(effect: Effect.Effect<A, E, ChatStore.ChatStore>, place = bot.place) =>
          Effect.scoped(Effect.provide(effect, chatStores[kind]!(place)))
        yield* onChats(ChatStore.ChatStore.use((store) => store.upsert(records)))
        const listed = yield* bot.colloquy("chats", "list")
        assert.strictEqual(
          listed.out,
          `-42  chat  last seen 1970-01-01T00:00:01Z  "Tea"\n1  dialog  last seen 1970-01-01T00:00:05Z  Anna (7)`
        )
        assert.strictEqual((yield* bot.colloquy("chats", "count")).out, "2")
        assert.deepStrictEqual(objects(yield* bot.colloquy("chats", "count", "--type", "chat", "--json")), [
          { chats: 1 }
        ])
        assert.strictEqual((yield* bot.colloquy("chats", "count", "--active-since", "7 days")).out, "0")

        const folder = yield* Databases.temporaryFolder
        const file = join(folder, "chats.ndjson")
        assert.strictEqual((yield* bot.colloquy("chats", "export", file)).out, `Wrote 2 chats to ${file}.`)
        const exported = readFileSync(file, "utf8")
        assert.strictEqual((yield* bot.colloquy("chats", "export")).out, exported.trimEnd())
        const other = yield* makeBot(kind)
        yield* onChats(Effect.void, other.place)
        assert.strictEqual((yield* other.colloquy("chats", "import", file)).out, "Stored 2 chats.")
        assert.strictEqual((yield* other.colloquy("chats", "export")).out, exported.trimEnd())
        writeFileSync(file, `${exported}{"chat_id":"x"}\n`)
        const bad = yield* other.colloquy("chats", "import", file)
        assert.deepStrictEqual([bad.code, bad.err.includes("line 3: is not a chat")], [2, true])

        const [forgotten] = objects(yield* bot.colloquy("state", "forget", "7", "--yes", "--json"))
        assert.strictEqual(forgotten.chats, 1)
        assert.strictEqual((yield* bot.colloquy("chats", "count")).out, "1")
      })
    )

    it.live("broadcast list, status, pause and resume show and change a broadcast", () =>
      Effect.gen(function* () {
        const { colloquy, place } = yield* makeBot(kind)
        const onBroadcasts = <A, E>(effect: Effect.Effect<A, E, BroadcastStore.BroadcastStore>) =>
          Effect.scoped(Effect.provide(effect, broadcastStores[kind]!(place)))
        const statusOf = Effect.map(
          colloquy("broadcast", "status", "news", "--json"),
          (ran) => objects(ran)[0]?.status as unknown
        )
        yield* onBroadcasts(Effect.void)
        assert.include((yield* colloquy("broadcast", "pause", "news")).err, 'There is no broadcast "news".')
        const request = { name: "news", owner: "one", leaseDuration: 0, create: true }
        yield* onBroadcasts(BroadcastStore.BroadcastStore.use((store) => store.acquireLease(request)))
        assert.strictEqual(yield* statusOf, "running")
        yield* onBroadcasts(
          BroadcastStore.BroadcastStore.use((store) => store.acquireLease({ ...request, name: "old" }))
        )
        const names = Effect.map(colloquy("broadcast", "list", "--json"), (ran) =>
          objects(ran).map(({ name, status }) => `${name} ${status}`)
        )
        assert.sameMembers(yield* names, ["news running", "old running"])
        const cut = yield* colloquy("broadcast", "list", "--limit", "1", "--json")
        assert.deepStrictEqual([objects(cut).length, cut.err], [1, '{"more":true,"limit":1}'])
        assert.strictEqual((yield* colloquy("broadcast", "pause", "news")).code, 0)
        assert.strictEqual(yield* statusOf, "paused")
        assert.include((yield* colloquy("broadcast", "status", "news")).out, "status      paused")
        assert.strictEqual((yield* colloquy("broadcast", "resume", "news")).code, 0)
        assert.strictEqual(yield* statusOf, "running")
        yield* onBroadcasts(BroadcastStore.BroadcastStore.use((store) => store.update("news", { status: "finished" })))
        const finished = yield* colloquy("broadcast", "pause", "news")
        assert.deepStrictEqual(
          [finished.code, finished.err],
          [1, 'colloquy: The broadcast "news" was finished, so it cannot be paused.']
        )
      })
    )
  })
}
