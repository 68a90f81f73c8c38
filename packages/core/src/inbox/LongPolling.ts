/**
 * Receives updates by long polling, which the platform intends for development and tests. Use `Webhook` in production.
 *
 * API: Events, webhook delivery rule 9.
 *
 * @since 0.1.0
 */
import * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { BotApi } from "../client/BotApi.ts"
import type * as Endpoint from "../client/Endpoint.ts"
import { Inbox } from "./Inbox.ts"
import { checkPositiveInteger } from "../base/internal/rules.ts"
import { untilBelow, untilStored } from "./internal/sources/backPressure.ts"
import * as Platform from "../base/Platform.ts"
import * as Settings from "../client/Settings.ts"
import { makePlatformOutage } from "../client/internal/retry.ts"
import * as Updates from "./Updates.ts"

/**
 * Options of {@link layer}.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** The types of the updates to receive. Default: all types. */
  readonly types?: ReadonlyArray<string> | undefined
  /** Maximum number of updates of a page, 1 to 1000. Default: 100. */
  readonly limit?: number | undefined
  /** How long the platform waits for an update if there is none, in seconds, 0 to 90. Default: 30. */
  readonly timeout?: number | undefined
  /** The position to start from. Default: the position stored in the inbox. */
  readonly marker?: bigint | undefined
  /** Whether to skip updates that arrived before the start. Default: `false`. */
  readonly skipPending?: boolean | undefined
  /** Polling pauses while this many updates are queued in the inbox. Default: 1000. */
  readonly maxQueued?: number | undefined
}

/** The name under which the inbox stores the marker of long polling. */
const source = "updates"

const defaults = { maxQueued: 1000 } as const

const productionWarning =
  "Long polling is for development: the platform limits its rate, keeps updates for 24 hours and delivers no comments. " +
  "Use Webhook.layer in production."

const warnInProduction = Effect.gen(function* () {
  const environment = yield* Effect.option(Config.String("NODE_ENV"))
  if (Option.contains(environment, "production")) yield* Effect.logWarning(productionWarning)
})

/**
 * Creates the source of {@link layer} as a value, with its bot: the handlers of its updates make their calls as this bot.
 *
 * Dies if `maxQueued` is not a positive whole number.
 *
 * **Example** (Run the bot of the context)
 *
 * ```ts
 * import { Bot, Handler, LongPolling, Messages } from "@colloquy/core"
 * import { Effect } from "effect"
 *
 * const bot = Effect.gen(function* () {
 *   const source = yield* LongPolling.make({ timeout: 30 })
 *   yield* Bot.run(Handler.on("bot_started", (update) => Messages.reply(update, "Hello")), { source })
 * })
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function* (
  options: Options = {}
): Effect.fn.Return<Updates.Source<Endpoint.Errors<typeof Updates.list>, BotApi>, never, BotApi | Inbox> {
  const api = yield* BotApi
  const inbox = yield* Inbox
  const { limit, maxQueued = defaults.maxQueued, timeout, types } = options
  yield* checkPositiveInteger("LongPolling.layer", "maxQueued", maxQueued)

  const untilAvailable = makePlatformOutage()

  const poll = (request: Updates.ListRequest) =>
    Effect.catchTag(untilAvailable(api.execute(Updates.list, { types, ...request })), "GaveUp", Effect.die)

  const skipPending: (
    marker: bigint | undefined
  ) => Effect.Effect<bigint | undefined, Endpoint.Errors<typeof Updates.list>> = Effect.fnUntraced(function* (marker) {
    const page = yield* poll({ marker, limit: Platform.updatesPage.max, timeout: 0 })
    const next = page.marker ?? marker
    return page.updates.length === 0 || next === marker ? next : yield* skipPending(next)
  })

  /** Polls forever, or until a page is empty. */
  const run = Effect.fnUntraced(function* (timeout: number | undefined, untilEmpty: boolean) {
    yield* warnInProduction
    let marker = options.marker ?? Option.getOrUndefined(yield* untilStored(inbox, inbox.marker(source)))
    if (options.skipPending === true) marker = yield* skipPending(marker)
    for (;;) {
      yield* untilBelow(inbox, maxQueued)
      // An idle bot creates no spans.
      const page = yield* Effect.withTracerEnabled(poll({ limit, timeout, marker }), false)
      const next = page.marker ?? marker
      const isEmpty = page.updates.length === 0 && next === marker
      if (!isEmpty) {
        const updates = page.updates.map((decoded) => ({ decoded }))
        yield* untilStored(inbox, inbox.receive(updates, next === undefined ? undefined : { source, value: next }))
      }
      if (untilEmpty && (isEmpty || next === undefined)) return
      marker = next
    }
  })

  return { inbox, source: run(timeout, false), drain: run(0, true), services: Context.make(BotApi, api) }
})

/**
 * Receives updates by long polling, and writes them to the inbox of the program.
 *
 * - A page is acknowledged after it is stored in the inbox. The position is stored with the page, so polling continues
 *   there after a restart.
 * - Failures of the network and of the platform are retried with increasing delays. A malformed update becomes a dead letter.
 * - The source fails with errors that are permanent: `MethodNotAllowed` while the bot has a webhook subscription,
 *   `Unauthorized` for a wrong token, an untrusted host, an address without the API.
 * - If the environment variable `NODE_ENV` is `production`, the source logs a warning.
 *
 * Dies if `maxQueued` is not a positive whole number.
 *
 * **Example** (Messages and callbacks only)
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
export const layer = (options?: Options): Layer.Layer<Updates.Updates, never, BotApi | Inbox> =>
  Layer.effect(Updates.Updates, make(options))

/**
 * Like {@link layer}, with options from the configuration. Fails with `InvalidSettings` if an option is missing or
 * malformed.
 *
 * **Example** (The limit of queued updates from `BOT_MAX_QUEUED`)
 *
 * ```ts
 * import { LongPolling } from "@colloquy/core"
 * import { Config } from "effect"
 *
 * const updates = LongPolling.layerConfig({ maxQueued: Config.Int("BOT_MAX_QUEUED").pipe(Config.withDefault(1000)) })
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layerConfig = (
  options: Config.Wrap<Options> = {}
): Layer.Layer<Updates.Updates, Settings.InvalidSettings, BotApi | Inbox> =>
  Layer.effect(Updates.Updates, Effect.flatMap(Settings.unwrap<Options>(options), make))
