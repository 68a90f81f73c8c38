/**
 * Updates as a stream, whatever they come from.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Getter from "effect/SchemaGetter"
import * as Stream from "effect/Stream"
import * as ApiError from "./ApiError.ts"
import * as Endpoint from "./Endpoint.ts"
import type { Handler } from "./Handler.ts"
import type { Inbox } from "./Inbox.ts"
import * as driver from "./internal/updates/consumer.ts"
import * as rules from "./internal/client/rules.ts"
import { sequence } from "./internal/updates/sequence.ts"
import { Int64, nullish } from "./internal/client/wire.ts"
import * as Platform from "./Platform.ts"
import { decode, type MalformedUpdate, Update } from "./Update.ts"

const encodeUpdate = Schema.encodeSync(Update)

const UpdateResult: Schema.Codec<Result.Result<Update, MalformedUpdate>, unknown> = Schema.Unknown.pipe(
  Schema.decodeTo(
    Schema.declare((u): u is Result.Result<Update, MalformedUpdate> => Result.isResult(u), { wire: Update }),
    {
      decode: Getter.transform(decode),
      encode: Getter.transform(Result.match({ onSuccess: encodeUpdate, onFailure: ({ raw }): unknown => raw }))
    }
  )
)

/**
 * A page of updates. Each one was read by itself: a malformed one is a failure of its own. `marker` commits what came
 * before when it is passed to the next call.
 *
 * @assumption listUpdates
 * @category models
 * @since 0.1.0
 */
export const UpdatesPage = Schema.Struct({ updates: Schema.Array(UpdateResult), marker: nullish(Int64) })

/**
 * @category models
 * @since 0.1.0
 */
export interface UpdatesPage extends Schema.Schema.Type<typeof UpdatesPage> {}

/**
 * What {@link list} takes: `limit` 1 to 1000 (100 unless told), `timeout` 0 to 90 seconds (30 unless told), the
 * `marker` of the page before, and the `types` of updates wanted.
 *
 * @category models
 * @since 0.1.0
 */
export interface ListRequest {
  readonly limit?: number | undefined
  readonly timeout?: number | undefined
  readonly marker?: bigint | null | undefined
  readonly types?: ReadonlyArray<string> | undefined
}

/**
 * Waits for updates and gives a page of them. For development: the platform limits its rate and keeps updates for a
 * day. Without a marker the answer may hold only the latest update. `LongPolling.layer` makes a stream of it.
 *
 * Errors: `MethodNotAllowed` while a webhook is subscribed.
 *
 * **Example**
 *
 * ```ts
 * import { Updates } from "@colloquy/core"
 *
 * const page = Updates.list({ timeout: 0, types: ["message_created"] })
 * ```
 *
 * API: Endpoints, Other operations (GET /updates); Events.
 *
 * @category endpoints
 * @since 0.1.0
 */
export const list: Endpoint.Endpoint<ListRequest, UpdatesPage, ApiError.MethodNotAllowed> = Endpoint.make(
  "Updates.list",
  () => ({
    method: "GET",
    path: "/updates",
    query: {
      limit: Schema.optional(rules.between(1, Platform.updatesPage.max)),
      timeout: Schema.optional(rules.between(0, Platform.longPollTimeout.max)),
      marker: Schema.optional(Schema.NullOr(Int64)),
      types: Schema.optional(rules.list(Schema.String, 1))
    },
    success: UpdatesPage,
    errors: [ApiError.MethodNotAllowed],
    limit: () => ({ scope: "polling", key: "updates" }),
    longPoll: ({ timeout = Platform.longPollTimeout.default }) => Duration.seconds(timeout)
  })
)

/**
 * Why a source cannot go on.
 *
 * @category errors
 * @since 0.1.0
 */
export type SourceError = Endpoint.Errors<typeof list>

/**
 * Where updates come from, and the inbox that they stand in. `LongPolling.layer` and `Webhook.layer` provide it: there
 * is one source at a time, because a program has one layer for this tag.
 *
 * @category services
 * @since 0.1.0
 */
export class Updates extends Context.Service<
  Updates,
  {
    readonly inbox: Inbox["Service"]
    /**
     * Brings updates into the inbox for as long as it runs. It ends when no more will come, and fails when the source
     * cannot go on.
     */
    readonly source: Effect.Effect<void, SourceError>
  }
>()("@colloquy/core/Updates") {}

/**
 * How updates are handled.
 *
 * - `concurrency`: how many handlers run at once, 64 unless told;
 * - `inMemory`: how many updates are held in memory, 1000 unless told;
 * - `retry`: when a handler that failed is tried again: after 2, 4, 8, 16 and 32 seconds unless told, and not at all when
 *   the platform has refused (`Forbidden`, `NotFound`, …) or the error has `isRetryable: false`, as `InvalidArguments`
 *   has. Meanwhile its chat waits, and others go on;
 * - `timeout`: how long a handler may take, a minute unless told. A time-out counts as a failure, and so does a defect;
 * - `deadline`: how long running handlers may take to end when the program stops, 10 seconds unless told.
 *
 * @category models
 * @since 0.1.0
 */
export interface RunOptions extends driver.Options {}

/**
 * Handles updates: the driver for production.
 *
 * - Each update is handled at least once: it leaves the inbox only when its handler has succeeded, or as a dead letter.
 * - The updates of one chat are handled one at a time in the order they came, also while one of them is tried again.
 *   Chats do not wait for each other.
 * - What no handler takes (`undefined`, `Handler.notHandled`) counts as handled, and stands in a metric. Put a function
 *   that takes any update last into `Handler.first` to do something about it.
 * - A handler that fails is tried again by `retry`; then the update becomes a dead letter with its cause, for
 *   `Inbox.deadLetters`, and the next one is handled. So it never fails on account of a handler.
 * - When it is interrupted, it takes nothing more from its source, gives running handlers their `deadline`, and leaves
 *   the rest in the inbox. It ends at most 5 seconds later, whatever handlers and the inbox do.
 *
 * **Example**
 *
 * ```ts
 * import { Handler, Messages, Updates } from "@colloquy/core"
 *
 * const greet = Updates.on("bot_started", (update) => Messages.reply(update, `Hello, ${update.user.first_name}`))
 * const thank = Updates.on("message_created", (update) => Messages.reply(update, "Thank you"))
 *
 * const bot = Updates.run(Handler.first(greet, thank), { concurrency: 16 })
 * ```
 *
 * API: Events.
 *
 * @category running
 * @since 0.1.0
 */
export const run = <E, R>(
  handler: Handler<E, R>,
  options: RunOptions = {}
): Effect.Effect<void, SourceError, R | Updates> =>
  Updates.use(({ inbox, source }) => driver.run(inbox, source, handler, options))

/**
 * The updates of the program's source in the order they came, as a plain stream. An update leaves the inbox when the
 * next one is asked for, so what was being handled when the program stopped comes again. With more than one update at
 * work at a time (`mapEffect` with concurrency, a buffer) this no longer holds: {@link run} does it right.
 *
 * **Example**
 *
 * ```ts
 * import { Messages, Updates } from "@colloquy/core"
 * import { Effect, Stream } from "effect"
 *
 * const echo = Updates.stream.pipe(
 *   Stream.filter((update) => update.update_type === "message_created"),
 *   Stream.runForEach(({ message }) =>
 *     message?.recipient.chat_id == null
 *       ? Effect.void
 *       : Messages.send({ chat_id: message.recipient.chat_id, text: message.body?.text ?? "?" })
 *   )
 * )
 * ```
 *
 * API: Events.
 *
 * @category running
 * @since 0.1.0
 */
export const stream: Stream.Stream<Update, SourceError, Updates> = Stream.unwrap(
  Updates.use(({ inbox, source }) => sequence(inbox, source))
)

// Where handlers are made, `Handler` has more.
export { on } from "./Handler.ts"
