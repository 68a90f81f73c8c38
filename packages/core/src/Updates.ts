/**
 * Updates as a stream, whatever they come from.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Getter from "effect/SchemaGetter"
import * as Stream from "effect/Stream"
import * as ApiError from "./ApiError.ts"
import * as Endpoint from "./Endpoint.ts"
import { pollingLimits } from "./internal/assumptions.ts"
import * as rules from "./internal/rules.ts"
import { Int64, nullish } from "./internal/wire.ts"
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
 * @assumption A GET /updates answers {updates, marker?}; a marker that is passed commits everything before it.
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
      limit: Schema.optional(rules.between(1, pollingLimits.count)),
      timeout: Schema.optional(rules.between(0, pollingLimits.seconds)),
      marker: Schema.optional(Schema.NullOr(Int64)),
      types: Schema.optional(rules.list(Schema.String, 1))
    },
    success: UpdatesPage,
    errors: [ApiError.MethodNotAllowed],
    limit: () => ({ scope: "polling", key: "updates" }),
    waits: ({ timeout = pollingLimits.defaultSeconds }) => Duration.seconds(timeout)
  })
)

/**
 * Where updates come from: `LongPolling.layer` provides it. There is one source at a time, because a program has one
 * layer for this tag.
 *
 * @category services
 * @since 0.1.0
 */
export class Updates extends Context.Service<
  Updates,
  {
    /** The updates in the order they came. It fails when the source cannot go on. */
    readonly stream: Stream.Stream<Update, Endpoint.Errors<typeof list>>
  }
>()("@colloquy/core/Updates") {}

/**
 * The updates of the program's source, in the order they came.
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
 * @category streams
 * @since 0.1.0
 */
export const stream: Stream.Stream<Update, Endpoint.Errors<typeof list>, Updates> = Stream.unwrap(
  Updates.use((updates) => Effect.succeed(updates.stream))
)
