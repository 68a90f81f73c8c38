/**
 * Updates by long polling: for development and testing, as the platform says.
 *
 * API: Events, webhook delivery rule 9.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import { BotApi } from "./BotApi.ts"
import type * as Endpoint from "./Endpoint.ts"
import * as RetryPolicy from "./RetryPolicy.ts"
import type { MalformedUpdate, Update } from "./Update.ts"
import * as Updates from "./Updates.ts"

/**
 * How to poll: `types` of updates wanted (all unless told), `limit` of a page (1 to 1000), `timeout` in seconds (0 to
 * 90) that the platform waits for an update, and the `marker` to go on from.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly types?: ReadonlyArray<string> | undefined
  readonly limit?: number | undefined
  readonly timeout?: number | undefined
  readonly marker?: bigint | undefined
}

type Failure = Endpoint.Errors<typeof Updates.list>

const isPassing = (error: Failure): boolean =>
  error._tag === "RateLimited" ||
  (error._tag === "RequestFailed" && (error.isRetryable || error.reason._tag === "InvalidResponse"))

// Polling has its own pauses, which say so from the first one on.
const withoutRetries = RetryPolicy.override({ transient: Schedule.recurs(0) })

const untilItWorks = Schedule.min([Schedule.exponential("500 millis"), Schedule.spaced("30 seconds")]).pipe(
  Schedule.jittered,
  Schedule.setInputType<Failure>(),
  // A schedule is asked before `while` is.
  Schedule.tap(({ input }) =>
    isPassing(input) ? Effect.logWarning(`Polling goes on after a pause. ${input.message}`) : Effect.void
  )
)

const readable = (update: Result.Result<Update, MalformedUpdate>) =>
  Result.isSuccess(update)
    ? Effect.succeed([update.success])
    : Effect.as(Effect.logError(update.failure.message, update.failure.raw), [])

const make = Effect.fnUntraced(function* (options: Options) {
  const api = yield* BotApi
  const poll = (marker: bigint | undefined) =>
    api
      .execute(Updates.list, { ...options, marker })
      .pipe(withoutRetries, Effect.retry({ schedule: untilItWorks, while: isPassing }))
  const stream = Stream.paginate(options.marker, (marker) =>
    Effect.map(poll(marker), (page) => [page.updates, Option.some(page.marker ?? marker)] as const)
  ).pipe(Stream.mapEffect(readable), Stream.flattenIterable)
  return Updates.Updates.of({ stream })
})

/**
 * Updates by long polling. The next page, which commits the one before, is asked for when the consumer has taken what
 * there was. Failures of the network and of the server are waited out with growing pauses; a malformed update is logged
 * and passed over. It ends with what does not pass by itself: `MethodNotAllowed` while a webhook is subscribed,
 * `Unauthorized` for a wrong token, a host that is not trusted, an address without the API.
 *
 * **Example**
 *
 * ```ts
 * import { LongPolling } from "@colloquy/core"
 *
 * const updates = LongPolling.layer({ types: ["message_created", "message_callback"], timeout: 30 })
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: Options = {}): Layer.Layer<Updates.Updates, never, BotApi> =>
  Layer.effect(Updates.Updates, make(options))
