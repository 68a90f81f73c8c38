import { Bot, Command, Handler, LongPolling, Me, Messages, RateLimiter, Subscriptions } from "@colloquy/core"
import * as Inbox from "@colloquy/core/inbox/Inbox"
import * as NodeBot from "@colloquy/node/bot/NodeBot"
import * as NodeWebhook from "@colloquy/node/inbox/NodeWebhook"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Certificates from "../../../node/test/support/certificates.ts"
import * as Databases from "../../../node/test/support/databases.ts"
import * as Servers from "../../../node/test/support/servers.ts"
import { fill, makeBot, started } from "../support/bots.ts"
import { platform, token } from "../support/platform.ts"
import { objects, person, run } from "../support/run.ts"

const freePort = Servers.closedPort

describe("colloquy and the platform", () => {
  it.live("send writes to a chat and to a user, and explains the rejections of the platform", () =>
    Effect.gen(function* () {
      const { env, person } = yield* platform
      const [sent] = objects(yield* run(["send", String(person.user.user_id), "Hello", "--user", "--json"], env))
      const text = yield* run(["send", String(sent.chat_id), "*Again*", "--format", "markdown"], env)
      assert.deepStrictEqual([text.code, text.err], [0, ""])
      assert.match(text.out, /^Sent the message \S+ to chat \d+\.$/)
      const unknown = yield* run(["send", "-12345", "Hello"], env)
      assert.strictEqual(unknown.code, 1)
      assert.include(unknown.err, "not found")
      assert.strictEqual(unknown.err.split("\n").length, 1)
      assert.strictEqual(
        (yield* run(["send", "Anna", "Hello"], env)).err,
        'colloquy: "Anna" is not the id of a chat: use a whole number.'
      )
    })
  )

  it.live("never prints the token, and prints errors as JSON with --json", () =>
    Effect.gen(function* () {
      const { env } = yield* platform
      const wrong = { ...env, BOT_TOKEN: "wrong-token-of-a-test" }
      for (const args of [
        ["send", "1", "Hello"],
        ["subscriptions", "list", "--json"],
        ["doctor"],
        ["send", "wrong-token-of-a-test", "x"]
      ]) {
        const { code, err, out } = yield* run(args, wrong)
        assert.notStrictEqual(code, 0)
        assert.notInclude(out + err, "wrong-token-of-a-test")
      }
      const { err } = yield* run(["subscriptions", "list", "--json"], wrong)
      assert.deepStrictEqual(Object.keys(JSON.parse(err) as object), ["error"])
    })
  )

  it.live("reads the settings from .env, from --env, and from the environment, which wins", () =>
    Effect.gen(function* () {
      const { env } = yield* platform
      const cwd = yield* Databases.temporaryFolder
      const none = yield* run(["subscriptions", "list"], {}, cwd)
      assert.strictEqual(none.code, 2)
      assert.include(none.err, "BOT_TOKEN is missing; BOT_BASE_URL is missing")
      writeFileSync(join(cwd, ".env"), `BOT_TOKEN="wrong"\nBOT_BASE_URL=${env.BOT_BASE_URL}\n`)
      assert.strictEqual((yield* run(["subscriptions", "list"], {}, cwd)).code, 1)
      assert.strictEqual((yield* run(["subscriptions", "list"], { BOT_TOKEN: token }, cwd)).code, 0)
      writeFileSync(join(cwd, "other.env"), `BOT_TOKEN=${token}\nBOT_BASE_URL=${env.BOT_BASE_URL}\n`)
      assert.strictEqual((yield* run(["subscriptions", "list", "--env", "other.env"], {}, cwd)).code, 0)
      const missing = yield* run(["subscriptions", "list", "--env", "no.env"], {}, cwd)
      assert.deepStrictEqual([missing.code, missing.err], [2, "colloquy: --env no.env: the file does not exist."])
    })
  )

  it.live.each([
    [["state", "get", "cart", "user-7"], '"user-7" is not a scope'],
    [["state", "set", "cart", "user:7", "tea"], "The value is not JSON"],
    [["state", "forget", "anna"], '"anna" is not the id of a user'],
    [["send", "anna", "Hello"], '"anna" is not the id of a chat'],
    [["dead", "list", "--since", "soon"], '--since "soon": must be a time'],
    [["dead", "drop", "--until", "soon"], '--until "soon": must be a time'],
    [["chats", "list", "--active-since", "soon"], '--active-since "soon": must be a time']
  ] as const)("checks the arguments before the settings: %s", ([args, problem]) =>
    Effect.gen(function* () {
      const { code, err } = yield* run(args, { BOT_WEBHOOK_PORT: "none", DATABASE_URL: "nowhere" })
      assert.strictEqual(code, 2)
      assert.include(err, problem)
    })
  )

  it.live("subscriptions set, list and remove change the webhooks", () =>
    Effect.gen(function* () {
      const { env } = yield* platform
      const url = "https://bot.example/updates"
      const without = yield* run(["subscriptions", "set", url], env)
      assert.strictEqual(without.code, 2)
      assert.include(without.err, "BOT_WEBHOOK_SECRET is not set")
      const withSecret = { ...env, BOT_WEBHOOK_SECRET: "the-secret-of-a-test" }
      assert.strictEqual(
        (yield* run(["subscriptions", "set", url, "--type", "bot_started"], withSecret)).out,
        `Subscribed ${url}.`
      )
      const [listed] = objects(yield* run(["subscriptions", "list", "--json"], env))
      assert.deepInclude(listed, { url, update_types: ["bot_started"] })
      assert.strictEqual((yield* run(["subscriptions", "remove", "https://other.example/"], env)).code, 1)
      assert.strictEqual((yield* run(["subscriptions", "remove", url], env)).code, 2)
      const dry = yield* run(["subscriptions", "remove", url, "--dry-run"], env)
      assert.include(dry.out, `Removes the subscription of ${url}. Updates are delivered by long polling then.`)
      const no = person(false)
      assert.strictEqual((yield* run(["subscriptions", "remove", url], env, "/", undefined, no.ask)).code, 1)
      assert.lengthOf(no.questions, 1)
      assert.lengthOf(objects(yield* run(["subscriptions", "list", "--json"], env)), 1)
      assert.include((yield* run(["subscriptions", "remove", url, "--yes"], env)).out, `Removed ${url}.`)
      assert.include((yield* run(["subscriptions", "list"], env)).out, "No webhook is subscribed")
    })
  )

  it.live(
    "webhook rotate-secret changes the secret only after the running bot accepts the new one, and loses no delivery",
    () =>
      Effect.gen(function* () {
        const { env, person } = yield* platform
        const [older, newer] = ["the-older-secret", "the-newer-secret"]
        const port = yield* freePort
        const url = `http://127.0.0.1:${port}/updates`
        const settings = { ...env, BOT_WEBHOOK_URL: url, BOT_WEBHOOK_INSECURE: "true", BOT_WEBHOOK_SECRET: older }
        const received: Array<string> = []
        const bot = (acceptedSecrets: ReadonlyArray<string>) =>
          Bot.run((update) => Effect.sync(() => void received.push(update.update_type))).pipe(
            Effect.provide(
              NodeWebhook.layer({ url, port, host: "127.0.0.1", insecure: true, secret: older, acceptedSecrets }).pipe(
                Layer.provideMerge(
                  Layer.merge(
                    Inbox.layerMemory(),
                    NodeBot.layerClient({ token, baseUrl: env.BOT_BASE_URL }).pipe(
                      Layer.provide(RateLimiter.layerMemory())
                    )
                  )
                )
              )
            )
          )
        const rotate = run(["webhook", "rotate-secret"], { ...settings, BOT_WEBHOOK_ACCEPTED_SECRETS: newer })
        const isReady = Effect.repeat(run(["subscriptions", "list"], env), {
          until: ({ out }) => out.includes(url),
          schedule: Schedule.spaced("20 millis")
        })
        const count = (expected: number) =>
          Effect.repeat(
            Effect.sync(() => received.length),
            { until: (length) => length === expected, schedule: Schedule.spaced("5 millis") }
          )

        const before = yield* Effect.forkChild(bot([]))
        yield* isReady
        assert.include(
          (yield* run(["webhook", "rotate-secret"], settings)).err,
          "BOT_WEBHOOK_ACCEPTED_SECRETS has no new secret"
        )
        const rejected = yield* rotate
        assert.strictEqual(rejected.code, 1)
        assert.include(rejected.err, "The secret was not changed: the webhook")
        assert.notInclude(rejected.err, newer)
        yield* person.send("one")
        yield* count(1)
        yield* Fiber.interrupt(before)

        const after = yield* Effect.forkChild(bot([newer]))
        yield* Effect.repeat(
          Effect.exit(
            Effect.promise(() =>
              fetch(url, { method: "POST" }).then(
                () => true,
                () => false
              )
            )
          ),
          {
            until: (exit) => exit._tag === "Success" && exit.value,
            schedule: Schedule.spaced("20 millis")
          }
        )
        yield* person.send("two")
        const rotated = yield* rotate
        assert.deepStrictEqual([rotated.code, rotated.err], [0, ""])
        yield* person.send("three")
        yield* count(3)
        yield* Fiber.interrupt(after)
      })
  )

  it.live("webhook rotate-secret makes the platform deliver with the new secret, and keeps the types of updates", () =>
    Effect.gen(function* () {
      const { asBot, env, person } = yield* platform
      const secrets: Array<unknown> = []
      const origin = yield* Servers.serve((request, response) => {
        if (request.headers["content-type"] === "text/plain") response.statusCode = 415
        else secrets.push(request.headers["x-svc-bot-api-secret"])
        response.end()
      })
      const url = `${origin.replace("localhost", "127.0.0.1")}/updates`
      const subscribe = Subscriptions.subscribeWith({ insecure: true })
      yield* asBot(subscribe({ url, secret: "the-older-secret", update_types: ["message_created"] }))
      const received = (count: number) =>
        Effect.repeat(
          Effect.sync(() => secrets.length),
          { until: (length) => length === count, schedule: Schedule.spaced("5 millis") }
        )
      yield* person.send("one")
      yield* received(1)
      const settings = { ...env, BOT_WEBHOOK_INSECURE: "true", BOT_WEBHOOK_ACCEPTED_SECRETS: "the-newer-secret" }
      assert.strictEqual((yield* run(["webhook", "rotate-secret", "--probes", "2"], settings)).code, 0)
      yield* person.send("two")
      yield* received(2)
      assert.deepStrictEqual(secrets, ["the-older-secret", "the-newer-secret"])
      assert.deepStrictEqual((yield* asBot(Subscriptions.list()))[0]?.update_types, ["message_created"])
    })
  )

  it.live("works while a bot with long polling runs on the same SQLite file, and tail takes no update from it", () =>
    Effect.gen(function* () {
      const { env, person } = yield* platform
      const { colloquy, place } = yield* makeBot("SQLite")
      const start = Command.make("start").on((update) => Messages.reply(update, "A secret answer"))
      const fail = Handler.on("message_created", () => Effect.die(new Error("mistake")))
      const bot = yield* Bot.run(Bot.make(start, fail), { retry: Schedule.recurs(0) }).pipe(
        Effect.provide(
          LongPolling.layer().pipe(
            Layer.provideMerge(NodeBot.layer({ token, baseUrl: env.BOT_BASE_URL, inbox: { filename: place } }))
          )
        ),
        Effect.forkChild
      )
      const lines: Array<string> = []
      const args = ["updates", "tail", "--interval", "20 millis", "--kind", "message_created"]
      const tailing = yield* Effect.forkChild(run([...args, "--json"], { BOT_INBOX: place }, "/", lines))
      const until = (count: number) =>
        Effect.repeat(
          Effect.sync(() => lines.length),
          { until: (length) => length >= count, schedule: Schedule.spaced("10 millis") }
        )
      yield* person.send("/start")
      yield* until(1)
      yield* person.send("Hello")
      yield* until(2)
      yield* Fiber.interrupt(tailing)
      const [first, second] = lines.map((line) => JSON.parse(line))
      assert.deepInclude(first, {
        kind: "message_created",
        outcome: "handled",
        part: { kind: "command", name: "start" }
      })
      assert.deepInclude(first.calls[0], { endpoint: "Messages.send", status: 200 })
      assert.deepInclude(second, { outcome: "dead", error: "Error: mistake", calls: [] })
      assert.notInclude(lines.join(), "secret")
      const ofDead: Array<string> = []
      const again = yield* Effect.forkChild(run([...args, "--outcome", "dead"], { BOT_INBOX: place }, "/", ofDead))
      yield* Effect.repeat(
        Effect.sync(() => ofDead.length),
        { until: (length) => length >= 2, schedule: Schedule.spaced("10 millis") }
      )
      yield* Fiber.interrupt(again)
      assert.match(ofDead[1]!, /dead +message_created +chat \d+ +handler message_created +\d+ ms\n +Error: mistake$/)
      const story = yield* colloquy("updates", "story", String(first.chat_id))
      const told = story.out.split("\n").map((line) =>
        line
          .replace(/^\S+Z +/, "")
          .trim()
          .split(/ {2,}/)
      )
      assert.deepStrictEqual(
        told.map((cells) => cells.slice(0, 2).join(" ")),
        [
          "unhandled bot_started",
          "handled message_created",
          "Messages.send 200",
          "dead message_created",
          "Error: mistake"
        ]
      )
      const cut = yield* colloquy("updates", "story", String(first.chat_id), "--limit", "1", "--json")
      assert.deepStrictEqual(JSON.parse(cut.err), { more: true, limit: 1 })
      assert.strictEqual(objects(cut)[0].outcome, "dead")
      assert.include((yield* colloquy("updates", "story", "5")).out, "The log has no update of this chat.")
      yield* Fiber.interrupt(bot)
    })
  )
})

describe("colloquy doctor", () => {
  const statuses = (ran: Parameters<typeof objects>[0]) =>
    Object.fromEntries(objects(ran).map(({ name, status }) => [name, status] as const))

  it.live("finds nothing wrong with a bot that runs", () =>
    Effect.gen(function* () {
      const { env } = yield* platform
      const { onInbox, place } = yield* makeBot("SQLite")
      const ran = yield* run(["doctor", "--json"], { ...env, BOT_INBOX: place })
      assert.strictEqual(ran.code, 0, ran.out)
      assert.deepInclude(statuses(ran), {
        settings: "ok",
        token: "ok",
        tls: "skipped",
        clock: "ok",
        subscriptions: "ok",
        disk: "ok",
        database: "ok",
        inbox: "ok",
        versions: "ok"
      })
      yield* onInbox(fill([], [{ text: started(1, 1), error: "no" }]))
      const text = yield* run(["doctor"], { ...env, BOT_INBOX: place })
      assert.include(
        text.out,
        "warning  inbox: 0 updates queued, 1 dead letter\n           → `colloquy dead list` shows their errors."
      )
    })
  )

  it.live("names each setting that is missing, and exits with 1", () =>
    Effect.gen(function* () {
      const ran = yield* run(["doctor"], {}, yield* Databases.temporaryFolder)
      assert.strictEqual(ran.code, 1)
      assert.include(ran.out, "problem  settings: BOT_TOKEN is missing")
      assert.include(ran.out, "problem  settings: BOT_BASE_URL is missing")
      assert.include(ran.err, "The checks found 2 problems.")
    })
  )

  it.live("says whether the certificate of the API is trusted with and without BOT_EXTRA_CA", () =>
    Effect.gen(function* () {
      const root = yield* Certificates.makeRoot("A root of a test")
      const leaf = yield* Certificates.makeLeaf(root)
      const baseUrl = yield* Servers.serveTls(leaf, [])
      const env = { BOT_TOKEN: token, BOT_BASE_URL: baseUrl }
      const tlsOf = (settings: Readonly<Record<string, string>>) =>
        Effect.map(run(["doctor", "--json"], settings), (ran) => objects(ran).find(({ name }) => name === "tls"))
      const without = yield* tlsOf(env)
      assert.strictEqual(without.status, "problem")
      assert.include(without.advice, "set BOT_EXTRA_CA")
      const withRoot = yield* tlsOf({ ...env, BOT_EXTRA_CA: root.pem })
      assert.deepStrictEqual([withRoot.status, withRoot.detail.includes("is trusted with BOT_EXTRA_CA")], ["ok", true])
      const other = yield* Certificates.makeRoot("Another root of a test")
      assert.strictEqual((yield* tlsOf({ ...env, BOT_EXTRA_CA: other.pem })).status, "problem")
    })
  )

  it.live("finds a webhook that is not reachable, is not subscribed, or takes the updates of long polling", () =>
    Effect.gen(function* () {
      const { asBot, env } = yield* platform
      const port = yield* freePort
      const url = `http://127.0.0.1:${port}/updates`
      const ran = yield* run(["doctor", "--json"], {
        ...env,
        BOT_WEBHOOK_URL: url,
        BOT_WEBHOOK_SECRET: "a-secret-of-a-test",
        BOT_WEBHOOK_PORT: String(port)
      })
      assert.strictEqual(ran.code, 1)
      assert.deepInclude(statuses(ran), { subscriptions: "problem", "secret header": "problem", port: "ok" })
      yield* asBot(Subscriptions.subscribe({ url: `https://localhost/updates` }))
      const polling = objects(yield* run(["doctor", "--json"], env))
      assert.strictEqual(polling.find(({ name }) => name === "subscriptions").status, "warning")
      assert.strictEqual(polling.find(({ name }) => name === "webhook certificate").status, "problem")
      assert.isNumber((yield* asBot(Me.get())).user_id)
    })
  )

  it.live("names the database, the Redis or the file that cannot be used", () =>
    Effect.gen(function* () {
      const { env } = yield* platform
      const port = yield* freePort
      const password = "a-password-of-a-test"
      const ran = yield* run(["doctor", "--json"], {
        ...env,
        DATABASE_URL: `postgres://bot:${password}@127.0.0.1:${port}/bot`,
        REDIS_URL: `redis://:${password}@127.0.0.1:${port}`
      })
      assert.deepInclude(statuses(ran), { database: "problem", redis: "problem", disk: "skipped" })
      assert.notInclude(ran.out + ran.err, password)
      const folder = yield* Databases.temporaryFolder
      writeFileSync(
        join(folder, "text.sqlite"),
        "this is not a database, but a text that is long enough to be one".repeat(20)
      )
      const file = yield* run(["doctor", "--json"], { ...env, BOT_INBOX: join(folder, "text.sqlite") })
      assert.deepInclude(statuses(file), { database: "problem", inbox: "problem" })
      mkdirSync(join(folder, "empty"))
      const none = yield* run(["inbox", "stats"], env, join(folder, "empty"))
      assert.strictEqual(none.code, 1)
      assert.include(none.err, "There is no SQLite file")
      assert.include(none.err, "whose inbox is in memory cannot be read by another process")
    })
  )
})
