import * as Inbox from "@colloquy/core/inbox/Inbox"
import { InboxStore } from "@colloquy/core/inbox/InboxStore"
import * as Bot from "@colloquy/core/bot/Bot"
import * as State from "@colloquy/core/bot/State"
import * as Timer from "@colloquy/core/bot/Timer"
import * as Updates from "@colloquy/core/inbox/Updates"
import { UserId } from "@colloquy/core/model/User"
import { ChatId } from "@colloquy/core/model/Recipient"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Databases from "../../../node/test/support/databases.ts"
import * as Servers from "../../../node/test/support/servers.ts"
import { added, fill, makeBot, started } from "../support/bots.ts"
import { objects, person, run } from "../support/run.ts"

const missing: Readonly<Record<string, boolean>> = await Databases.missing()

const hour = 3_600_000

const statsOf = Effect.flatMap(Inbox.Inbox, ({ stats }) => stats)

for (const kind of ["SQLite", "PostgreSQL", "Redis"]) {
  describe.skipIf(missing[kind]!)(`colloquy with ${kind}`, () => {
    it.live("inbox stats and inbox list show the queued updates, by kind and chat", () =>
      Effect.gen(function* () {
        const { colloquy, onInbox } = yield* makeBot(kind)
        const empty = yield* colloquy("inbox", "list")
        assert.deepStrictEqual([empty.code, empty.out], [0, "No queued update matches."], empty.err)
        yield* onInbox(fill([started(1, 1), added(-42, 2), started(2, 3)], [{ text: started(3, 4), error: "no" }]))
        const [stats] = objects(yield* colloquy("inbox", "stats", "--json"))
        assert.deepInclude(stats, { queued: 3, dead_letters: 1 })
        assert.match(
          (yield* colloquy("inbox", "stats")).out,
          /^3 queued updates, the oldest received \d+s ago, 1 dead letter$/
        )
        const all = yield* colloquy("inbox", "list")
        assert.deepStrictEqual(
          all.out.split("\n").map((line) => line.split("  ").slice(2).join(" ")),
          ["bot_started chat 1 Anna (7)", "bot_added chat -42 Boris (8)", "bot_started chat 2 Anna (7)"]
        )
        for (const command of ["inbox", "timers", "dead"]) {
          const exact = yield* colloquy(command, "list", "--limit", command === "inbox" ? "3" : "1", "--json")
          assert.deepStrictEqual([exact.code, exact.err], [0, ""], command)
        }
        const cut = yield* colloquy("inbox", "list", "--limit", "2")
        assert.deepStrictEqual(
          [cut.code, cut.out, cut.err],
          [0, all.out.split("\n").slice(0, 2).join("\n"), "There are more than these 2: set a higher --limit."]
        )
        const byKind = objects(yield* colloquy("inbox", "list", "--kind", "bot_started", "--limit", "1", "--json"))
        assert.deepStrictEqual(
          byKind.map(({ update }) => update),
          [JSON.parse(started(1, 1))]
        )
        const byChat = objects(yield* colloquy("inbox", "list", "--chat", "-42", "--json"))
        assert.deepStrictEqual(
          byChat.map(({ kind, partition_key }) => [kind, partition_key]),
          [["bot_added", "-42"]]
        )
        assert.deepStrictEqual((yield* onInbox(statsOf)).queued, 3)
        for (const command of ["inbox list", "dead list", "timers list", "updates tail"]) {
          const ran = yield* colloquy(...command.split(" "), "--chat", "Anna", "--json")
          assert.deepStrictEqual([command, ran.code, ran.out], [command, 2, ""])
          assert.include((JSON.parse(ran.err) as { readonly error: string }).error, "Anna")
        }
      })
    )

    it.live("inbox pause stops a bot that runs, and inbox resume lets the bot go on", () =>
      Effect.gen(function* () {
        const { colloquy, onInbox } = yield* makeBot(kind)
        const refused = yield* colloquy("inbox", "resume")
        assert.deepStrictEqual([refused.code, refused.err], [1, "colloquy: The inbox is not paused."])
        assert.deepStrictEqual(objects(yield* colloquy("inbox", "pause", "--json")), [{ paused: true }])
        yield* onInbox(fill([started(1, 1)]))
        assert.include((yield* colloquy("inbox", "stats")).out, ". The inbox is paused")
        const events: Array<string> = []
        const run = Effect.gen(function* () {
          const asked = yield* Deferred.make<void>()
          const inbox = yield* Inbox.Inbox
          const store = {
            ...inbox.store,
            read: (keys: ReadonlyArray<string>) =>
              Effect.ensuring(
                inbox.store.read(keys),
                keys[0] === "paused" ? Deferred.succeed(asked, undefined) : Effect.void
              )
          }
          const handled = yield* Deferred.make<void>()
          const bot = Bot.run(() => {
            events.push("handled")
            return Deferred.succeed(handled, undefined)
          }).pipe(
            Effect.provide(
              Updates.layer(Stream.never).pipe(
                Layer.provideMerge(Inbox.layer()),
                Layer.provide(Layer.succeed(InboxStore, store))
              )
            )
          )
          yield* Effect.forkScoped(bot)
          yield* Deferred.await(asked)
          events.push("resumed")
          yield* colloquy("inbox", "resume")
          yield* Deferred.await(handled)
        })
        yield* onInbox(Effect.scoped(run))
        assert.deepStrictEqual(events, ["resumed", "handled"])
        assert.strictEqual((yield* onInbox(statsOf)).queued, 0)
      })
    )

    it.live("dead list, show, replay and drop select by id, cause, kind, chat and time", () =>
      Effect.gen(function* () {
        const { colloquy, onInbox } = yield* makeBot(kind)
        const now = Date.now()
        yield* onInbox(
          fill(
            [],
            [
              { text: started(1, 1), error: "TypeError: x is undefined\n    at handler", at: now - 5 * hour },
              { text: added(-42, 2), error: "TypeError: y is undefined", at: now - 3 * hour },
              { text: started(2, 3), error: "The database is closed", at: now - hour },
              { text: started(3, 4), error: "The database is closed", at: now }
            ]
          )
        )
        const list = (...flags: ReadonlyArray<string>) =>
          Effect.map(colloquy("dead", "list", "--json", ...flags), (ran) =>
            objects(ran).map(({ update }) => update.chat_id)
          )
        assert.deepStrictEqual(yield* list(), [1, -42, 2, 3])
        const cut = yield* colloquy("dead", "list", "--json", "--limit", "3")
        assert.deepStrictEqual([objects(cut).length, JSON.parse(cut.err)], [3, { more: true, limit: 3 }])
        assert.strictEqual((yield* colloquy("dead", "list", "--json", "--limit", "4")).err, "")
        assert.deepStrictEqual(yield* list("--cause", "typeerror"), [1, -42])
        assert.deepStrictEqual(yield* list("--kind", "bot_started", "--cause", "typeerror"), [1])
        assert.deepStrictEqual(yield* list("--chat", "-42"), [-42])
        assert.deepStrictEqual(yield* list("--since", "2 hours"), [2, 3])
        const between = ["--since", new Date(now - 4 * hour).toISOString(), "--until", "30 minutes"]
        assert.deepStrictEqual(yield* list(...between), [-42, 2])

        const [first] = objects(yield* colloquy("dead", "list", "--json", "--limit", "1"))
        const shown = yield* colloquy("dead", "show", first.id)
        assert.include(shown.out, "TypeError: x is undefined\n    at handler")
        assert.include(shown.out, started(1, 1))

        const nothing = yield* colloquy("dead", "drop")
        assert.deepStrictEqual([nothing.code, nothing.out], [2, ""])
        assert.include(nothing.err, "Give the ids of the dead letters to drop")
        assert.strictEqual((yield* colloquy("dead", "drop", "1", "--all")).code, 2)
        assert.include((yield* colloquy("dead", "list", "--since", "soon")).err, `--since "soon": must be a time`)

        assert.deepStrictEqual(objects(yield* colloquy("dead", "replay", "--cause", "database", "--json")), [
          { replayed: 2 }
        ])
        assert.deepStrictEqual((yield* colloquy("dead", "drop", first.id, "--yes")).out, "Deleted: 1 dead letter.")
        const again = yield* colloquy("dead", "drop", first.id, "--yes")
        assert.strictEqual(again.code, 1)
        assert.include(again.err, "1 dead letter of the 1 did not exist")
        assert.strictEqual((yield* colloquy("dead", "show", first.id)).code, 1)
        assert.deepInclude(yield* onInbox(statsOf), { queued: 2, deadLetters: 1 })
        assert.deepStrictEqual((yield* colloquy("dead", "drop", "--all", "--yes")).out, "Deleted: 1 dead letter.")
      })
    )

    it.live("state get and state set read and write the values of the bot", () =>
      Effect.gen(function* () {
        const { colloquy, onInbox } = yield* makeBot(kind)
        const Language = State.make("language", Schema.String, { of: "user", initial: () => "ru", version: 3 })
        const user_id = UserId.make(7)
        assert.strictEqual((yield* colloquy("state", "get", "language", "user:7")).code, 1)
        yield* onInbox(Language.at({ user_id }).set("en"))
        const [stored] = objects(yield* colloquy("state", "get", "language", "user:7", "--json"))
        assert.deepStrictEqual(stored, { name: "language", scope: "user:7", value: "en", version: 3 })
        const set = yield* colloquy("state", "set", "language", "user:7", `"de"`)
        assert.deepStrictEqual([set.code, set.err], [0, ""])
        assert.strictEqual(yield* onInbox(Language.at({ user_id }).get), "de")
        assert.include((yield* colloquy("state", "set", "language", "user:7", "de")).err, "The value is not JSON")
        assert.include((yield* colloquy("state", "get", "language", "7")).err, `"7" is not a scope`)
      })
    )

    it.live("state set does not change a sorted value, whose number the program computes", () =>
      Effect.gen(function* () {
        const { colloquy, onInbox } = yield* makeBot(kind)
        const Score = State.make("score", Schema.Finite, {
          of: Schema.Struct({ game: Schema.String }),
          initial: () => 0,
          sortBy: (score) => score
        })
        yield* onInbox(Score.at({ game: "chess" }).set(7))
        const scope = 'key:{"game":"chess"}'
        const [stored] = objects(yield* colloquy("state", "get", "score", scope, "--json"))
        assert.deepStrictEqual(stored, { name: "score", scope, value: 7, version: 1 })
        const set = yield* colloquy("state", "set", "score", scope, "9")
        assert.strictEqual(set.code, 1)
        assert.include(set.err, `The values of the state "score" are sorted by a number`)
        assert.strictEqual(yield* onInbox(Score.at({ game: "chess" }).get), 7)
      })
    )

    it.live("state forget deletes the state, the timers and the dead letters of a user", () =>
      Effect.gen(function* () {
        const { colloquy, onInbox } = yield* makeBot(kind)
        const user_id = UserId.make(7)
        const Cart = State.make("cart", Schema.String, { of: "user", initial: () => "" })
        yield* onInbox(Cart.at({ user_id }).set("tea"))
        yield* onInbox(Cart.at({ user_id: UserId.make(8) }).set("milk"))
        yield* onInbox(fill([], [{ text: started(1, 1), error: "no" }]))
        const [forgotten] = objects(yield* colloquy("state", "forget", "7", "--yes", "--json"))
        assert.deepStrictEqual(forgotten, { user_id: 7, values: 1, timers: 0, dead_letters: 1, chats: 0 })
        assert.strictEqual(yield* onInbox(Cart.at({ user_id }).get), "")
        assert.strictEqual(yield* onInbox(Cart.at({ user_id: UserId.make(8) }).get), "milk")
      })
    )

    it.live("dead drop says what it deletes, and asks in a terminal", () =>
      Effect.gen(function* () {
        const { colloquy, inTerminal, onInbox } = yield* makeBot(kind)
        const seven = [1, 2, 3, 4, 5, 6, 7].map((chat) => ({ text: started(chat, chat), error: `no ${chat}` }))
        yield* onInbox(fill([], seven))
        const left = Effect.map(onInbox(statsOf), ({ deadLetters }) => deadLetters)

        const script = yield* colloquy("dead", "drop", "--all")
        assert.deepStrictEqual([script.code, script.out], [2, ""])
        assert.include(script.err, "add --yes, or --dry-run")
        const dry = yield* inTerminal(person(true).ask, "dead", "drop", "--all", "--dry-run", "--yes")
        assert.match(dry.out, /^Deletes 7 dead letters\.\n(?:.*\n){5}… and 2 more\nNothing was deleted\.$/)
        assert.deepStrictEqual(objects(yield* colloquy("dead", "drop", "--cause", "no 3", "--dry-run", "--json")), [
          { dry_run: true, dead_letters: 1 }
        ])
        const no = person(false)
        const declined = yield* inTerminal(no.ask, "dead", "drop", "--all")
        assert.deepStrictEqual([declined.code, declined.out, declined.err], [1, "", "colloquy: Nothing was deleted."])
        assert.match(no.questions.join(), /^Deletes 7 dead letters\.\n(?:.*\n)+Go on\? \(y\/N\) $/)
        assert.strictEqual(yield* left, 7)

        const agreed = yield* inTerminal(person(true).ask, "dead", "drop", "--cause", "no 3")
        assert.strictEqual(agreed.out, "Deleted: 1 dead letter.")
        assert.strictEqual(yield* left, 6)
      })
    )

    it.live("state forget says how much it deletes, and deletes nothing with --dry-run", () =>
      Effect.gen(function* () {
        const { colloquy, inTerminal, onInbox } = yield* makeBot(kind)
        const user_id = UserId.make(7)
        const Cart = State.make("cart", Schema.String, { of: "user", initial: () => "" })
        const Step = State.make("step", Schema.String, { of: "userInChat", initial: () => "" })
        yield* onInbox(Cart.at({ user_id }).set("tea"))
        yield* onInbox(Step.at({ user_id, chat_id: ChatId.make(1) }).set("pay"))
        yield* onInbox(Cart.at({ user_id: UserId.make(77) }).set("milk"))
        yield* onInbox(fill([], [{ text: started(1, 1), error: "no" }]))
        const [dry] = objects(yield* colloquy("state", "forget", "7", "--dry-run", "--json"))
        assert.deepStrictEqual(dry, { dry_run: true, user_id: 7, values: 2, timers: 0, dead_letters: 1, chats: 0 })
        assert.strictEqual((yield* colloquy("state", "forget", "7")).code, 2)
        const { ask, questions } = person(true)
        assert.include((yield* inTerminal(ask, "state", "forget", "7")).out, "Deleted of user 7: 2 values of the state")
        assert.deepStrictEqual(questions, [
          "Deletes of user 7: 2 values of the state, 0 timers, 1 dead letter, 0 dialogs.\nGo on? (y/N) "
        ])
      })
    )

    it.live("timers list shows the timers by name and chat, the next one first", () =>
      Effect.gen(function* () {
        const { colloquy, onInbox } = yield* makeBot(kind)
        const remind = Timer.make("remind", Schema.String)
        const chat = (id: number) => remind.for({ chat_id: ChatId.make(id) })
        yield* onInbox(chat(1).in("2 hours", "later"))
        yield* onInbox(chat(2).in("1 hour", "soon"))
        const timers = objects(yield* colloquy("timers", "list", "--json"))
        assert.deepStrictEqual(
          timers.map(({ chat_id, name, value }) => [name, chat_id, value]),
          [
            ["remind", 2, `"soon"`],
            ["remind", 1, `"later"`]
          ]
        )
        assert.match(
          (yield* colloquy("timers", "list", "--chat", "1")).out,
          /in 1h 59m {2}remind {2}.*chat 1 {2}"later"$/
        )
        assert.strictEqual((yield* colloquy("timers", "list", "--name", "other")).out, "No timer matches.")
      })
    )

    it.live("updates replay queues the updates of a file, once, and stores nothing of a malformed file", () =>
      Effect.gen(function* () {
        const { colloquy, onInbox } = yield* makeBot(kind)
        const folder = yield* Databases.temporaryFolder
        const file = join(folder, "updates.ndjson")
        writeFileSync(file, `${started(1, 1)}\n\n{"id":"5","update":${added(-42, 2)}}\n`)
        const dry = yield* colloquy("updates", "replay", file, "--dry-run")
        assert.strictEqual(dry.out, `${file}: 2 updates. Nothing was stored.`)
        assert.strictEqual((yield* colloquy("updates", "replay", file)).out, "Queued: 2 updates.")
        const again = objects(yield* colloquy("updates", "replay", file, "--json"))
        assert.deepStrictEqual(again, [{ queued: 0, duplicates: 2 }])
        assert.strictEqual((yield* colloquy("updates", "replay", file, "--again")).out, "Queued: 2 updates.")
        const texts = yield* onInbox(Stream.runCollect(Stream.map(Inbox.queued, ({ update }) => update.text)))
        assert.deepStrictEqual(texts, [started(1, 1), added(-42, 2), started(1, 1), added(-42, 2)])

        const answer = join(folder, "answer.json")
        writeFileSync(answer, `{"updates":[${started(9, 9)}],"marker":1}`)
        assert.strictEqual((yield* colloquy("updates", "replay", answer)).out, "Queued: 1 update.")
        writeFileSync(file, `${started(4, 4)}\n{"update_type":"bot_started"}\n`)
        const bad = yield* colloquy("updates", "replay", file)
        assert.strictEqual(bad.code, 2)
        assert.include(bad.err, "line 2: is not an update")
        assert.strictEqual((yield* onInbox(statsOf)).queued, 5)
      })
    )
  })
}

describe("colloquy without a database", () => {
  it.live("says why it cannot connect", () =>
    Effect.gen(function* () {
      const port = yield* Servers.closedPort
      const closed = `127.0.0.1:${port}`
      for (const url of [
        `postgres://bot@${closed}/bots`,
        `postgres://bot@${closed},${closed}/bots`,
        `redis://127.0.0.1:${port}`
      ]) {
        const [name, store] = url.startsWith("redis") ? ["REDIS_URL", "redis"] : ["DATABASE_URL", "postgres"]
        const ran = yield* run(["inbox", "stats", "--store", store], { [name]: url })
        assert.strictEqual(ran.code, 1)
        assert.include(ran.err, `connect ECONNREFUSED 127.0.0.1:${port}`)
      }
    })
  )

  it.live("names the setting whose URL is malformed", () =>
    Effect.gen(function* () {
      for (const [name, store, url] of [
        ["DATABASE_URL", "postgres", "nonsense"],
        ["DATABASE_URL", "postgres", "redis://127.0.0.1"],
        ["DATABASE_URL", "postgres", "postgres://[bots"],
        ["REDIS_URL", "redis", "nonsense"],
        ["REDIS_URL", "redis", "postgres://127.0.0.1"]
      ] as const) {
        const ran = yield* run(["inbox", "stats", "--store", store], { [name]: url })
        assert.strictEqual(ran.code, 2, ran.err)
        assert.match(ran.err, new RegExp(`^colloquy: ${name} must look like \\w+://user:password@host:`))
        const check = objects(yield* run(["doctor", "--store", store, "--json"], { [name]: url }))
        assert.isTrue(check.some(({ detail, status }) => status === "problem" && String(detail).includes(name)))
      }
    })
  )
})
