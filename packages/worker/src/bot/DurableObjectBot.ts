/**
 * Runs a webhook bot in a Durable Object: its method `fetch` stores updates, and its method `alarm` handles them.
 *
 * @since 0.1.0
 */
import type { Handler } from "@colloquy/core/inbox/Handler"
import { Inbox } from "@colloquy/core/inbox/Inbox"
import * as Bot from "@colloquy/core/bot/Bot"
import type * as Updates from "@colloquy/core/inbox/Updates"
import * as Webhook from "@colloquy/core/inbox/Webhook"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import type { DurableObjectStorage } from "../base/DurableObjectStorage.ts"
import * as object from "../inbox/internal/object.ts"

/**
 * Options of {@link make}.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options<E, R, LayerError> extends Bot.RunOptions {
  /** The storage of the object, `ctx.storage`. */
  readonly storage: DurableObjectStorage
  /** Handles the updates. */
  readonly handler: Handler<E, R>
  /**
   * The services of the bot: its inbox in the storage of the object, `Webhook.layerReceiver`, and the requirements of
   * the handler. The layer is built by the first event of an object, and exists as long as the object.
   */
  readonly layer: Layer.Layer<R | Inbox | Webhook.Webhook, LayerError>
  /**
   * Maximum time for which one alarm handles updates. The next alarm handles the rest. Must be shorter than the limit
   * of the provider (Cloudflare: 15 minutes). Default: 10 minutes.
   */
  readonly until?: Duration.Input | undefined
}

/**
 * The methods of the class of a Durable Object.
 *
 * @category models
 * @since 0.1.0
 */
export interface DurableObjectBot {
  /** Stores the update of a delivery, and answers the delivery. Also serves the health of the webhook. */
  readonly fetch: (request: Parameters<Webhook.WebHandler>[0]) => ReturnType<Webhook.WebHandler>
  /** Handles all stored updates and all due timers, and sets the next alarm. */
  readonly alarm: () => Promise<void>
}

/** After a failure, updates are handled again after this time, in milliseconds. */
const failedInterval = 10_000

/**
 * Creates the methods of a Durable Object with a bot. One object is one bot.
 *
 * - A delivery is answered with 200 when its update is stored. The alarm, which is stored with the update, handles the
 *   update.
 * - The alarm waits for retries of a handler, and handles updates that arrive meanwhile. Then the alarm is set to the
 *   next timer. An object without updates and timers has no alarm, and can be removed from memory.
 * - If the object ends during an alarm, the runtime calls the alarm again, and the updates are handled again as after
 *   any end of a process: see `Journal`.
 * - The layer is built once, so that the rate limiter counts the requests of the whole object.
 * - The object does not subscribe the webhook: call `Subscriptions.subscribe` when you deploy.
 *
 * **Example** (An echo bot)
 *
 * ```ts
 * import { BotApi, Handler, Inbox, Messages, RateLimiter, Webhook } from "@colloquy/core"
 * import { DurableObjectBot, DurableObjectInboxStore, type DurableObjectStorage } from "@colloquy/worker"
 * import { Layer, Redacted } from "effect"
 *
 * const handler = Handler.on("message_created", (update) => Messages.reply(update, update.message?.body?.text ?? "?"))
 *
 * interface Environment {
 *   readonly BOT_TOKEN: string
 *   readonly BOT_BASE_URL: string
 *   readonly BOT_WEBHOOK_URL: string
 *   readonly BOT_WEBHOOK_SECRET: string
 * }
 *
 * export class Bot {
 *   readonly #bot: DurableObjectBot.DurableObjectBot
 *
 *   constructor({ storage }: { readonly storage: DurableObjectStorage.DurableObjectStorage }, environment: Environment) {
 *     const inbox = Inbox.layer().pipe(Layer.provide(DurableObjectInboxStore.layer(storage)))
 *     const client = BotApi.layerFetch({
 *       token: Redacted.make(environment.BOT_TOKEN),
 *       baseUrl: environment.BOT_BASE_URL
 *     }).pipe(Layer.provide(RateLimiter.layerMemory()))
 *     const receiver = Webhook.layerReceiver({
 *       url: environment.BOT_WEBHOOK_URL,
 *       secret: environment.BOT_WEBHOOK_SECRET
 *     })
 *     const layer = Layer.merge(receiver, client).pipe(Layer.provideMerge(inbox))
 *     this.#bot = DurableObjectBot.make({ storage, handler, layer })
 *   }
 *
 *   fetch(request: Request): Promise<Response> {
 *     return this.#bot.fetch(request)
 *   }
 *
 *   alarm(): Promise<void> {
 *     return this.#bot.alarm()
 *   }
 * }
 * ```
 *
 * API: Events, Webhook delivery rules.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <E, R, LayerError>({
  handler,
  layer,
  storage,
  until = "10 minutes",
  ...options
}: Options<E, R, LayerError>): DurableObjectBot => {
  const runtime = ManagedRuntime.make(layer)

  const setAlarm = (time: () => number | undefined) => Effect.sync(() => object.find(storage)?.alarm.set(time()))

  const handleAll = Inbox.use((inbox) => {
    const source: Updates.Source<never> = { inbox, source: Effect.void, services: Context.empty() }
    return Bot.drain(handler, { ...options, until, source })
  }).pipe(
    Effect.andThen(setAlarm(() => object.find(storage)?.dueAt())),
    Effect.catchCause((cause) =>
      Effect.gen(function* () {
        yield* Effect.logError("The updates were not handled. The next attempt is in 10 seconds.", cause)
        const now = yield* Clock.currentTimeMillis
        yield* setAlarm(() => now + failedInterval)
      })
    )
  )

  return {
    fetch: (request) =>
      runtime.runPromise(Effect.flatMap(Webhook.toWebHandler, (handle) => Effect.promise(() => handle(request)))),
    alarm: () => {
      object.find(storage)?.alarm.fired()
      return runtime.runPromise(handleAll)
    }
  }
}
