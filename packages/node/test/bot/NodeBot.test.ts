import { Inbox, Me, RateLimiter } from "@colloquy/core"
import { NodeBot } from "@colloquy/node"
import { Fixtures } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Config from "effect/Config"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { existsSync } from "node:fs"
import type { RequestListener } from "node:http"
import { basename } from "node:path"
import * as Certificates from "../support/certificates.ts"
import * as Files from "../support/files.ts"
import * as Servers from "../support/servers.ts"

const me: RequestListener = (request, response) =>
  void response.end(
    JSON.stringify(
      request.headers.authorization === "the-token"
        ? { user_id: 1, first_name: "Echo", is_bot: true }
        : { code: "verify.token", message: "Invalid access_token" }
    )
  )

const withSettings = (env: Record<string, string>) =>
  NodeBot.layerConfig().pipe(Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env }))))

const build = (env: Record<string, string>) => Effect.flip(Effect.scoped(Layer.build(withSettings(env))))

describe("NodeBot", () => {
  it.live("layer provides a bot with a token and a host", () =>
    Effect.gen(function* () {
      const baseUrl = yield* Servers.serve(me)
      const { first_name } = yield* Effect.provide(Me.get(), NodeBot.layer({ token: "the-token", baseUrl }))
      assert.strictEqual(first_name, "Echo")
    })
  )

  it.live("layerConfig provides a bot with the settings of the environment", () =>
    Effect.gen(function* () {
      const BOT_BASE_URL = yield* Servers.serve(me)
      const settings = withSettings({ BOT_TOKEN: "the-token", BOT_BASE_URL })
      assert.strictEqual((yield* Effect.provide(Me.get(), settings)).first_name, "Echo")
    })
  )

  it.live("layerClientConfig provides a client for another rate limiter", () =>
    Effect.gen(function* () {
      const env = { BOT_TOKEN: "the-token", BOT_BASE_URL: yield* Servers.serve(me) }
      const once = RateLimiter.layerMemory({ host: { count: 1, window: "1 hour" }, maxWait: 0 })
      yield* Effect.gen(function* () {
        assert.strictEqual((yield* Me.get()).first_name, "Echo")
        assert.strictEqual((yield* Effect.flip(Me.get()))._tag, "RateLimited")
      }).pipe(
        Effect.provide(
          Layer.provide(
            NodeBot.layerClientConfig(),
            Layer.merge(once, ConfigProvider.layer(ConfigProvider.fromEnv({ env })))
          )
        )
      )
    })
  )

  it.live("creates the file of BOT_INBOX when updates arrive, and no file if the bot only sends", () =>
    Effect.gen(function* () {
      const BOT_BASE_URL = yield* Servers.serve(me)
      const BOT_INBOX = yield* Files.file
      const settings = withSettings({ BOT_TOKEN: "the-token", BOT_BASE_URL, BOT_INBOX })
      yield* Effect.gen(function* () {
        yield* Me.get()
        assert.isFalse(existsSync(BOT_INBOX))
        yield* Inbox.Inbox.use((inbox) => inbox.receive([]))
        assert.isTrue(existsSync(BOT_INBOX))
      }).pipe(Effect.provide(settings))
    })
  )

  it.live("layerConfig takes options of the inbox, and keeps the settings", () =>
    Effect.gen(function* () {
      const BOT_BASE_URL = yield* Servers.serve(me)
      const BOT_INBOX = yield* Files.file
      const env = { BOT_TOKEN: "the-token", BOT_BASE_URL, BOT_INBOX, BOT_INBOX_CAPACITY: "2" }
      const bot = NodeBot.layerConfig({
        inbox: {
          partitionKey: Config.succeed(() => "one for all"),
          deduplicationWindow: Config.succeed(0),
          capacity: Config.Int("BOT_INBOX_CAPACITY")
        }
      }).pipe(Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env }))))
      yield* Effect.gen(function* () {
        assert.strictEqual((yield* Me.get()).first_name, "Echo")
        const { receive, stats, store } = yield* Inbox.Inbox
        const received = (timestamp: number) => [{ decoded: Result.succeed(Fixtures.botStarted({ timestamp })) }]
        yield* receive(received(1))
        yield* receive(received(1))
        assert.strictEqual((yield* stats).queued, 2)
        assert.strictEqual((yield* Effect.flip(receive(received(2))))._tag, "InboxFull")
        const claim = { owner: "one", leaseDuration: 0, maxPartitions: 1, maxUpdates: 1, begin: 0 }
        assert.deepStrictEqual(
          (yield* store.claim(claim)).map(({ key }) => key),
          ["one for all"]
        )
        assert.isTrue(existsSync(BOT_INBOX))
      }).pipe(Effect.provide(bot))
    })
  )

  it.live("fails if another bot of the process uses the same inbox, and accepts another prefix or file", () =>
    Effect.gen(function* () {
      const baseUrl = "http://127.0.0.1:1"
      const filename = yield* Files.file
      const start = (token: string, inbox: NodeBot.Options["inbox"]) =>
        Layer.build(NodeBot.layer({ token, baseUrl, inbox }))
      yield* start("one", { filename })
      const error = yield* Effect.flip(start("two", { filename: `${filename}/../${basename(filename)}` }))
      assert.strictEqual(error._tag, "InvalidSettings")
      assert.include(error.message, "inbox.prefix must be another one for each bot of a process")
      assert.include(error.message, "prefix colloquy")
      yield* start("one", { filename })
      yield* start("two", { filename: `${filename}.second` })
      yield* Effect.scoped(start("two", { filename, prefix: "two" }))
      yield* start("three", { filename, prefix: "two" })
    }).pipe(Effect.scoped)
  )

  it.live("keeps the updates of two bots apart in one file", () =>
    Effect.gen(function* () {
      const filename = yield* Files.file
      const start = (token: string) =>
        Effect.map(
          Layer.build(NodeBot.layer({ token, baseUrl: "http://127.0.0.1:1", inbox: { filename, prefix: token } })),
          (services) => Context.get(services, Inbox.Inbox)
        )
      const [one, two] = [yield* start("one"), yield* start("two")]
      // Both bots are in one chat, and get the same message.
      const received = [{ decoded: Result.succeed(Fixtures.messageCreated()) }]
      for (const inbox of [one, two]) yield* inbox.receive(received, { source: "updates", value: 7n })
      for (const { stats } of [one, two]) assert.strictEqual((yield* stats).queued, 1)
      yield* one.receive([], { source: "updates", value: 8n })
      assert.deepStrictEqual(
        [yield* one.marker("updates"), yield* two.marker("updates")],
        [Option.some(8n), Option.some(7n)]
      )
    }).pipe(Effect.scoped)
  )

  it.live("layerConfig takes another setting for the token, and keeps the others", () =>
    Effect.gen(function* () {
      const env = { OTHER_TOKEN: "the-token", BOT_BASE_URL: yield* Servers.serve(me) }
      const bot = NodeBot.layerConfig({ token: Config.Redacted("OTHER_TOKEN") }).pipe(
        Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env })))
      )
      assert.strictEqual((yield* Effect.provide(Me.get(), bot)).first_name, "Echo")
    })
  )

  it.effect("layerConfig reports all settings that are missing or malformed", () =>
    Effect.gen(function* () {
      const error = yield* build({
        BOT_BASE_URL: "http://api.example",
        BOT_CONNECTIONS: "none",
        BOT_BODY_TIMEOUT: "soon"
      })
      assert.strictEqual(error._tag, "InvalidSettings")
      for (const name of ["BOT_TOKEN", "BOT_BASE_URL", "BOT_CONNECTIONS", "BOT_BODY_TIMEOUT"]) {
        assert.include(error.message, name)
      }
      assert.include(error.message, "BOT_BODY_TIMEOUT must be a duration longer than zero, such as `10 seconds`")
      assert.include(error.message, "BOT_CONNECTIONS must be a whole number above 0")
    })
  )

  it.effect("layer rejects an invalid token or address", () =>
    Effect.gen(function* () {
      const refused = (token: string, baseUrl: string) =>
        Effect.map(Effect.flip(Effect.scoped(Layer.build(NodeBot.layer({ token, baseUrl })))), ({ message }) => message)
      assert.include(yield* refused("Bearer x", "https://api.example"), "token must be the bare token")
      for (const baseUrl of [
        "http://api.example",
        "api.example",
        "https://a b",
        "https://x:99999",
        "https://x\\y",
        "https://x/?q=1",
        "https://user@x"
      ]) {
        assert.include(yield* refused("the-token", baseUrl), "baseUrl must be an https:// address", baseUrl)
      }
    })
  )

  it.effect("names BOT_EXTRA_CA if the root certificate cannot be used", () =>
    Effect.gen(function* () {
      const error = yield* build({
        BOT_TOKEN: "the-token",
        BOT_BASE_URL: "https://api.example",
        BOT_EXTRA_CA: "/nowhere/root.pem"
      })
      assert.match(error.message, /^extraCa \(BOT_EXTRA_CA\): /)
    })
  )

  it.live("names BOT_EXTRA_CA if the certificate of the host is not trusted", () =>
    Effect.gen(function* () {
      const root = yield* Certificates.makeRoot("National Root")
      const intermediate = yield* Certificates.makeIntermediate("National Intermediate", root)
      const leaf = yield* Certificates.makeLeaf(intermediate)
      const baseUrl = yield* Servers.serveTls(leaf, [intermediate.pem], me)

      const refused = yield* Effect.result(Effect.provide(Me.get(), NodeBot.layer({ token: "the-token", baseUrl })))
      assert.isTrue(Result.isFailure(refused))
      if (Result.isSuccess(refused) || refused.failure._tag !== "RequestFailed") return assert.fail("not refused")
      const { reason } = refused.failure
      assert.strictEqual(reason._tag === "Transport" && reason.kind, "Untrusted")
      assert.include(refused.failure.message, "BOT_EXTRA_CA")

      const trusting = NodeBot.layer({ token: "the-token", baseUrl, extraCa: root.pem })
      assert.strictEqual((yield* Effect.provide(Me.get(), trusting)).first_name, "Echo")
    })
  )
})
