/**
 * The endpoint from which long polling receives updates. `Updates` exports this endpoint too.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Getter from "effect/SchemaGetter"
import * as ApiError from "../client/ApiError.ts"
import * as Endpoint from "../client/Endpoint.ts"
import * as rules from "../base/internal/rules.ts"
import { Int64, nullish } from "../base/internal/wire.ts"
import * as Platform from "../base/Platform.ts"
import { withJson } from "../model/internal/updateParts.ts"
import { decode, encode, type MalformedUpdate, Update } from "../model/Update.ts"

const UpdateResult: Schema.Codec<Result.Result<Update, MalformedUpdate>, unknown> = Schema.Unknown.pipe(
  Schema.decodeTo(
    Schema.declare((u): u is Result.Result<Update, MalformedUpdate> => Result.isResult(u), { wire: Update }),
    {
      decode: Getter.transform((json) => withJson(decode(json), json)),
      encode: Getter.transform(Result.match({ onSuccess: encode, onFailure: ({ raw }): unknown => raw }))
    }
  )
)

/**
 * A page of updates. Each update is decoded by itself, so a malformed update is a failure in the list and does not affect
 * the others.
 *
 * @assumption listUpdates
 * @category models
 * @since 0.1.0
 */
export const UpdatesPage = Schema.Struct({ updates: Schema.Array(UpdateResult), marker: nullish(Int64) })

/**
 * A page of updates. Passing its `marker` to the next call acknowledges its updates.
 *
 * @category models
 * @since 0.1.0
 */
export interface UpdatesPage extends Schema.Schema.Type<typeof UpdatesPage> {}

/**
 * The request of {@link list}.
 *
 * @category models
 * @since 0.1.0
 */
export interface ListRequest {
  /** Maximum number of updates, 1 to 1000. Default: 100. */
  readonly limit?: number | undefined
  /** The time that the platform waits for an update if there is none, in seconds, 0 to 90. Default: 30. */
  readonly timeout?: number | undefined
  /** The marker of the page before, which acknowledges its updates. Default: the platform chooses the position. */
  readonly marker?: bigint | null | undefined
  /** The types of the updates to return. Default: all types. */
  readonly types?: ReadonlyArray<string> | null | undefined
}

/**
 * Returns a page of updates, and waits for an update if there is none. The call is a single request:
 * `LongPolling.layer` receives updates continuously.
 *
 * Long polling is for development: the platform allows 2 requests per second and keeps updates for 24 hours. Without a
 * marker, the page may contain only the latest update.
 *
 * Fails with `MethodNotAllowed` while the bot has a webhook subscription.
 *
 * **Example** (The new messages, without waiting)
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
      limit: Schema.optional(rules.between(1, Platform.updatesPage)),
      timeout: Schema.optional(rules.between(0, Platform.longPollTimeout)),
      marker: Schema.optional(Schema.NullOr(Int64)),
      types: Schema.optional(Schema.NullOr(rules.list(Schema.String, 1)))
    },
    success: UpdatesPage,
    errors: [ApiError.MethodNotAllowed],
    limit: () => ({ scope: "polling", key: "updates" }),
    longPoll: ({ timeout = Platform.longPollTimeout.default }) => Duration.seconds(timeout)
  })
)
