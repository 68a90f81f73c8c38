import { assert, describe, it } from "@effect/vitest"
import { inspect } from "node:util"
import * as Config from "effect/Config"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { BotApi, Inbox, LongPolling, Me, RateLimiter, Settings, Webhook } from "../../src/index.ts"
import * as OpenAiModel from "../../src/live/OpenAiModel.ts"
import { bot } from "../support/fixtures.ts"
import { ok, scripted } from "../support/scripted.ts"

const given = (env: Readonly<Record<string, string>>) =>
  Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromUnknown(env))

const good = { BOT_TOKEN: "s3cret.Token", BOT_BASE_URL: "https://api.example/v1" }

const problemsOf = (env: Readonly<Record<string, string>>) =>
  Settings.all(Settings.bot).pipe(
    Effect.flip,
    Effect.map(({ problems }) => problems.map(({ setting, problem }) => `${setting} ${problem}`)),
    given(env)
  )

const tokenProblem = "BOT_TOKEN must be the bare token, without blanks and without `Bearer`"
const urlProblem = "BOT_BASE_URL must be an https:// address without query (http:// only for localhost and 127.0.0.1)"

describe("Settings", () => {
  it.effect("reports all missing settings by name", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* problemsOf({}), ["BOT_TOKEN is missing", "BOT_BASE_URL is missing"])
      const error = yield* Settings.all(Settings.bot).pipe(Effect.flip, given({}))
      assert.strictEqual(
        error.message,
        "Set these before the bot starts: BOT_TOKEN is missing; BOT_BASE_URL is missing."
      )
    })
  )

  it.effect("reports malformed settings together with missing ones", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* problemsOf({ BOT_TOKEN: "Bearer x", BOT_BASE_URL: "api.example" }), [
        tokenProblem,
        urlProblem
      ])
      assert.deepStrictEqual(yield* problemsOf({ BOT_BASE_URL: "http://api.example" }), [
        "BOT_TOKEN is missing",
        urlProblem
      ])
      assert.deepStrictEqual(yield* problemsOf({ ...good, BOT_TOKEN: "" }), ["BOT_TOKEN is missing"])
      for (const token of [" ", "a b", "a\n", "\ta"]) {
        assert.deepStrictEqual(yield* problemsOf({ ...good, BOT_TOKEN: token }), [tokenProblem], JSON.stringify(token))
      }
    })
  )

  it.effect("accepts an https:// URL, and http:// only for a loopback address", () =>
    Effect.gen(function* () {
      const addresses = [
        "https://api.example",
        "HTTPS://api.example:8443/v1/",
        "http://localhost:8080",
        "http://127.0.0.1",
        "http://127.8.9.1:1/x",
        "http://[::1]:3000"
      ]
      for (const url of addresses) {
        const settings = yield* Settings.all(Settings.bot).pipe(given({ ...good, BOT_BASE_URL: url }))
        assert.strictEqual(settings.baseUrl, url)
      }
      const refused = [
        "https://",
        "http://localhost.evil.example",
        "http://127.0.0.1.evil.example",
        "http://127.0.0.1@evil.example",
        "https://user:password@api.example",
        "https://api.example?token=x",
        "https://api.example#x",
        "ftp://api.example",
        "http://192.168.0.1"
      ]
      for (const url of refused) {
        assert.deepStrictEqual(yield* problemsOf({ ...good, BOT_BASE_URL: url }), [urlProblem], url)
      }
    })
  )

  it.effect("has the documented header of the webhook secret as default", () =>
    Effect.gen(function* () {
      const header = Settings.all({ header: Settings.secretHeader })
      assert.strictEqual((yield* header.pipe(given({}))).header, "X-Svc-Bot-Api-Secret")
      assert.strictEqual((yield* header.pipe(given({ BOT_SECRET_HEADER: "X-Mine" }))).header, "X-Mine")
      const error = yield* header.pipe(Effect.flip, given({ BOT_SECRET_HEADER: "not a header:" }))
      assert.deepStrictEqual(error.problems, [
        { setting: "BOT_SECRET_HEADER", problem: "must be the name of an HTTP header" }
      ])
    })
  )

  it.effect("reports settings of a program together with those of the bot", () =>
    Effect.gen(function* () {
      const settings = Settings.all({ token: Settings.token, size: Config.Int("SIZE"), name: Config.String("NAME") })
      const error = yield* settings.pipe(Effect.flip, given({ SIZE: "big" }))
      assert.deepStrictEqual(
        error.problems.map(({ setting }) => setting),
        ["BOT_TOKEN", "SIZE", "NAME"]
      )
      const read = yield* settings.pipe(given({ ...good, SIZE: "3", NAME: "n" }))
      assert.deepStrictEqual([Redacted.value(read.token), read.size, read.name], ["s3cret.Token", 3, "n"])
    })
  )

  it.effect("never prints the token, whether it is valid or malformed", () =>
    Effect.gen(function* () {
      const settings = yield* Settings.all(Settings.bot).pipe(given(good))
      const malformed = yield* Settings.all(Settings.bot).pipe(Effect.flip, given({ BOT_TOKEN: "Bearer s3cret.Token" }))
      for (const value of [settings, settings.token, malformed]) {
        for (const printed of [
          String(value),
          JSON.stringify(value),
          inspect(value, { depth: Infinity, showHidden: true })
        ]) {
          assert.notInclude(printed, "s3cret")
        }
      }
      assert.strictEqual(Redacted.value(settings.token), "s3cret.Token")
    })
  )

  it.effect("configures the client", () =>
    Effect.gen(function* () {
      const platform = scripted(ok(bot))
      const layer = BotApi.layerConfig().pipe(
        Layer.provide(RateLimiter.layerMemory()),
        Layer.provide(Layer.succeed(HttpClient.HttpClient, platform.client))
      )
      yield* Me.get().pipe(Effect.provide(layer), given({ ...good, BOT_BASE_URL: "https://api.example/v1//" }))
      assert.strictEqual(platform.journal[0].url, "/me")
      assert.strictEqual(platform.journal[0].headers["authorization"], "s3cret.Token")
      const error = yield* Me.get().pipe(Effect.provide(layer), Effect.flip, given({}))
      assert.strictEqual(error._tag, "InvalidSettings")
    })
  )
})

describe("Settings.unwrap", () => {
  const layers = {
    BotApi: BotApi.layerConfig,
    Inbox: Inbox.layerConfig,
    LongPolling: LongPolling.layerConfig,
    OpenAiModel: OpenAiModel.layerConfig,
    RateLimiter: RateLimiter.layerConfig,
    Webhook: Webhook.layerConfig
  }

  it.effect.each(Object.entries(layers))(
    "reads the options of %s.layerConfig, which fails with InvalidSettings",
    ([, layerConfig]) =>
      Effect.gen(function* () {
        const missing = Config.String("MISSING_OPTION") as Config.Config<never>
        const layer = layerConfig(missing) as unknown as Layer.Layer<never, unknown>
        const error = yield* Effect.flip(Effect.scoped(Layer.build(layer)))
        assert.instanceOf(error, Settings.InvalidSettings)
        assert.deepStrictEqual(
          error.problems.map(({ setting }) => setting),
          ["MISSING_OPTION"]
        )
      }).pipe(Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env: {} })))
  )
})
