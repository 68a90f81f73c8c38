/**
 * The inbox of a bot on Node, in a SQLite file.
 *
 * | setting | what it is | default |
 * |---|---|---|
 * | `BOT_INBOX` | the file of the inbox | `./colloquy.sqlite` |
 *
 * @since 0.1.0
 */
import * as Inbox from "@colloquy/core/Inbox"
import * as Settings from "@colloquy/core/Settings"
import type { StoreError } from "@colloquy/core/StoreError"
import * as Config from "effect/Config"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { SqlClient } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { existsSync } from "node:fs"
import { sqlToStoreError } from "./internal/stores/sql.ts"
import * as NodeSqlite from "./NodeSqlite.ts"
import * as SqlInboxStore from "./SqlInboxStore.ts"

/**
 * What {@link layer} accepts: the file, and the options of the inbox.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options extends Inbox.Options {
  /** The file of the inbox. It is created if it is missing, with its directory. Default: `"./colloquy.sqlite"`. */
  readonly filename?: string | undefined
  /**
   * The names of the tables in the file begin with this prefix. Several bots can share a file if each has a prefix of its own.
   * Default: `"colloquy"`.
   */
  readonly prefix?: string | undefined
  /**
   * Maximum duration of an operation, in real time. After that, it fails with a retryable `StoreError`. Default: 10 seconds.
   */
  readonly operationTimeout?: Duration.Input | undefined
}

const defaults = { filename: "./colloquy.sqlite" } as const

/**
 * The file of the inbox: `BOT_INBOX`. Default: `./colloquy.sqlite`.
 *
 * @category settings
 * @since 0.1.0
 */
export const filename: Config.Config<string> = Config.NonEmptyString("BOT_INBOX").pipe(
  Config.withDefault(defaults.filename)
)

/** Opens the file if there is one. Fails if another attempt would fail the same way. */
const openExisting = Effect.fnUntraced(
  function* ({ filename = defaults.filename }: Options) {
    if (!existsSync(filename)) return
    const sql = yield* SqlClient
    yield* sql`SELECT count(*) FROM sqlite_master`
  },
  Effect.mapError(sqlToStoreError("inbox")("open")),
  Effect.catchIf(
    ({ isRetryable }) => isRetryable,
    () => Effect.void
  ),
  Effect.withTracerEnabled(false)
)

const sqlClient = ({ filename = defaults.filename }: Options) => NodeSqlite.layerLazy({ filename })

/**
 * An inbox in a SQLite file. Queued updates survive the end of the process and a power failure. Several processes on one
 * machine can share the file. SQLite does not support a file on a network drive.
 *
 * While a process runs, it keeps an empty lock file beside the file. When the process was killed, the next one notices that
 * the system released the lock, and handles its updates at once.
 *
 * The file is opened when the layer is built, and closed with it. Fails with a `StoreError` if the file cannot be opened,
 * is not a database, or is locked by another process.
 *
 * **Example** (A large inbox)
 *
 * ```ts
 * import { NodeInbox } from "@colloquy/node"
 *
 * const inbox = NodeInbox.layer({ filename: "data/bot.sqlite", capacity: 1_000_000, deadLetterRetention: "7 days" })
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: Options = {}): Layer.Layer<Inbox.Inbox, StoreError> =>
  Inbox.layer(options).pipe(Layer.provide(SqlInboxStore.layer(options)), Layer.provide(sqlClient(options)))

/**
 * Like {@link layer}, with options from the configuration. If `filename` is left out, it is {@link filename}. Fails with
 * `InvalidSettings` if an option is missing or malformed.
 *
 * **Example** (The file from `BOT_INBOX`, the capacity from `BOT_INBOX_CAPACITY`)
 *
 * ```ts
 * import { NodeInbox } from "@colloquy/node"
 * import { Config } from "effect"
 *
 * const inbox = NodeInbox.layerConfig({ capacity: Config.Int("BOT_INBOX_CAPACITY") })
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layerConfig = (
  options: Config.Wrap<Options> = {}
): Layer.Layer<Inbox.Inbox, StoreError | Settings.InvalidSettings> => {
  const all: Config.Wrap<Options> = Config.isConfig(options) ? options : { filename, ...options }
  return Layer.unwrap(Effect.map(Settings.unwrap<Options>(all), layer))
}

/**
 * Like {@link layer}, but the file is created by the first operation, so that a program that receives no updates creates no
 * file. Operations of the inbox fail with a `StoreError` while the file cannot be opened. `NodeBot` uses this layer.
 *
 * Fails with a `StoreError` if there is a file that can never be opened, because it is corrupt or no database, or if the path is that
 * of a folder. If the file is locked or the disk is full, the first operations try again.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerLazy = (options: Options = {}): Layer.Layer<Inbox.Inbox, StoreError> =>
  Inbox.layer(options).pipe(
    Layer.provide(SqlInboxStore.layerLazy(options)),
    Layer.provide(Layer.effectDiscard(openExisting(options))),
    Layer.provide(sqlClient(options))
  )

/**
 * A `SqlClient` with the file of the inbox, for other data of the bot: `SqlChatStore`, `SqlBroadcastStore`,
 * `SqlUploadCache`, or your own tables. Default: the file {@link filename}. Fails with `InvalidSettings` if the option is
 * malformed, and with a `SqlError` if the file cannot be opened.
 *
 * **Example** (The chats of a bot, in the file of its inbox)
 *
 * ```ts
 * import { NodeInbox, SqlChatStore } from "@colloquy/node"
 * import { Layer } from "effect"
 *
 * const chats = SqlChatStore.layer().pipe(Layer.provide(NodeInbox.layerSqlConfig()))
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layerSqlConfig = (
  options: Config.Wrap<NodeSqlite.Options> = { filename }
): Layer.Layer<SqlClient, SqlError | Settings.InvalidSettings> =>
  Layer.unwrap(Effect.map(Settings.unwrap<NodeSqlite.Options>(options), NodeSqlite.layer))
