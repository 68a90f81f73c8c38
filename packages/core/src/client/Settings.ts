/**
 * The settings of a bot: `Config` values that `layerConfig` reads, by default from environment variables.
 *
 * | Setting | Meaning | Default |
 * |---|---|---|
 * | `BOT_TOKEN` | The token of the bot, without `Bearer` | required |
 * | `BOT_BASE_URL` | The API host: an `https://` address, or `http://` on a loopback address | required |
 * | `BOT_MAX_RESPONSE_SIZE` | Maximum size of a response of the API, in bytes | `8388608` |
 * | `BOT_GIVE_UP_AFTER` | How long the platform or a store may be away before the bot ends | `10 minutes` |
 * | `BOT_PRIVATE_HOSTS` | Hosts that are not on the public internet from which files are downloaded, separated by commas | none |
 * | `BOT_WEBHOOK_URL` | The address of the webhook: an `https://` address without a port | required for a webhook |
 * | `BOT_WEBHOOK_SECRET` | The secret of the webhook: 5 to 256 characters of A-Z, a-z, 0-9 and hyphen | generated at each start |
 * | `BOT_WEBHOOK_ACCEPTED_SECRETS` | Further secrets with which deliveries are accepted, separated by commas | none |
 * | `BOT_SECRET_HEADER` | The header that carries the secret of the webhook | `X-Svc-Bot-Api-Secret` |
 * | `BOT_SECRET_CHARACTERS` | Characters that a secret may contain besides letters and digits | `-` |
 * | `BOT_WEBHOOK_INSECURE` | `true` accepts a webhook at `http://127.0.0.1`, for the emulator | `false` |
 * | `BOT_EMULATOR` | `true` tells the emulator what the bot did with each update | `false` |
 *
 * API: General conventions; Authentication.
 *
 * @since 0.1.0
 */
import * as Config from "effect/Config"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as FieldIssue from "../base/FieldIssue.ts"
import { isLoopbackHost } from "../base/internal/rules.ts"
import * as Platform from "../base/Platform.ts"
import { SecretCharacters, SecretHeader } from "../model/Subscription.ts"
import { TaggedError } from "../base/TaggedError.ts"

/**
 * Settings or options are missing or malformed. `problems` has all of them, by name.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidSettings extends TaggedError("InvalidSettings", () => ({
  /** Each setting with its problem. */
  problems: Schema.Array(Schema.Struct({ setting: Schema.String, problem: Schema.String }))
})) {
  override get message() {
    const problems = this.problems.map(({ setting, problem }) => `${setting} ${problem}`)
    return `Set these before the bot starts: ${problems.join("; ")}.`
  }
}

const isBareToken = Schema.makeFilter(
  (token: string) => /^[!-~]+$/.test(token) || "must be the bare token, without blanks and without `Bearer`"
)

const baseUrlProblem = "must be an https:// address without query (http:// only for localhost and 127.0.0.1)"

const address = /^(https?):\/\/([^\s/\\?#:@[\]]+|\[[\da-f:.]+\])(?::(\d{1,5}))?(\/[^\s?#]*)?$/i

const isBaseUrl = Schema.makeFilter((url: string) => {
  const [, scheme, host, port = "443"] = address.exec(url) ?? []
  return (
    (scheme !== undefined && (scheme.toLowerCase() === "https" || isLoopbackHost(host)) && Number(port) <= 65535) ||
    baseUrlProblem
  )
})

/**
 * The setting `BOT_TOKEN`: the token of the bot, without blanks and without `Bearer`. Required.
 *
 * API: Authentication.
 *
 * @category settings
 * @since 0.1.0
 */
export const token: Config.Config<Redacted.Redacted> = Config.schema(
  Schema.String.check(isBareToken),
  "BOT_TOKEN"
).pipe(Config.map((value) => Redacted.make(value, { label: "BOT_TOKEN" })))

/**
 * The setting `BOT_BASE_URL`: the address of the API host, without a query. The address starts with `https://`;
 * `http://` is accepted for `localhost` and loopback addresses. Required.
 *
 * API: General conventions.
 *
 * @category settings
 * @since 0.1.0
 */
export const baseUrl: Config.Config<string> = Config.schema(Schema.String.check(isBaseUrl), "BOT_BASE_URL")

const isSize = Schema.makeFilter((text: string) => /^[1-9]\d{0,14}$/.test(text) || "must be a whole number above 0")

/**
 * The setting `BOT_MAX_RESPONSE_SIZE`: the maximum size of a response of the API, in bytes. Default: 8 MiB
 * (`Platform.maxResponseSize`).
 *
 * API: General conventions.
 *
 * @category settings
 * @since 0.1.0
 */
export const maxResponseSize: Config.Config<number> = Config.schema(
  Schema.String.check(isSize),
  "BOT_MAX_RESPONSE_SIZE"
).pipe(Config.map(Number), Config.withDefault(Platform.maxResponseSize))

const durationOf = (text: string) => Duration.fromInput(text as Duration.Input)

const isDuration = Schema.makeFilter(
  (text: string) =>
    Option.exists(durationOf(text), (duration) => Duration.toMillis(duration) > 0) ||
    "must be a duration longer than zero, such as `10 seconds`"
)

/**
 * A setting whose value is a duration longer than zero, such as `10 seconds`, or `Infinity`.
 *
 * @category settings
 * @since 0.1.0
 */
export const duration = (name: string): Config.Config<Duration.Duration> =>
  Config.map(Config.schema(Schema.String.check(isDuration), name), (text) =>
    Option.getOrElse(durationOf(text), () => Duration.zero)
  )

/**
 * The default of {@link giveUpAfter}: 10 minutes, which is longer than the failover of a database.
 *
 * @category settings
 * @since 0.1.0
 */
export const defaultGiveUpAfter: Duration.Duration = Duration.minutes(10)

/**
 * The setting `BOT_GIVE_UP_AFTER`: the time that the platform or a store may be away before the bot ends with
 * `Outage.GaveUp`. Default: {@link defaultGiveUpAfter}.
 *
 * @category settings
 * @since 0.1.0
 */
export const giveUpAfter: Config.Config<Duration.Duration> = Config.withDefault(
  duration("BOT_GIVE_UP_AFTER"),
  defaultGiveUpAfter
)

/**
 * The setting `BOT_PRIVATE_HOSTS`: hosts from which `Attachments.download` downloads files although they are not on the public
 * internet, such as `127.0.0.1` for the emulator, separated by commas. Default: none.
 *
 * @category settings
 * @since 0.1.0
 */
export const privateHosts: Config.Config<ReadonlyArray<string>> = Config.map(
  Config.withDefault(Config.String("BOT_PRIVATE_HOSTS"), ""),
  (text) => text.split(",").flatMap((host) => (host.trim() === "" ? [] : [host.trim().toLowerCase()]))
)

/**
 * The setting `BOT_SECRET_HEADER`: the header that carries the secret of a webhook. Default: `X-Svc-Bot-Api-Secret`.
 *
 * API: Authentication.
 *
 * @category settings
 * @since 0.1.0
 */
export const secretHeader: Config.Config<string> = Config.schema(SecretHeader, "BOT_SECRET_HEADER").pipe(
  Config.withDefault(Platform.secretHeader)
)

/**
 * The setting `BOT_SECRET_CHARACTERS`: characters that the secret of a webhook may contain besides letters and digits.
 * Default: `-`.
 *
 * API: POST /subscriptions.
 *
 * @category settings
 * @since 0.1.0
 */
export const secretCharacters: Config.Config<string> = Config.schema(SecretCharacters, "BOT_SECRET_CHARACTERS").pipe(
  Config.withDefault(Platform.secretCharacters)
)

/**
 * The setting `BOT_EMULATOR`: whether the bot tells the emulator which part handled each update, with which outcome and how
 * long, for the page of the emulator. `colloquy-emulator -- PROGRAM` sets it. The platform has no call for this, so the setting is
 * only for the emulator. Default: `false`.
 *
 * @category settings
 * @since 0.1.0
 */
export const emulator: Config.Config<boolean> = Config.withDefault(Config.Boolean("BOT_EMULATOR"), false)

const problemsOf = (error: Config.ConfigError): InvalidSettings["problems"] =>
  Schema.isSchemaError(error.cause)
    ? FieldIssue.fromSchemaIssue(error.cause.issue).map(({ field, problem }) => ({
        setting: field,
        // The value of a setting is a string, so a setting of another type is missing.
        problem: problem === "must be a string" ? "is missing" : problem
      }))
    : [{ setting: "configuration", problem: error.message }]

/**
 * Describes a `ConfigError` of Effect as {@link InvalidSettings}, which names the settings that are missing or malformed.
 *
 * **Example**
 *
 * ```ts
 * import { Settings } from "@colloquy/core"
 * import { Config, Effect } from "effect"
 *
 * const greeting = Effect.gen(function* () {
 *   return yield* Config.String("GREETING")
 * }).pipe(Effect.mapError(Settings.fromConfigError))
 * ```
 *
 * @category conversions
 * @since 0.1.0
 */
export const fromConfigError = (error: Config.ConfigError): InvalidSettings =>
  new InvalidSettings({ problems: problemsOf(error) })

/**
 * Reads several settings. Fails with {@link InvalidSettings}, which reports all that are missing or malformed.
 *
 * **Example**
 *
 * ```ts
 * import { Settings } from "@colloquy/core"
 * import { Config } from "effect"
 *
 * const settings = Settings.all({ token: Settings.token, greeting: Config.String("GREETING") })
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const all = Effect.fnUntraced(function* <const Configs extends Readonly<Record<string, Config.Config<any>>>>(
  configs: Configs
): Effect.fn.Return<{ readonly [K in keyof Configs]: Config.Success<Configs[K]> }, InvalidSettings> {
  const read = yield* Effect.forEach(Object.entries(configs), ([key, config]) =>
    Effect.map(Effect.result(config as Effect.Effect<unknown, Config.ConfigError>), (result) => ({ key, result }))
  )
  const problems = read.flatMap(({ result }) => (Result.isFailure(result) ? problemsOf(result.failure) : []))
  if (problems.length > 0) return yield* new InvalidSettings({ problems })
  return Object.fromEntries(read.map(({ key, result }) => [key, Result.getOrThrow(result)])) as {
    readonly [K in keyof Configs]: Config.Success<Configs[K]>
  }
})

/**
 * Reads options that are given as a `Config`, or as a record with a `Config` for each option, and reports all missing
 * or malformed options. Every `layerConfig` reads its options this way.
 *
 * **Example** (A token from a variable of another name)
 *
 * ```ts
 * import { BotApi, Settings } from "@colloquy/core"
 * import { Config, Effect, Layer } from "effect"
 *
 * const bot = Layer.unwrap(
 *   Effect.map(
 *     Settings.unwrap<BotApi.Options>({ token: Config.Redacted("MY_TOKEN"), baseUrl: Settings.baseUrl }),
 *     BotApi.layer
 *   )
 * )
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const unwrap = <A>(options: Config.Wrap<A>): Effect.Effect<A, InvalidSettings> =>
  Config.isConfig(options)
    ? Effect.mapError(options as unknown as Effect.Effect<A, Config.ConfigError>, fromConfigError)
    : (all(
        Record.map(options as Record<string, Config.Wrap<any>>, (option) => Config.unwrap<any>(option))
      ) as Effect.Effect<never, InvalidSettings>)

/**
 * The settings of a client: {@link token}, {@link baseUrl} and {@link maxResponseSize}.
 *
 * @category settings
 * @since 0.1.0
 */
export const bot: {
  readonly token: Config.Config<Redacted.Redacted>
  readonly baseUrl: Config.Config<string>
  readonly maxResponseSize: Config.Config<number>
} = { token, baseUrl, maxResponseSize }

const Bot = Schema.Struct({ token: Schema.String.check(isBareToken), baseUrl: Schema.String.check(isBaseUrl) })

const checkBot = Schema.decodeUnknownResult(Bot, { errors: "all" })

/**
 * Checks a token and a base URL that are given as options, by the rules of {@link token} and {@link baseUrl}. Fails with
 * {@link InvalidSettings}.
 *
 * @category settings
 * @since 0.1.0
 */
export const check = (options: {
  readonly token: Redacted.Redacted
  readonly baseUrl: string
}): Effect.Effect<void, InvalidSettings> =>
  Effect.suspend(() => {
    const checked = checkBot({ token: Redacted.value(options.token), baseUrl: options.baseUrl })
    if (Result.isSuccess(checked)) return Effect.void
    const problems = FieldIssue.fromSchemaIssue(checked.failure.issue).map(({ field, problem }) => ({
      setting: field,
      problem
    }))
    return Effect.fail(new InvalidSettings({ problems }))
  })
