/**
 * Rows of your own tables, written in the transaction that acknowledges an update.
 *
 * A handler adds statements, and the store of the inbox executes them when the update is acknowledged, in order, after the
 * check that the process still holds the chat. The update, its state, its timers and the statements are committed together
 * or not at all: if the handler fails, the process is killed, or another process has taken the chat, nothing is stored, and
 * the next attempt adds its statements anew. So each update is counted, ordered or logged exactly once.
 *
 * The tables are in the database of the inbox: the SQLite file, the PostgreSQL database or the Durable Object.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Statement } from "effect/sql/Statement"
import { CurrentUpdate } from "../inbox/internal/consumer/currentUpdate.ts"
import type { SqlTransactions } from "../inbox/InboxStore.ts"
import { PermanentTaggedError } from "../base/internal/permanentTaggedError.ts"

const problems = {
  noUpdate:
    "no update is being handled. Statements are executed when an update is acknowledged, so only handlers can add them",
  acknowledged: "the update was acknowledged before. A fiber that outlives its handler cannot add statements",
  branches:
    "a group of updates is shared with other branches of its stream. Add the statements before `Deliveries.broadcast` or " +
    "`Deliveries.tee`, or handle the updates of the branch one by one",
  inboxes: "a group has updates of several streams. Group the updates of each stream before `Stream.merge`",
  store: "the inbox of the update executes no statements. Its store must be SQLite, PostgreSQL or a Durable Object"
} as const

/**
 * A statement cannot be added, because no acknowledgement would execute the statement. Nothing was added.
 *
 * @category errors
 * @since 0.1.0
 */
export class NoCommit extends PermanentTaggedError("NoCommit", () => ({
  /** Why there is no commit. */
  problem: Schema.Literals(["noUpdate", "acknowledged", "branches", "inboxes", "store"])
})) {
  override get message() {
    return `The statement was not added, because ${problems[this.problem]}.`
  }
}

/**
 * Options of {@link add}.
 *
 * @category models
 * @since 0.1.0
 */
export interface AddOptions {
  /**
   * How many rows the statement must change or return. With any other number, nothing of the commit is applied and the
   * handler runs again, as for a conflict of `State`: the attempt counts neither as failed nor as a retry. After 20
   * conflicts in succession, the attempt fails. Default: any number.
   */
  readonly expectedRows?: number | undefined
}

/**
 * Adds a statement to the commit of the update that is being handled, or of the group of updates of
 * `Deliveries.groupedWithin`. The statement is executed when the update is acknowledged, and not before: a handler that
 * reads its tables does not see the rows.
 *
 * - The text and the parameters of the statement are used, not its client: the client has the dialect of the store. The
 *   store executes the statements of an attempt in the order in which they were added, on a connection of its own. Their
 *   results are not returned.
 * - A statement that fails fails the attempt with its `SqlError`, after the handler has ended: the handler runs again, or the
 *   update becomes a dead letter, by the same rules as for an error of the handler. Nothing of the commit is stored.
 * - An update with statements has a commit of its own. In a store whose transactions cost more than rows, other updates may
 *   share the transaction, and are not affected by a statement that fails.
 * - A part of a handler that runs twice in one attempt, as in `Effect.retry`, adds its statements twice. Add them after that
 *   part.
 * - The requirement `SqlTransactions` is provided by `NodeBot.layer`, `NodeInbox.layer`, and the layers of `SqlInboxStore` and
 *   `DurableObjectInboxStore`: `Inbox.layer()` with `Layer.provideMerge(SqlInboxStore.layer())`. A bot whose inbox is in memory
 *   or in Redis does not compile.
 *
 * Fails with {@link NoCommit} where no update is being handled.
 *
 * **Example** (Store an order when its update is acknowledged)
 *
 * ```ts
 * import { Commit, Handler, Messages } from "@colloquy/core"
 * import { Effect } from "effect"
 * import { SqlClient } from "effect/sql"
 *
 * const order = Handler.on("message_callback", (update) =>
 *   Effect.gen(function* () {
 *     const sql = yield* SqlClient.SqlClient
 *     yield* Commit.add(sql`INSERT INTO orders (user_id, item) VALUES (${update.callback.user.user_id}, 'tea')`)
 *     yield* Messages.reply(update, "Your order is stored")
 *   })
 * )
 * ```
 *
 * **Example** (Read, then write: two chats cannot book the same seat)
 *
 * ```ts
 * import { Commit, Handler, Messages } from "@colloquy/core"
 * import { Effect } from "effect"
 * import { SqlClient } from "effect/sql"
 *
 * const book = Handler.on("message_callback", (update) =>
 *   Effect.gen(function* () {
 *     const sql = yield* SqlClient.SqlClient
 *     const [seat] = yield* sql<{ id: number }>`SELECT id FROM seats WHERE user_id IS NULL LIMIT 1`
 *     if (seat === undefined) return yield* Messages.reply(update, "Sold out")
 *     yield* Commit.add(
 *       sql`UPDATE seats SET user_id = ${update.callback.user.user_id} WHERE id = ${seat.id} AND user_id IS NULL`,
 *       { expectedRows: 1 }
 *     )
 *     return yield* Messages.reply(update, "Your seat is booked")
 *   })
 * )
 * ```
 *
 * **Example** (Count messages, a batch in one transaction)
 *
 * ```ts
 * import { Commit, Deliveries, Update, Updates } from "@colloquy/core"
 * import { Effect } from "effect"
 * import { SqlClient } from "effect/sql"
 *
 * const log = Updates.deliveries({ perChat: "unbounded" }).pipe(
 *   Deliveries.on("message_created"),
 *   Deliveries.map((update) => ({ chat_id: Update.chatOf(update) ?? null, sent_at: update.timestamp })),
 *   Deliveries.groupedWithin(500, "1 second"),
 *   Deliveries.runForEach((rows) =>
 *     Effect.flatMap(SqlClient.SqlClient, (sql) => Commit.add(sql`INSERT INTO messages ${sql.insert(rows)}`))
 *   )
 * )
 * ```
 *
 * @category writing
 * @since 0.1.0
 */
export const add = (
  statement: Statement<unknown>,
  { expectedRows }: AddOptions = {}
): Effect.Effect<void, NoCommit, SqlTransactions> =>
  Effect.withFiber((fiber) => {
    const list = fiber.getRef(CurrentUpdate)?.statements
    if (list === undefined) return Effect.fail(new NoCommit({ problem: "noUpdate" }))
    const [sql, params] = statement.compile()
    const problem = list.addStatement({ sql, params, ...(expectedRows === undefined ? {} : { expectedRows }) })
    return problem === undefined ? Effect.void : Effect.fail(new NoCommit({ problem }))
  })
