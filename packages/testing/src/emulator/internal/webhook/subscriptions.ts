import * as Json from "@colloquy/core/base/Json"
import * as Platform from "@colloquy/core/base/Platform"
import { LoopbackUrl, makeSecret, type SubscribeRequest, WebhookUrl } from "@colloquy/core/endpoints/Subscriptions"
import { Update } from "@colloquy/core/model/Update"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import { type Delivery, DeliveryError, type Request, type Response } from "../../WebhookSender.ts"
import { type Refusable, rejected } from "../http/refusal.ts"
import { runIn, type SecretSettings } from "./runtime.ts"
import type { EmulatorContext } from "../platform/context.ts"
import { type BotState, type PlatformState, type Sending, type SubscriptionState, now } from "../platform/state.ts"
import { emit, type EventRecord } from "../platform/events.ts"
import { chatOf } from "../platform/faults.ts"
import { typeOf } from "../platform/updates.ts"
import { idOf } from "../platform/users.ts"

type WebhookContext = Pick<EmulatorContext, "state" | "webhooks">

const decodeUrl = Schema.decodeUnknownResult(WebhookUrl)

const isLoopbackUrl = Schema.is(LoopbackUrl)

/** Accepts the URLs that the platform accepts, and with `allowsInsecure` also loopback URLs. */
export const checkUrl = (url: string, allowsInsecure: boolean): Refusable<void> =>
  Effect.suspend(() => {
    const isUrl = URL.canParse(url)
    if (allowsInsecure && isLoopbackUrl(url) && isUrl) return Effect.void
    const decoded = decodeUrl(url)
    if (Result.isFailure(decoded)) return rejected(`url: ${decoded.failure.message.split("\n")[0]}`)
    return isUrl ? Effect.void : rejected("url: is not a valid URL")
  })

const encodeUpdate = Schema.encodeUnknownSync(Update)

/** Accepts a secret of the alphabet of the settings. */
export const checkSecret = (secret: string | undefined, { secret_characters }: SecretSettings): Refusable<void> =>
  Effect.suspend(() => {
    const decoded = Schema.decodeUnknownResult(Schema.optional(makeSecret(secret_characters)))(secret)
    return Result.isSuccess(decoded) ? Effect.void : rejected(`secret: ${decoded.failure.message.split("\n")[0]}`)
  })

const toRequest = ({ secret, url }: SubscriptionState, update: Update, { secret_header }: SecretSettings): Request => {
  const body = Json.stringify(encodeUpdate(update))
  const headers = {
    "content-type": "application/json",
    ...(secret === undefined ? {} : { [secret_header.toLowerCase()]: secret })
  }
  return { url, headers, body, update: Json.parse(body) }
}

const timedOut = new DeliveryError({ reason: "TimedOut" })

const withTimeout = (response: Effect.Effect<Response, DeliveryError>): Effect.Effect<Response, DeliveryError> =>
  Effect.timeoutOrElse(response, { duration: Platform.webhookTimeout, orElse: () => Effect.fail(timedOut) })

const outcomeOf = (
  result: Result.Result<Response, DeliveryError>,
  latency: number
): Pick<Delivery, "failure" | "status" | "latency"> => {
  if (Result.isFailure(result)) return { status: undefined, failure: result.failure.reason, latency }
  if (latency >= Platform.webhookTimeout) return { status: undefined, failure: "TimedOut", latency }
  return { status: result.success.status, failure: undefined, latency }
}

const emitDelivery = (
  state: PlatformState,
  { id, number, subscription, update }: Sending,
  outcome: Pick<Extract<EventRecord, { readonly type: "delivery" }>, "attempt" | "failure" | "latency" | "status">,
  isDead: boolean
): void => {
  const chat_id = chatOf(update)
  const isDelivered = outcome.status === 200
  const isWaiting = !isDelivered && !isDead
  emit(state, {
    type: "delivery",
    bot_id: idOf(subscription.bot.user),
    ...(chat_id === undefined ? {} : { chat_id }),
    delivery_id: id,
    url: subscription.url,
    update_type: typeOf(update),
    number,
    ...outcome,
    state: isDelivered ? "delivered" : isWaiting ? "failed" : "dead",
    next_at: isWaiting ? now(state) + Platform.webhookRetryDelay(outcome.attempt) : null
  })
}

/** Returns `true` if the webhook answered 200 in time. An attempt that ends after a reset is not recorded. */
const attempt = (context: WebhookContext, sending: Sending, number: number): Effect.Effect<boolean> =>
  Effect.suspend(() => {
    const { state, webhooks } = context
    const { resets } = state
    const { subscription, update } = sending
    const at = now(state)
    const sent = withTimeout(webhooks.send(toRequest(subscription, update, webhooks.secrets)))
    return Effect.map(Effect.result(sent), (result) => {
      const outcome = outcomeOf(result, now(state) - at)
      if (state.resets === resets) {
        state.deliveries.append({ at, url: subscription.url, update, attempt: number, ...outcome })
        const { failure = null, latency, status = null } = outcome
        const isLast = number > Platform.maxWebhookRetries || !isSubscribed(subscription)
        emitDelivery(state, sending, { attempt: number, failure, latency, status }, isLast)
      }
      return outcome.status === 200
    })
  })

const isSubscribed = (subscription: SubscriptionState): boolean =>
  subscription.bot.subscriptions.get(subscription.url) === subscription

// The attempt runs in the scope of the emulator, and continues after the end of the subscription.
const attemptAndRecord = Effect.fnUntraced(function* (context: WebhookContext, sending: Sending, number: number) {
  const { webhooks } = context
  const attempting = yield* runIn(webhooks, webhooks.scope, attempt(context, sending, number))
  const isDelivered = yield* Fiber.join(attempting)
  yield* isDelivered ? cancelExpiry(sending.subscription) : startExpiry(context, sending.subscription)
  return isDelivered
})

const startExpiry = (context: WebhookContext, subscription: SubscriptionState): Effect.Effect<void> =>
  Effect.suspend(() => {
    if (subscription.expiry !== undefined) return Effect.void
    const expire = Effect.suspend(() =>
      isSubscribed(subscription)
        ? Effect.andThen(
            Effect.logWarning(`No delivery to ${subscription.url} succeeded for 8 hours: the subscription is removed`),
            endSubscription(context, subscription)
          )
        : Effect.void
    )
    const delayed = Effect.delay(expire, Platform.webhookFailureTimeout)
    return Effect.map(runIn(context.webhooks, subscription.scope, delayed), (countdown) => {
      subscription.expiry = { at: now(context.state) + Platform.webhookFailureTimeout, countdown }
    })
  })

const cancelExpiry = (subscription: SubscriptionState): Effect.Effect<void> =>
  Effect.suspend(() => {
    const { expiry } = subscription
    subscription.expiry = undefined
    return expiry === undefined ? Effect.void : Fiber.interrupt(expiry.countdown)
  })

const endSubscription = (context: WebhookContext, subscription: SubscriptionState): Effect.Effect<void> =>
  Effect.suspend(() => {
    if (isSubscribed(subscription)) subscription.bot.subscriptions.delete(subscription.url)
    // The caller may run in the scope that is closed.
    return Effect.asVoid(Effect.forkIn(Scope.close(subscription.scope, Exit.void), context.webhooks.scope))
  })

/** Waits until a retry is due or started by hand. The end of the subscription makes the delivery dead. */
const awaitRetry = ({ state }: WebhookContext, sending: Sending, number: number): Effect.Effect<void> =>
  Effect.suspend(() => {
    const { id, subscription } = sending
    const { resets } = state
    const delay = Platform.webhookRetryDelay(number)
    const started = Deferred.makeUnsafe<void>()
    state.waiting.set(id, {
      ...sending,
      attempt: number + 1,
      dueAt: now(state) + delay,
      start: () => Deferred.doneUnsafe(started, Effect.void)
    })
    return Effect.onExit(Effect.timeoutOption(Deferred.await(started), delay), (exit) =>
      Effect.sync(() => {
        if (state.resets !== resets) return
        state.waiting.delete(id)
        if (Exit.isSuccess(exit) && isSubscribed(subscription)) return
        emitDelivery(state, sending, { attempt: number + 1, failure: "Unsubscribed", latency: 0, status: null }, true)
      })
    )
  })

const retry = Effect.fnUntraced(function* (context: WebhookContext, sending: Sending) {
  for (let number = 1; number <= Platform.maxWebhookRetries; number++) {
    yield* awaitRetry(context, sending, number)
    if (!isSubscribed(sending.subscription)) return
    if (yield* attemptAndRecord(context, sending, number + 1)) return
  }
})

/**
 * @assumption deliveryOrder
 */
const deliver = Effect.fnUntraced(function* (context: WebhookContext, given: Omit<Sending, "id">) {
  const { subscription } = given
  if (!isSubscribed(subscription)) return
  const sending: Sending = { id: context.state.startedDeliveries++, ...given }
  const isDelivered = yield* attemptAndRecord(context, sending, 1)
  if (!isDelivered) yield* runIn(context.webhooks, subscription.scope, retry(context, sending))
})

const accepts = ({ update_types }: SubscriptionState, update: Update): boolean =>
  update_types === undefined || update_types.includes(typeOf(update))

const skipDefects = ({ url }: SubscriptionState, delivery: Effect.Effect<void>): Effect.Effect<void> =>
  Effect.catchDefect(delivery, (defect) =>
    Effect.logError(`An update for ${url} could not be encoded and is skipped`, defect)
  )

const deliverAll = Effect.fnUntraced(function* (context: WebhookContext, subscription: SubscriptionState) {
  const { updates } = subscription.bot
  while (isSubscribed(subscription)) {
    const entries = updates.from(subscription.position)
    subscription.position = updates.end
    const first = subscription.position - entries.length
    for (const [index, { update }] of entries.entries()) {
      const sending = { subscription, update, number: first + index }
      if (accepts(subscription, update)) yield* skipDefects(subscription, deliver(context, sending))
    }
    if (entries.length > 0) continue
    yield* updates.arrival
    // An update is appended during its operation, which must complete first.
    yield* Effect.yieldNow
  }
})

/**
 * Creates a subscription, or changes the existing one of this URL.
 *
 * @assumption changedSubscriptions
 */
export const subscribe = (
  context: WebhookContext,
  bot: BotState,
  { secret, update_types, url }: SubscribeRequest
): Effect.Effect<void> =>
  Effect.suspend(() => {
    const settings = { time: now(context.state), update_types, secret }
    const existing = bot.subscriptions.get(url)
    if (existing !== undefined) return cancelExpiry(Object.assign(existing, settings))
    const subscription: SubscriptionState = {
      bot,
      url,
      ...settings,
      position: bot.updates.end,
      scope: Scope.forkUnsafe(context.webhooks.scope),
      expiry: undefined
    }
    bot.subscriptions.set(url, subscription)
    bot.subscribed.append(url)
    return Effect.asVoid(runIn(context.webhooks, subscription.scope, deliverAll(context, subscription)))
  })

/** Returns `true` if there was a subscription. */
export const unsubscribe = (context: WebhookContext, bot: BotState, url: string): Effect.Effect<boolean> =>
  Effect.suspend(() => {
    const subscription = bot.subscriptions.get(url)
    return subscription === undefined ? Effect.succeed(false) : Effect.as(endSubscription(context, subscription), true)
  })
