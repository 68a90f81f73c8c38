import * as Json from "@colloquy/core/Json"
import * as Platform from "@colloquy/core/Platform"
import { type SubscribeRequest, WebhookUrl } from "@colloquy/core/Subscriptions"
import { Update } from "@colloquy/core/Update"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import { type Delivery, DeliveryError, type Request, type Response } from "../../WebhookSender.ts"
import { type Refusal, rejected } from "../http/refusal.ts"
import type { BotState, SubscriptionState } from "../platform/model.ts"
import type { PlatformState } from "../platform/state.ts"
import { typeOf } from "../platform/updates.ts"
import { runIn } from "./runtime.ts"

const decodeUrl = Schema.decodeUnknownResult(WebhookUrl)

const loopbackUrl = /^http:\/\/(127\.0\.0\.1|localhost)(:\d{1,5})?([/?#]\S*)?$/

const problemOfUrl = (url: string): string | undefined => {
  const decoded = decodeUrl(url)
  if (Result.isFailure(decoded)) return `url: ${decoded.failure.message.split("\n")[0]}`
  return URL.canParse(url) ? undefined : "url: is not a valid URL"
}

/** Accepts the URLs that the platform accepts, and with `allowsInsecure` those of the loopback too. */
export const checkUrl = (url: string, allowsInsecure: boolean): Effect.Effect<void, Refusal> =>
  Effect.suspend(() => {
    if (allowsInsecure && loopbackUrl.test(url) && URL.canParse(url)) {
      return Effect.logWarning(`The webhook ${url} is insecure: the platform accepts https:// URLs only`)
    }
    const problem = problemOfUrl(url)
    return problem === undefined ? Effect.void : rejected(problem)
  })

const encodeUpdate = Schema.encodeUnknownSync(Update)

const toRequest = ({ secret, url }: SubscriptionState, update: Update): Request => {
  const body = Json.stringify(encodeUpdate(update))
  const headers = {
    "content-type": "application/json",
    ...(secret === undefined ? {} : { "x-svc-bot-api-secret": secret })
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

/** Returns `true` if the webhook answered 200 in time. An attempt that ends after a reset is not recorded. */
const attempt = (
  state: PlatformState,
  subscription: SubscriptionState,
  update: Update,
  number: number
): Effect.Effect<boolean> =>
  Effect.suspend(() => {
    const { now: at, resets } = state
    const sent = withTimeout(state.webhooks.send(toRequest(subscription, update)))
    return Effect.map(Effect.result(sent), (result) => {
      const outcome = outcomeOf(result, state.now - at)
      if (state.resets === resets) {
        state.deliveries.append({ at, url: subscription.url, update, attempt: number, ...outcome })
      }
      return outcome.status === 200
    })
  })

const isSubscribed = (bot: BotState, subscription: SubscriptionState): boolean =>
  bot.subscriptions.get(subscription.url) === subscription

// The attempt runs in the scope of the emulator: it continues if the subscription ends meanwhile.
const attemptAndRecord = (
  state: PlatformState,
  bot: BotState,
  subscription: SubscriptionState,
  update: Update,
  number: number
): Effect.Effect<boolean> =>
  Effect.gen(function* () {
    const { webhooks } = state
    const attempting = yield* runIn(webhooks, webhooks.scope, attempt(state, subscription, update, number))
    const isDelivered = yield* Fiber.join(attempting)
    yield* isDelivered ? cancelExpiry(subscription) : startExpiry(state, bot, subscription)
    return isDelivered
  })

const startExpiry = (state: PlatformState, bot: BotState, subscription: SubscriptionState): Effect.Effect<void> =>
  Effect.suspend(() => {
    if (subscription.countdown !== undefined) return Effect.void
    const expire = Effect.suspend(() =>
      isSubscribed(bot, subscription)
        ? Effect.andThen(
            Effect.logWarning(`No delivery to ${subscription.url} succeeded for 8 hours: the subscription is removed`),
            endSubscription(state, bot, subscription)
          )
        : Effect.void
    )
    const delayed = Effect.delay(expire, Platform.webhookFailureTimeout)
    return Effect.map(runIn(state.webhooks, subscription.scope, delayed), (fiber) => {
      subscription.countdown = fiber
    })
  })

const cancelExpiry = (subscription: SubscriptionState): Effect.Effect<void> =>
  Effect.suspend(() => {
    const { countdown } = subscription
    subscription.countdown = undefined
    return countdown === undefined ? Effect.void : Fiber.interrupt(countdown)
  })

const endSubscription = (state: PlatformState, bot: BotState, subscription: SubscriptionState): Effect.Effect<void> =>
  Effect.suspend(() => {
    if (isSubscribed(bot, subscription)) bot.subscriptions.delete(subscription.url)
    // The caller may run in the scope that is closed.
    return Effect.asVoid(Effect.forkIn(Scope.close(subscription.scope, Exit.void), state.webhooks.scope))
  })

const retry = (
  state: PlatformState,
  bot: BotState,
  subscription: SubscriptionState,
  update: Update
): Effect.Effect<void> =>
  Effect.gen(function* () {
    for (let number = 1; number <= Platform.maxWebhookRetries; number++) {
      yield* Effect.sleep(Platform.webhookRetryDelay(number))
      if (!isSubscribed(bot, subscription)) return
      if (yield* attemptAndRecord(state, bot, subscription, update, number + 1)) return
    }
  })

/**
 * @assumption deliveryOrder
 */
const deliver = (
  state: PlatformState,
  bot: BotState,
  subscription: SubscriptionState,
  update: Update
): Effect.Effect<void> =>
  Effect.gen(function* () {
    if (!isSubscribed(bot, subscription)) return
    const isDelivered = yield* attemptAndRecord(state, bot, subscription, update, 1)
    if (!isDelivered) yield* runIn(state.webhooks, subscription.scope, retry(state, bot, subscription, update))
  })

const accepts = ({ update_types }: SubscriptionState, update: Update): boolean =>
  update_types === undefined || update_types.includes(typeOf(update))

const skipDefects = ({ url }: SubscriptionState, delivery: Effect.Effect<void>): Effect.Effect<void> =>
  Effect.catchDefect(delivery, (defect) =>
    Effect.logError(`An update for ${url} could not be encoded and is skipped`, defect)
  )

const deliverAll = (state: PlatformState, bot: BotState, subscription: SubscriptionState): Effect.Effect<void> =>
  Effect.gen(function* () {
    let position = bot.updates.end
    while (isSubscribed(bot, subscription)) {
      const entries = bot.updates.from(position)
      position = bot.updates.end
      for (const { update } of entries) {
        if (accepts(subscription, update)) yield* skipDefects(subscription, deliver(state, bot, subscription, update))
      }
      if (entries.length > 0) continue
      yield* bot.updates.arrival
      // An update is appended during the operation that causes it: the operation completes first.
      yield* Effect.yieldNow
    }
  })

/**
 * Creates a subscription, or changes the existing one of this URL.
 *
 * @assumption changedSubscriptions
 */
export const subscribe = (
  state: PlatformState,
  bot: BotState,
  { secret, update_types, url }: SubscribeRequest
): Effect.Effect<void> =>
  Effect.suspend(() => {
    const settings = { time: state.now, update_types, secret }
    const existing = bot.subscriptions.get(url)
    if (existing !== undefined) return cancelExpiry(Object.assign(existing, settings))
    const subscription: SubscriptionState = {
      url,
      ...settings,
      scope: Scope.forkUnsafe(state.webhooks.scope),
      countdown: undefined
    }
    bot.subscriptions.set(url, subscription)
    bot.subscribed.append(url)
    return Effect.asVoid(runIn(state.webhooks, subscription.scope, deliverAll(state, bot, subscription)))
  })

/** Returns `true` if there was a subscription. */
export const unsubscribe = (state: PlatformState, bot: BotState, url: string): Effect.Effect<boolean> =>
  Effect.suspend(() => {
    const subscription = bot.subscriptions.get(url)
    return subscription === undefined
      ? Effect.succeed(false)
      : Effect.as(endSubscription(state, bot, subscription), true)
  })
