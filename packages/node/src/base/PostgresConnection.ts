/**
 * Connects to a PostgreSQL that fails over: to the server that accepts writes, among several hosts. All SQL stores of this
 * package use the `SqlClient` that the layer provides, as they use `PgClient.layer` of `@effect/sql-pg` for a single host.
 *
 * @since 0.1.0
 */
import * as Settings from "@colloquy/core/client/Settings"
import type * as PgClient from "@effect/sql-pg/PgClient"
import type * as PgConnection from "@effect/sql-pg/PgConnection"
import type * as Cause from "effect/Cause"
import type * as Config from "effect/Config"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type * as SqlClient from "effect/sql/SqlClient"
import * as SqlError from "effect/sql/SqlError"
import * as Net from "node:net"
import * as Tls from "node:tls"

/** The options of `PgClient.layer`, with a URL that may contain a list of hosts. */
export type Options = Omit<PgClient.PgPoolConfig, "host" | "path" | "port" | "stream" | "url"> & {
  /** `postgres://user:password@host1:5432,host2:5432/database`. */
  readonly url: Redacted.Redacted
}

const connectionFailed = (message: string, cause: unknown) =>
  new SqlError.SqlError({ reason: new SqlError.ConnectionError({ cause, message, operation: "connect" }) })

/** The package `@effect/sql-pg` is loaded only by the programs that use this module. */
const load = Effect.tryPromise({
  try: async () => ({
    PgClient: await import("@effect/sql-pg/PgClient"),
    PgConnection: await import("@effect/sql-pg/PgConnection")
  }),
  catch: (cause) =>
    connectionFailed(
      "The package `@effect/sql-pg` cannot be loaded. Install the package with `npm install @effect/sql-pg`.",
      cause
    )
})

/** A server that answers, and is read-only: a replica, or a primary that was demoted. */
class ReadOnly extends Data.TaggedError("ReadOnly")<{ readonly message: string }> {}

const noneAccepts = (cause: Cause.Cause<ReadOnly | SqlError.SqlError>): Error => {
  const reasons = cause.reasons.flatMap((reason) => {
    if (reason._tag !== "Fail") return []
    const { error } = reason
    return error._tag === "ReadOnly" ? error.message : String(error.reason.cause)
  })
  return new Error(`None of the hosts accepts writes. ${[...new Set(reasons)].join(" ")}`)
}

/** The URLs of the single hosts of a URL. */
const single = (url: string): ReadonlyArray<string> => {
  const [, before = "", hosts = url, after = ""] = /^(\w+:\/\/(?:[^@/?]*@)?)([^/?]*)(.*)$/s.exec(url) ?? []
  return hosts.split(",").map((host) => before + host + after)
}

/** The host of a URL. An IPv6 address has no brackets. */
const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, "")

/** The password of a URL. A server that trusts the user asks for none. */
const passwordOf = ({ password, searchParams }: URL): Redacted.Redacted =>
  Redacted.make(searchParams.get("password") ?? decodeURIComponent(password))

/** The options of a client that looks for the server that accepts writes before each connection. */
const following = (options: Options, urls: ReadonlyArray<string>, make: typeof PgConnection.make) => {
  let target: URL | Error = new Error("No host was tried.")
  const acceptsWrites = (url: string) =>
    Effect.scoped(
      Effect.flatMap(make({ ...options, url: Redacted.make(url) }), (connection) =>
        connection.query("SHOW transaction_read_only", [])
      )
    ).pipe(
      Effect.filterOrFail(
        ({ rows }) => rows[0]?.["transaction_read_only"] === "off",
        () => new ReadOnly({ message: `${new URL(url).host} is read-only.` })
      ),
      Effect.as(new URL(url))
    )
  const find = Effect.matchCause(Effect.raceAll(urls.map(acceptsWrites)), {
    onSuccess: (url) => void (target = url),
    onFailure: (cause) => void (target = noneAccepts(cause))
  })
  const password = options.password ?? passwordOf(new URL(urls[0]!))
  const isEncrypted = options.ssl ?? /[?&]sslmode=(require|verify-ca|verify-full)\b/.test(urls[0]!)
  return {
    ...options,
    url: Redacted.make(urls[0]!),
    connectionTTL: options.connectionTTL ?? "30 seconds",
    // The client evaluates the password before each connection, and calls `stream` directly after it.
    password: Effect.andThen(find, Effect.isEffect(password) ? password : Effect.succeed(password)),
    stream: () => {
      if (target instanceof Error) throw target
      return Net.connect({ host: hostOf(target), port: Number(target.port || 5432), noDelay: true })
    },
    ssl: isEncrypted
      ? {
          checkServerIdentity: (_: string, certificate: Tls.PeerCertificate) =>
            Tls.checkServerIdentity(target instanceof URL ? hostOf(target) : "", certificate),
          ...(typeof options.ssl === "object" && options.ssl)
        }
      : options.ssl
  } satisfies PgClient.PgPoolConfig
}

/**
 * Provides the `PgClient` and the `SqlClient` of the host that accepts writes. The options are those of `PgClient.layer`, with
 * a list of hosts in `url`. Each new connection goes to the first host that answers and accepts writes, so a promoted replica
 * is used as soon as the connections to the former primary fail. Connections to a former primary that stays reachable are
 * replaced after `connectionTTL` (default with several hosts: 30 seconds). While no host accepts writes, each statement fails with
 * a `SqlError`, which the stores of this package retry.
 *
 * A replica may lack the writes of the last moments before the failover. See `docs/stores.md` for the updates that this
 * concerns.
 *
 * **Example** (An inbox in PostgreSQL with a replica)
 *
 * ```ts
 * import { Inbox } from "@colloquy/core"
 * import { PostgresConnection, SqlInboxStore } from "@colloquy/node"
 * import { Layer, Redacted } from "effect"
 *
 * const postgres = PostgresConnection.layer({ url: Redacted.make("postgres://bot@10.0.0.1:5432,10.0.0.2:5432/bot") })
 * const inbox = Inbox.layer().pipe(Layer.provide(SqlInboxStore.layer()), Layer.provide(postgres))
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: Options): Layer.Layer<PgClient.PgClient | SqlClient.SqlClient, SqlError.SqlError> =>
  Layer.unwrap(
    Effect.map(load, ({ PgClient, PgConnection }) => {
      const urls = single(Redacted.value(options.url))
      const isList = urls.length > 1 && urls.every((url) => URL.canParse(url))
      return PgClient.layer(isList ? following(options, urls, PgConnection.make) : options)
    })
  )

/**
 * As {@link layer}, with a URL from the configuration. Fails with `InvalidSettings` if the configuration is invalid.
 *
 * **Example** (The hosts in `DATABASE_URL`)
 *
 * ```ts
 * import { PostgresConnection } from "@colloquy/node"
 * import { Config } from "effect"
 *
 * const postgres = PostgresConnection.layerConfig({ url: Config.Redacted("DATABASE_URL") })
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layerConfig = (
  options: Config.Wrap<Options>
): Layer.Layer<PgClient.PgClient | SqlClient.SqlClient, Settings.InvalidSettings | SqlError.SqlError> =>
  Layer.unwrap(Effect.map(Settings.unwrap<Options>(options), layer))
