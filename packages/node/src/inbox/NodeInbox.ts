/**
 * The inbox of a bot on Node, in a SQLite file.
 *
 * | setting | meaning | default |
 * |---|---|---|
 * | `BOT_INBOX` | the file of the inbox | `./colloquy.sqlite` |
 *
 * @since 0.1.0
 */
import * as Inbox from "@colloquy/core/inbox/Inbox"
import type { SqlTransactions } from "@colloquy/core/inbox/InboxStore"
import * as Settings from "@colloquy/core/client/Settings"
import type { StoreError } from "@colloquy/core/base/StoreError"
import type { OutageError } from "@colloquy/core/client/Outage"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { SqlClient } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { existsSync } from "node:fs"
import { sqlToStoreError } from "../base/internal/stores/sql.ts"
import * as NodeSqlite from "../base/NodeSqlite.ts"
import { checkPath } from "../base/internal/sqlite/failure.ts"
import { untilAvailable } from "../base/internal/stores/connections.ts"
import * as SqlInboxStore from "./SqlInboxStore.ts"

/**
 * Options of {@link layer}: the file, the options of the inbox, and the options of its store.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options extends Inbox.Options, SqlInboxStore.Options {
  /** The file of the inbox. A missing file is created, with its directory. Default: `"./colloquy.sqlite"`. */
  readonly filename?: string | undefined
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

/**
 * Opens the file if the file exists, and checks its folder otherwise. Fails if another attempt would fail the same way.
 */
const openExisting = Effect.fnUntraced(
  function* ({ filename = defaults.filename }: Options) {
    if (!existsSync(filename)) return yield* checkPath(filename)
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
 * `Commit.add` writes rows of your own tables in the file, in the transaction that acknowledges an update.
 * {@link layerSqlConfig} provides a `SqlClient` for such tables.
 *
 * A running process keeps an empty lock file beside the file. If the process is killed, the operating system releases
 * the lock, and the next process handles its updates at once.
 *
 * The file is opened when the layer is built, and closed with it. Fails with a `StoreError` if the file cannot be opened or is
 * not a database, and with `Outage.GaveUp` if another process locks the file for longer than `Outage.GiveUpAfter`.
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
export const layer = (options: Options = {}): Layer.Layer<Inbox.Inbox | SqlTransactions, OutageError> =>
  Inbox.layer(options).pipe(
    Layer.provideMerge(SqlInboxStore.layer(options)),
    Layer.provide(sqlClient(options)),
    untilAvailable("The inbox")
  )

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
): Layer.Layer<Inbox.Inbox | SqlTransactions, OutageError | Settings.InvalidSettings> => {
  const all: Config.Wrap<Options> = Config.isConfig(options) ? options : { filename, ...options }
  return Layer.unwrap(Effect.map(Settings.unwrap<Options>(all), layer))
}

/**
 * Like {@link layer}, but the file is created by the first operation, so that a program that receives no updates creates no
 * file. Operations of the inbox fail with a `StoreError` while the file cannot be opened. `NodeBot` uses this layer.
 *
 * Fails with a `StoreError` if the file is corrupt or not a database, or if the path is a folder or cannot be created.
 * If the file is locked or the disk is full, the first operations try again.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerLazy = (options: Options = {}): Layer.Layer<Inbox.Inbox | SqlTransactions, StoreError> =>
  Inbox.layer(options).pipe(
    Layer.provideMerge(SqlInboxStore.layerLazy(options)),
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
): Layer.Layer<SqlClient, SqlError | Settings.InvalidSettings> => NodeSqlite.layerConfig(options)
