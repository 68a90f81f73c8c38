/**
 * The HTTP client of a bot on Node, with its trusted certificates, proxy and time-outs.
 *
 * @since 0.1.0
 */
import * as Settings from "@colloquy/core/client/Settings"
import * as Config from "effect/Config"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { optional } from "../base/internal/settings.ts"
import { makeClient } from "./internal/client.ts"
import { makeDispatcher, type ProxyAddress } from "./internal/dispatcher.ts"
import { makeSecureContext } from "./internal/extraCa.ts"

/**
 * The option `extraCa` (the setting `BOT_EXTRA_CA`) has no usable root certificate. `message` says how to correct the
 * option, and never contains key material.
 *
 * - `Unreadable`: the file cannot be read.
 * - `NoCertificate`: the value is neither PEM text nor a path, or has no certificate.
 * - `Malformed`: a certificate is incomplete or damaged.
 * - `Expired`: a certificate has expired.
 * - `NotARoot`: no certificate is a root or was issued by a trusted root.
 *
 * **Example** (Reporting the problem to the operator)
 *
 * ```ts
 * import { NodeBotHttpClient } from "@colloquy/node"
 * import * as Console from "effect/Console"
 * import * as Effect from "effect/Effect"
 * import * as Layer from "effect/Layer"
 *
 * export const program = Layer.launch(NodeBotHttpClient.layer({ extraCa: "./root.pem" })).pipe(
 *   Effect.catchTag("ExtraCaError", (error) => Console.error(`${error.problem}: ${error.message}`))
 * )
 * ```
 *
 * @category errors
 * @since 0.1.0
 */
export class ExtraCaError extends Schema.TaggedError<ExtraCaError>()("ExtraCaError", {
  /** The reason why the value cannot be used. */
  problem: Schema.Literals(["Unreadable", "NoCertificate", "Malformed", "Expired", "NotARoot"]),
  /** The path of the file, where the value is a path. */
  path: Schema.optionalKey(Schema.String),
  message: Schema.String
}) {}

/**
 * Options of the HTTP client. Time-outs are exact to about one second; `"Infinity"` turns a time-out off.
 *
 * **Example** (Options for a bot behind a proxy)
 *
 * ```ts
 * import type { NodeBotHttpClient } from "@colloquy/node"
 *
 * export const options: NodeBotHttpClient.Options = {
 *   extraCa: "/etc/ssl/national-root.pem",
 *   proxy: "http://proxy.local:3128",
 *   connectTimeout: "5 seconds"
 * }
 * ```
 *
 * API: General conventions.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /**
   * Root certificates to trust in addition to the certificates of the runtime, each as PEM text or as the path of a PEM
   * file. A text or a file can have several certificates. Default: none.
   */
  readonly extraCa?: string | ReadonlyArray<string> | undefined
  /**
   * The address of an HTTP proxy, `http://user:password@host:port` or `https://`. All requests are sent through it with
   * `CONNECT`. Default: no proxy.
   */
  readonly proxy?: string | Redacted.Redacted | undefined
  /** Maximum time to connect, including the TLS handshake and the tunnel of the proxy. Default: 10 seconds. */
  readonly connectTimeout?: Duration.Input | undefined
  /**
   * Maximum time from the end of the request to the first byte of the response, and maximum time without progress while
   * a request body is sent. This time must exceed the time-out of long polling, which is at most 90 seconds. Default: 2
   * minutes.
   */
  readonly headersTimeout?: Duration.Input | undefined
  /** Maximum time without progress while the response body is received. Default: 1 minute. */
  readonly bodyTimeout?: Duration.Input | undefined
  /** Maximum duration of an API call, from the request to the end of the response. Not for uploads. Default: 3 minutes. */
  readonly callTimeout?: Duration.Input | undefined
  /** Maximum number of connections per host. Default: 64. */
  readonly connections?: number | undefined
}

type Checked<A> = { readonly value: A } | { readonly problem: string }

const longestTimer = 2 ** 31 - 1

const durationProblem = "must be a duration longer than zero, such as `10 seconds`"

/** Milliseconds, 0 for no time-out. */
const toMillis = (input: Duration.Input): Checked<number> => {
  const millis = Option.match(Duration.fromInput(input), { onNone: () => 0, onSome: Duration.toMillis })
  return millis > 0 ? { value: millis > longestTimer ? 0 : Math.ceil(millis) } : { problem: durationProblem }
}

const decodeCredential = (text: string) => Option.getOrElse(Option.liftThrowable(decodeURIComponent)(text), () => text)

const proxyProblem = "must look like http://user:password@host:port"

const parseUrl = (value: string): URL | null => {
  const url = URL.parse(value)
  return url !== null && ["http:", "https:"].includes(url.protocol) && url.hostname !== "" ? url : null
}

const parseProxy = (proxy: Options["proxy"]): Checked<ProxyAddress | undefined> => {
  if (proxy === undefined) return { value: undefined }
  const url = parseUrl(typeof proxy === "string" ? proxy : Redacted.value(proxy))
  if (url === null) return { problem: proxyProblem }
  const login = `${decodeCredential(url.username)}:${decodeCredential(url.password)}`
  const authorization = login === ":" ? undefined : `Basic ${Buffer.from(login).toString("base64")}`
  return { value: { origin: url.origin, authorization } }
}

/**
 * Creates an HTTP client for API calls and uploads. Its certificates, proxy and time-outs apply to this client only.
 * Requests have no trace headers.
 *
 * Fails with {@link ExtraCaError} if an extra root certificate cannot be used, and with `Settings.InvalidSettings` if the
 * proxy or a time-out is invalid. A server whose certificate is not trusted is an `HttpClientError` of the request, with
 * the code of the TLS failure in its chain of causes.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make: (
  options?: Options
) => Effect.Effect<HttpClient.HttpClient, ExtraCaError | Settings.InvalidSettings, Scope.Scope> = Effect.fnUntraced(
  function* (options: Options = {}) {
    const problems: Array<Settings.InvalidSettings["problems"][number]> = []
    const checked = <A>(setting: keyof Options, result: Checked<A>): A => {
      if ("value" in result) return result.value
      problems.push({ setting, problem: result.problem })
      return undefined as A
    }
    const proxy = checked("proxy", parseProxy(options.proxy))
    const connectTimeout = checked("connectTimeout", toMillis(options.connectTimeout ?? "10 seconds"))
    const headersTimeout = checked("headersTimeout", toMillis(options.headersTimeout ?? "2 minutes"))
    const bodyTimeout = checked("bodyTimeout", toMillis(options.bodyTimeout ?? "1 minute"))
    const callTimeout = checked("callTimeout", toMillis(options.callTimeout ?? "3 minutes"))
    if (problems.length > 0) return yield* new Settings.InvalidSettings({ problems })
    const extraCa = typeof options.extraCa === "string" ? [options.extraCa] : (options.extraCa ?? [])
    const secureContext =
      extraCa.length === 0
        ? undefined
        : yield* Effect.mapError(makeSecureContext(extraCa), (failure) => new ExtraCaError(failure))
    const connections = options.connections ?? 64
    const timeouts = { connectTimeout, headersTimeout, bodyTimeout }
    const acquire = (isPublicOnly: boolean) =>
      Effect.acquireRelease(
        Effect.sync(() => makeDispatcher({ secureContext, proxy, connections, ...timeouts, isPublicOnly })),
        (dispatcher) => Effect.promise(() => dispatcher.destroy())
      )
    return yield* makeClient(yield* acquire(false), yield* acquire(true), callTimeout)
  }
)

/**
 * Provides an HTTP client for API calls and uploads. See {@link make}.
 *
 * **Example** (Trusting a national root certificate)
 *
 * ```ts
 * import { NodeBotHttpClient } from "@colloquy/node"
 * import * as Effect from "effect/Effect"
 * import * as HttpClient from "effect/http/HttpClient"
 *
 * export const program = HttpClient.get("https://example.org").pipe(
 *   Effect.flatMap((response) => response.text),
 *   Effect.provide(NodeBotHttpClient.layer({ extraCa: "/etc/ssl/national-root.pem", connectTimeout: "5 seconds" }))
 * )
 * ```
 *
 * API: General conventions.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (
  options: Options = {}
): Layer.Layer<HttpClient.HttpClient, ExtraCaError | Settings.InvalidSettings> =>
  Layer.effect(HttpClient.HttpClient, make(options))

const isProxy = Schema.makeFilter((text: string) => text.trim() === "" || parseUrl(text) !== null || proxyProblem)

const isCount = Schema.makeFilter((text: string) => /^[1-9]\d*$/.test(text) || "must be a whole number above 0")

const blankToUndefined = (text: string | undefined) => (text === undefined || text.trim() === "" ? undefined : text)

/**
 * The settings of {@link layerConfig}: `BOT_EXTRA_CA`, `BOT_PROXY`, `BOT_CONNECT_TIMEOUT`, `BOT_HEADERS_TIMEOUT`,
 * `BOT_BODY_TIMEOUT`, `BOT_CALL_TIMEOUT` (such as `10 seconds`) and `BOT_CONNECTIONS`. None is required; a blank
 * `BOT_EXTRA_CA` or `BOT_PROXY` counts as missing.
 *
 * **Example** (Reading them together with settings of the program)
 *
 * ```ts
 * import { Settings } from "@colloquy/core"
 * import { NodeBotHttpClient } from "@colloquy/node"
 * import { Config } from "effect"
 *
 * export const settings = Settings.all({ ...NodeBotHttpClient.settings, greeting: Config.String("GREETING") })
 * ```
 *
 * @category settings
 * @since 0.1.0
 */
export const settings = {
  extraCa: Config.map(optional(Config.String("BOT_EXTRA_CA")), blankToUndefined),
  proxy: Config.map(optional(Config.schema(Schema.String.check(isProxy), "BOT_PROXY")), (proxy) =>
    blankToUndefined(proxy) === undefined ? undefined : Redacted.make(proxy!, { label: "BOT_PROXY" })
  ),
  connectTimeout: optional(Settings.duration("BOT_CONNECT_TIMEOUT")),
  headersTimeout: optional(Settings.duration("BOT_HEADERS_TIMEOUT")),
  bodyTimeout: optional(Settings.duration("BOT_BODY_TIMEOUT")),
  callTimeout: optional(Settings.duration("BOT_CALL_TIMEOUT")),
  connections: optional(Config.map(Config.schema(Schema.String.check(isCount), "BOT_CONNECTIONS"), Number))
}

/**
 * Provides an HTTP client whose options are read from `Config`. Default: {@link settings}. `Settings.InvalidSettings`
 * reports all settings that are malformed.
 *
 * **Example** (A client that is configured by environment variables)
 *
 * ```ts
 * import { NodeBotHttpClient } from "@colloquy/node"
 * import * as Effect from "effect/Effect"
 * import * as HttpClient from "effect/http/HttpClient"
 *
 * // BOT_EXTRA_CA=/etc/ssl/national-root.pem BOT_PROXY=http://proxy.local:3128 node bot.js
 * export const program = Effect.provide(HttpClient.get("https://example.org"), NodeBotHttpClient.layerConfig())
 * ```
 *
 * API: General conventions.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerConfig = (
  options: Config.Wrap<Options> = settings
): Layer.Layer<HttpClient.HttpClient, ExtraCaError | Settings.InvalidSettings> =>
  Layer.unwrap(Effect.map(Settings.unwrap<Options>(options), layer))
