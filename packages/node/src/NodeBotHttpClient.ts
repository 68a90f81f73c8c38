/**
 * The HTTP client of a bot on Node: what it trusts, through which proxy it goes, and how long it waits.
 *
 * @since 0.1.0
 */
import * as Settings from "@colloquy/core/Settings"
import * as Config from "effect/Config"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { makeClient } from "./internal/client/client.ts"
import { makeDispatcher, type ProxyAddress } from "./internal/client/dispatcher.ts"
import { makeSecureContext } from "./internal/client/roots.ts"
import { TrustError } from "./internal/client/trustError.ts"

export {
  /**
   * A setting of {@link layer} that cannot be used: `setting` names it, `problem` says what is wrong, `message` says
   * what to do. Neither key material nor the address and password of a proxy appear in it.
   *
   * **Example** (Telling the operator what to fix)
   *
   * ```ts
   * import { NodeBotHttpClient } from "@colloquy/node"
   * import * as Console from "effect/Console"
   * import * as Effect from "effect/Effect"
   * import * as Layer from "effect/Layer"
   *
   * export const program = Layer.launch(NodeBotHttpClient.layer({ extraCa: "./root.pem" })).pipe(
   *   Effect.catchTag("TrustError", (error) => Console.error(`${error.problem} in ${error.setting}: ${error.message}`))
   * )
   * ```
   *
   * @category errors
   * @since 0.1.0
   */
  TrustError
} from "./internal/client/trustError.ts"

/**
 * What {@link layer} accepts; everything is optional.
 *
 * - `extraCa`: root certificates trusted besides the usual ones of the runtime, each as PEM text or the path of a PEM
 *   file. One text or file may hold several certificates.
 * - `proxy`: `http://user:password@host:port` (or `https://`). Every request goes through it by `CONNECT`.
 * - `connectTimeout`: for the connection with its TLS handshake and proxy tunnel, 10 seconds by default.
 * - `headersTimeout`: from the end of the request to the first byte of the answer, and for a stalled upload; 2 minutes
 *   by default. Long polling needs more than its own `timeout`, which is at most 90 seconds.
 * - `bodyTimeout`: without progress while the body arrives, not for the whole of it; 1 minute by default.
 * - `callTimeout`: for the whole of an API call, however it trickles, 3 minutes by default; uploads have none.
 * - `connections`: at most so many per host, 64 by default.
 *
 * Time-outs are exact to about a second; `"Infinity"` is no limit.
 *
 * **Example** (Options for a bot behind a company proxy)
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
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly extraCa?: string | ReadonlyArray<string> | undefined
  readonly proxy?: string | Redacted.Redacted | undefined
  readonly connectTimeout?: Duration.Input | undefined
  readonly headersTimeout?: Duration.Input | undefined
  readonly bodyTimeout?: Duration.Input | undefined
  readonly callTimeout?: Duration.Input | undefined
  readonly connections?: number | undefined
}

const optionNames = {
  extraCa: "extraCa",
  proxy: "proxy",
  connectTimeout: "connectTimeout",
  headersTimeout: "headersTimeout",
  bodyTimeout: "bodyTimeout",
  callTimeout: "callTimeout"
}

type Names = typeof optionNames

const configNames: Names & { readonly connections: string } = {
  extraCa: "BOT_EXTRA_CA",
  proxy: "BOT_PROXY",
  connectTimeout: "BOT_CONNECT_TIMEOUT",
  headersTimeout: "BOT_HEADERS_TIMEOUT",
  bodyTimeout: "BOT_BODY_TIMEOUT",
  callTimeout: "BOT_CALL_TIMEOUT",
  connections: "BOT_CONNECTIONS"
}

const longestTimer = 2 ** 31 - 1

const toMillis = (setting: string, value: Duration.Input): Effect.Effect<number, TrustError> => {
  const millis = Option.match(Duration.fromInput(value), { onNone: () => 0, onSome: Duration.toMillis })
  return millis > 0
    ? Effect.succeed(millis > longestTimer ? 0 : Math.ceil(millis))
    : Effect.fail(
        new TrustError({
          setting,
          problem: "InvalidTimeout",
          message: `${setting}: a time-out must be longer than zero, such as "10 seconds"; "Infinity" is no limit.`
        })
      )
}

const credential = (text: string) => Option.getOrElse(Option.liftThrowable(decodeURIComponent)(text), () => text)

const proxyUrl = (value: string): URL | null => {
  const url = URL.parse(value)
  return url !== null && ["http:", "https:"].includes(url.protocol) && url.hostname !== "" ? url : null
}

const parseProxy = (setting: string, value: string): Effect.Effect<ProxyAddress, TrustError> => {
  const url = proxyUrl(value)
  if (url === null) {
    return Effect.fail(
      new TrustError({
        setting,
        problem: "InvalidProxy",
        message: `${setting}: not the address of a proxy. It looks like http://user:password@host:port.`
      })
    )
  }
  const login = `${credential(url.username)}:${credential(url.password)}`
  return Effect.succeed({
    origin: url.origin,
    authorization: login === ":" ? undefined : `Basic ${Buffer.from(login).toString("base64")}`
  })
}

const plain = (value: string | Redacted.Redacted) => (typeof value === "string" ? value : Redacted.value(value))

const make = Effect.fnUntraced(function* (options: Options, names: Names) {
  const roots = typeof options.extraCa === "string" ? [options.extraCa] : (options.extraCa ?? [])
  const settings = {
    secureContext: roots.length === 0 ? undefined : yield* makeSecureContext(names.extraCa, roots),
    proxy: options.proxy === undefined ? undefined : yield* parseProxy(names.proxy, plain(options.proxy)),
    connections: options.connections ?? 64,
    connectTimeout: yield* toMillis(names.connectTimeout, options.connectTimeout ?? "10 seconds"),
    headersTimeout: yield* toMillis(names.headersTimeout, options.headersTimeout ?? "2 minutes"),
    bodyTimeout: yield* toMillis(names.bodyTimeout, options.bodyTimeout ?? "1 minute")
  }
  const callTimeout = yield* toMillis(names.callTimeout, options.callTimeout ?? "3 minutes")
  const dispatcher = yield* Effect.acquireRelease(
    Effect.sync(() => makeDispatcher(settings)),
    (dispatcher) => Effect.promise(() => dispatcher.destroy())
  )
  return yield* makeClient(dispatcher, callTimeout)
})

const layerNamed = (options: Options, names: Names): Layer.Layer<HttpClient.HttpClient, TrustError> =>
  Layer.effect(HttpClient.HttpClient, make(options, names))

/**
 * Provides the HTTP client for API calls and uploads alike. The trust, the proxy and the time-outs belong to this
 * client alone: no other client of the process sees them. Trace headers are not sent to the platform.
 *
 * Fails with {@link TrustError} when a setting cannot be used. A server that the client does not trust is an
 * `HttpClientError` of the request, with the code of the TLS failure in its chain of causes.
 *
 * **Example** (Trusting a national root)
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
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: Options = {}): Layer.Layer<HttpClient.HttpClient, TrustError> =>
  layerNamed(options, optionNames)

const optional = <A>(config: Config.Config<A>): Config.Config<A | undefined> =>
  Config.map(Config.option(config), Option.getOrUndefined)

const durationOf = (text: string) => Duration.fromInput(text as Duration.Input)

const isDuration = Schema.makeFilter(
  (text: string) =>
    Option.exists(durationOf(text), (duration) => Duration.toMillis(duration) > 0) ||
    "must be a duration longer than zero, such as `10 seconds`"
)

const duration = (name: string): Config.Config<Duration.Duration> =>
  Config.map(Config.schema(Schema.String.check(isDuration), name), (text) =>
    Option.getOrElse(durationOf(text), () => Duration.zero)
  )

const isProxy = Schema.makeFilter(
  (text: string) => text.trim() === "" || proxyUrl(text) !== null || "must look like http://user:password@host:port"
)

const isCount = Schema.makeFilter((text: string) => /^[1-9]\d*$/.test(text) || "must be a whole number above 0")

const blankIsUnset = (text: string | undefined) => (text === undefined || text.trim() === "" ? undefined : text)

/**
 * The settings of {@link Options}: `BOT_EXTRA_CA`, `BOT_PROXY`, `BOT_CONNECT_TIMEOUT`, `BOT_HEADERS_TIMEOUT`,
 * `BOT_BODY_TIMEOUT`, `BOT_CALL_TIMEOUT` (such as `10 seconds`) and `BOT_CONNECTIONS`, none of them required. A blank root or proxy counts
 * as absent.
 *
 * **Example** (Reading them together with the bot's own settings)
 *
 * ```ts
 * import { Settings } from "@colloquy/core"
 * import { NodeBotHttpClient } from "@colloquy/node"
 * import { Config } from "effect"
 *
 * export const settings = Settings.all({ ...NodeBotHttpClient.settings, greeting: Config.String("GREETING") })
 * ```
 *
 * @category configuration
 * @since 0.1.0
 */
export const settings = {
  extraCa: Config.map(optional(Config.String(configNames.extraCa)), blankIsUnset),
  proxy: Config.map(optional(Config.schema(Schema.String.check(isProxy), configNames.proxy)), (proxy) =>
    blankIsUnset(proxy) === undefined ? undefined : Redacted.make(proxy!, { label: configNames.proxy })
  ),
  connectTimeout: optional(duration(configNames.connectTimeout)),
  headersTimeout: optional(duration(configNames.headersTimeout)),
  bodyTimeout: optional(duration(configNames.bodyTimeout)),
  callTimeout: optional(duration(configNames.callTimeout)),
  connections: optional(Config.map(Config.schema(Schema.String.check(isCount), configNames.connections), Number))
}

/** @internal {@link layer} whose {@link TrustError} names the settings instead of the options. */
export const layerOfSettings = (options: Options): Layer.Layer<HttpClient.HttpClient, TrustError> =>
  layerNamed(options, configNames)

/**
 * {@link layer} with its options read from {@link settings}. What is malformed is reported by name, all at once; a
 * {@link TrustError} names the variable to change.
 *
 * **Example** (A client set up by the environment)
 *
 * ```ts
 * import { NodeBotHttpClient } from "@colloquy/node"
 * import * as Effect from "effect/Effect"
 * import * as HttpClient from "effect/http/HttpClient"
 *
 * // BOT_EXTRA_CA=/etc/ssl/national-root.pem BOT_PROXY=http://proxy.local:3128 node bot.js
 * export const program = Effect.provide(HttpClient.get("https://example.org"), NodeBotHttpClient.layerConfig)
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layerConfig: Layer.Layer<HttpClient.HttpClient, TrustError | Settings.InvalidSettings> = Layer.unwrap(
  Effect.map(Settings.all(settings), layerOfSettings)
)
