/**
 * The inbox of a bot on Node: one SQLite file.
 *
 * | setting | what | default |
 * |---|---|---|
 * | `BOT_INBOX` | the file of the inbox | `./colloquy.sqlite` |
 *
 * @since 0.1.0
 */
import * as Inbox from "@colloquy/core/Inbox"
import * as Settings from "@colloquy/core/Settings"
import type { StoreError } from "@colloquy/core/StoreError"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { SqlClient } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import * as NodeSqlite from "./NodeSqlite.ts"
import * as SqlInboxStore from "./SqlInboxStore.ts"

/**
 * The file, `./colloquy.sqlite` unless told, and how the inbox keeps its letters.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options extends Inbox.Options {
  readonly filename?: string | undefined
}

const defaultFile = "./colloquy.sqlite"

/**
 * The file of the inbox, `BOT_INBOX`.
 *
 * @category settings
 * @since 0.1.0
 */
export const filename: Config.Config<string> = Config.NonEmptyString("BOT_INBOX").pipe(Config.withDefault(defaultFile))

const file = (options: Options) => NodeSqlite.layerLazy({ filename: options.filename ?? defaultFile })

/**
 * An inbox in a SQLite file, which is made where it is missing, with its folder. What is in it survives the end of the
 * process and the loss of power. Several processes of one machine may share the file; on a network drive they may not.
 *
 * The file is opened when the layer is built, and closed with it. Fails with a `StoreError`, which says what to do,
 * when it cannot be opened, is no database, or when another process keeps it locked.
 *
 * **Example**
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
  Inbox.layer(options).pipe(Layer.provide(SqlInboxStore.layer()), Layer.provide(file(options)))

/**
 * Like {@link layer}, but the file is opened at first use, so that a program without a source of updates has none. What
 * uses the inbox fails with a `StoreError` as long as the file cannot be opened. `NodeBot` has this one.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerLazy = (options: Options = {}): Layer.Layer<Inbox.Inbox> =>
  Inbox.layer(options).pipe(Layer.provide(SqlInboxStore.layerLazy()), Layer.provide(file(options)))

/**
 * A `SqlClient` of the same file, by the setting {@link filename}, for what else a bot keeps: `SqlChatStore`,
 * `SqlBroadcastStore`, `SqlUploadCache`, and tables of its own.
 *
 * **Example**
 *
 * ```ts
 * import { NodeInbox, SqlChatStore } from "@colloquy/node"
 * import { Layer } from "effect"
 *
 * const chats = SqlChatStore.layer().pipe(Layer.provide(NodeInbox.layerSqlConfig))
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layerSqlConfig: Layer.Layer<SqlClient, SqlError | Settings.InvalidSettings> = Layer.unwrap(
  Effect.map(Settings.all({ filename }), NodeSqlite.layer)
)
