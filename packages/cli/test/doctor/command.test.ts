import { InboxStore } from "@colloquy/core/inbox/InboxStore"
import * as Subscriptions from "@colloquy/core/endpoints/Subscriptions"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Databases from "../../../node/test/support/databases.ts"
import * as Servers from "../../../node/test/support/servers.ts"
import { fill, makeBot, queuedOf, started } from "../support/bots.ts"
import { platform, token } from "../support/platform.ts"
import { objects, run } from "../support/run.ts"

interface Check {
  readonly name: string
  readonly status: string
  readonly detail: string
  readonly advice?: string
}

/** Runs the checks. Each warning and each problem says what to do about it. */
const doctor = (env: Readonly<Record<string, string>>, cwd?: string) =>
  Effect.map(run(["doctor", "--json"], env, cwd), (ran) => {
    const checks: ReadonlyArray<Check> = objects(ran)
    for (const { advice, name, status } of checks) {
      assert.strictEqual(advice !== undefined, status === "warning" || status === "problem", name)
    }
    assert.strictEqual(ran.code, checks.some(({ status }) => status === "problem") ? 1 : 0)
    return (name: string) => {
      const found = checks.find((check) => check.name === name)
      return [found?.status, found?.detail, found?.advice].join(" | ")
    }
  })

/** Installs packages without content. */
const install = (folder: string, versions: Readonly<Record<string, string>>): void => {
  for (const [name, version] of Object.entries(versions)) {
    mkdirSync(join(folder, "node_modules", name), { recursive: true })
    writeFileSync(join(folder, "node_modules", name, "package.json"), JSON.stringify({ version }))
  }
}

describe("colloquy doctor describes the solution of", () => {
  it.live("a token that the platform rejects", () =>
    Effect.gen(function* () {
      const { env } = yield* platform
      const check = yield* doctor({ ...env, BOT_TOKEN: "another-token" })
      assert.match(check("token"), /^problem \| the platform rejects the token \| Set BOT_TOKEN/)
    })
  )

  it.live("an API that cannot be reached", () =>
    Effect.gen(function* () {
      const port = yield* Servers.closedPort
      const check = yield* doctor({ BOT_TOKEN: token, BOT_BASE_URL: `https://127.0.0.1:${port}` })
      assert.match(check("tls"), /^problem \| 127\.0\.0\.1:\d+ cannot be reached \| The reason: /)
      assert.match(check("token"), /^problem \| GET \/me failed: .* \| See the check of TLS/)
      assert.match(check("clock"), /^skipped/)
    })
  )

  it.live("an API that is unavailable, after one request", () =>
    Effect.gen(function* () {
      const requests: Array<string> = []
      const baseUrl = yield* Servers.serve((request, response) => {
        requests.push(`${request.method} ${request.url}`)
        response.writeHead(503).end()
      })
      const check = yield* doctor({ BOT_TOKEN: token, BOT_BASE_URL: baseUrl })
      assert.match(check("token"), /^problem \| GET \/me failed: .*503.* \| /)
      assert.match(check("subscriptions"), /^problem \| GET \/subscriptions failed: /)
      assert.sameMembers(requests, ["HEAD /", "GET /me", "GET /subscriptions"])
    })
  )

  it.live("a clock that differs from that of the API", () =>
    Effect.gen(function* () {
      const at = (offset: number) =>
        Effect.gen(function* () {
          const date = new Date(Date.now() + offset).toUTCString()
          const baseUrl = yield* Servers.serve((_, response) => void response.setHeader("date", date).end("{}"))
          return (yield* doctor({ BOT_TOKEN: token, BOT_BASE_URL: baseUrl }))("clock")
        })
      assert.match(yield* at(600_000), /^problem \| is \d+ s behind the clock of the API \| Set the clock .* NTP/)
      assert.match(yield* at(-600_000), /^problem \| is \d+ s ahead of the clock of the API \| /)
    })
  )

  it.live("a second subscription", () =>
    Effect.gen(function* () {
      const { asBot, env } = yield* platform
      const subscribe = (url: string) => asBot(Subscriptions.subscribeWith({ insecure: true })({ url }))
      const urls = ["http://127.0.0.1:9/updates", "http://127.0.0.1:9/older"]
      for (const url of urls) yield* subscribe(url)
      const check = yield* doctor({ ...env, BOT_WEBHOOK_URL: urls[0]!, BOT_WEBHOOK_INSECURE: "true" })
      assert.match(check("subscriptions"), /^warning \| besides .*updates, .*older is subscribed \| .* remove URL/)
    })
  )

  it.live("a webhook that rejects the secret, one without a secret, and another program on its port", () =>
    Effect.gen(function* () {
      const { env } = yield* platform
      const origin = yield* Servers.serve((_, response) => void response.writeHead(403).end())
      const settings = {
        ...env,
        BOT_WEBHOOK_URL: `${origin}/updates`,
        BOT_WEBHOOK_PORT: new URL(origin).port
      }
      const check = yield* doctor({ ...settings, BOT_WEBHOOK_SECRET: "a-secret-of-a-test" })
      assert.match(check("secret header"), /^problem \| the webhook rejects the secret in \S+ \| Check that the bot/)
      assert.match(check("port"), /^warning \| something listens on \d+ .* \| .* set BOT_WEBHOOK_PORT/)
      const without = yield* doctor(settings)
      assert.match(without("secret header"), /^warning \| BOT_WEBHOOK_SECRET is not set, .* \| Set BOT_WEBHOOK_SECRET/)
    })
  )

  it.live("updates without a running handler", () =>
    Effect.gen(function* () {
      const { env } = yield* platform
      const { onInbox, place } = yield* makeBot("SQLite")
      const receivedAt = Date.now() - 600_000
      const updates = [queuedOf(started(1, 1), receivedAt)]
      const batch = { updates, deadLetters: [], now: receivedAt, duplicatesSince: 0 }
      yield* onInbox(InboxStore.use((store) => store.enqueue(batch)))
      yield* onInbox(fill([started(2, 2)]))
      const check = yield* doctor({ ...env, BOT_INBOX: place })
      assert.match(
        check("inbox"),
        /^problem \| 2 updates queued, the oldest received 10m.* ago \| Check that the bot runs/
      )
    })
  )

  it.live("a folder and a file that do not exist", () =>
    Effect.gen(function* () {
      const { env } = yield* platform
      const folder = yield* Databases.temporaryFolder
      const check = yield* doctor({ ...env, BOT_INBOX: join(folder, "none/bot.sqlite") })
      assert.match(check("disk"), /^warning \| the folder \S+none does not exist \| .* check BOT_INBOX/)
      assert.match(check("database"), /^warning \| there is no SQLite file \S+ \| .* set BOT_INBOX/)
      assert.match(check("inbox"), /^skipped/)
    })
  )

  it.live("versions that do not fit", () =>
    Effect.gen(function* () {
      const { env } = yield* platform
      const older = yield* Databases.temporaryFolder
      install(older, { "@colloquy/core": "0.0.9", effect: "4.1.0" })
      const check = yield* doctor(env, older)
      assert.match(
        check("versions"),
        /^warning \| Node .*, @colloquy\/core 0\.0\.9, .* \| Install the version of @coll/
      )
      const effect3 = yield* Databases.temporaryFolder
      install(effect3, { effect: "3.19.0" })
      assert.match((yield* doctor(env, effect3))("versions"), /^problem \| .*effect 3\.19\.0 \| Install effect 4\.1/)
    })
  )

  it.live("a store whose database the settings do not name", () =>
    Effect.gen(function* () {
      const { env } = yield* platform
      const ran = yield* run(["doctor", "--json", "--store", "postgres"], env)
      const database = (objects(ran) as ReadonlyArray<Check>).find(({ name }) => name === "database")
      assert.deepInclude(database, { status: "problem", advice: "Set it, or choose another --store." })
      assert.include(database?.detail, "DATABASE_URL")
    })
  )

  it.live("problems first, in colors only in a terminal", () =>
    Effect.gen(function* () {
      const { env } = yield* platform
      const settings = { ...env, BOT_TOKEN: "another-token" }
      const states = (objects(yield* run(["doctor", "--json"], settings)) as ReadonlyArray<Check>).map(
        ({ status }) => status
      )
      const order = ["problem", "warning", "ok", "skipped"]
      assert.deepStrictEqual(
        states,
        states.toSorted((a, b) => order.indexOf(a) - order.indexOf(b))
      )
      assert.strictEqual(states[0], "problem")
      const inTerminal = (more: object) =>
        run(["doctor"], { ...settings, ...more }, "/", undefined, undefined, () => 80)
      const colored = yield* inTerminal({})
      assert.isTrue(colored.out.startsWith("\u001B[31mproblem"), colored.out)
      for (const { out } of [yield* inTerminal({ NO_COLOR: "1" }), yield* run(["doctor"], settings)]) {
        assert.notInclude(out, "\u001B")
      }
    })
  )
})
