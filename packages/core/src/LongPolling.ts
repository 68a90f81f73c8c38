/**
 * Updates by long polling: for development and testing, as the platform says.
 *
 * API: Events, webhook delivery rule 9.
 *
 * @since 0.1.0
 */
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import { BotApi } from "./BotApi.ts"
import type * as Endpoint from "./Endpoint.ts"
import { Inbox, type ReceiveError } from "./Inbox.ts"
import * as Platform from "./Platform.ts"
import { pauses, retryForever } from "./internal/client/retryForever.ts"
import { checkPositiveInteger } from "./internal/client/rules.ts"
import * as Updates from "./Updates.ts"

/**
 * How to poll.
 *
 * - `types` of updates wanted, all unless told;
 * - `limit` of a page, 1 to 1000, 100 unless told;
 * - `timeout`: seconds that the platform waits for an update, 0 to 90, 30 unless told;
 * - `marker` to go on from. Unless told, it is the one that stands in the inbox;
 * - `skipPending`: passes over what came before the start;
 * - `ahead`: reads no further while so many updates wait in the inbox, 1000 unless told.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly types?: ReadonlyArray<string> | undefined
  readonly limit?: number | undefined
  readonly timeout?: number | undefined
  readonly marker?: bigint | undefined
  readonly skipPending?: boolean | undefined
  readonly maxQueued?: number | undefined
}

type Failure = Endpoint.Errors<typeof Updates.list>

const untilTaken = pauses.pipe(
  Schedule.setInputType<ReceiveError>(),
  Schedule.tap(({ input }) => Effect.logWarning(`Nothing is committed, and polling waits. ${input.message}`))
)

const untilStored = <A>(effect: Effect.Effect<A, ReceiveError>): Effect.Effect<A> =>
  Effect.retry(effect, untilTaken) as Effect.Effect<A>

const markerName = "updates"

const defaultAhead = 1000

const warning =
  "Long polling is for development: the platform limits its rate, keeps updates for a day, and gives no comments. " +
  "Run the bot by Webhook.layer in production."

const warnInProduction = Effect.gen(function* () {
  const environment = yield* Effect.option(Config.String("NODE_ENV"))
  if (Option.contains(environment, "production")) yield* Effect.logWarning(warning)
})

const make = Effect.fnUntraced(function* (options: Options) {
  const api = yield* BotApi
  const inbox = yield* Inbox
  const { limit, timeout, types, maxQueued: ahead = defaultAhead } = options
  yield* checkPositiveInteger("LongPolling.layer", "ahead", ahead)

  const poll = (request: Updates.ListRequest) =>
    retryForever("Polling goes on after a pause.")(api.execute(Updates.list, { types, ...request }))

  const room = Effect.suspend(() => inbox.stats).pipe(
    untilStored,
    Effect.repeat({ until: ({ queued: waiting }) => waiting < ahead, schedule: Schedule.spaced("250 millis") })
  )

  const skip: (marker: bigint | undefined) => Effect.Effect<bigint | undefined, Failure> = Effect.fnUntraced(
    function* (marker) {
      const page = yield* poll({ marker, limit: Platform.updatesPage.max, timeout: 0 })
      const next = page.marker ?? marker
      return page.updates.length === 0 || next === marker ? next : yield* skip(next)
    }
  )

  const source = Effect.gen(function* () {
    yield* warnInProduction
    let marker = options.marker ?? (yield* untilStored(inbox.marker(markerName)))
    if (options.skipPending === true) marker = yield* skip(marker)
    for (;;) {
      yield* room
      const page = yield* poll({ limit, timeout, marker })
      const next = page.marker ?? marker
      if (page.updates.length > 0 || next !== marker) {
        const updates = page.updates.map((decoded) => ({ decoded }))
        yield* untilStored(inbox.receive(updates, next === undefined ? undefined : { source: markerName, value: next }))
      }
      marker = next
    }
  })

  return Updates.Updates.of({ inbox, source })
})

/**
 * Updates by long polling, into the inbox of the program. The next page, which commits the one before, is asked for when
 * that one stands in the inbox, together with the marker to go on from: what was not handled when the program stopped is
 * still there, and polling goes on where it was.
 *
 * Failures of the network and of the server are waited out with growing pauses; a malformed update is a dead letter. It
 * ends with what does not pass by itself: `MethodNotAllowed` while a webhook is subscribed, `Unauthorized` for a wrong
 * token, a host that is not trusted, an address without the API. Where `NODE_ENV` is `production`, it warns.
 *
 * **Example**
 *
 * ```ts
 * import { LongPolling } from "@colloquy/core"
 *
 * const updates = LongPolling.layer({ types: ["message_created", "message_callback"], timeout: 30 })
 * ```
 *
 * API: Events, Webhook delivery rules; GET /updates.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: Options = {}): Layer.Layer<Updates.Updates, never, BotApi | Inbox> =>
  Layer.effect(Updates.Updates, make(options))
