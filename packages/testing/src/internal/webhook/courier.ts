import * as Platform from "@colloquy/core/Platform"
import type { SubscribeRequest } from "@colloquy/core/Subscriptions"
import type { Update } from "@colloquy/core/Update"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import { type Answer, type Delivery, Undelivered } from "../../Webhooks.ts"
import { typeOf } from "../platform/updates.ts"
import type { BotState, SubscriptionState } from "../platform/model.ts"
import type { PlatformState } from "../platform/state.ts"
import { runIn } from "./outlet.ts"
import { requestOf } from "./request.ts"

const timedOut = new Undelivered({ failure: "TimedOut" })

const inTime = (answer: Effect.Effect<Answer, Undelivered>): Effect.Effect<Answer, Undelivered> =>
  Effect.timeoutOrElse(answer, { duration: Platform.webhookTimeout, orElse: () => Effect.fail(timedOut) })

const outcomeOf = (
  result: Result.Result<Answer, Undelivered>,
  latency: number
): Pick<Delivery, "failure" | "status" | "latency"> => {
  if (Result.isFailure(result)) return { status: undefined, failure: result.failure.failure, latency }
  if (latency >= Platform.webhookTimeout) return { status: undefined, failure: "TimedOut", latency }
  return { status: result.success.status, failure: undefined, latency }
}

/** Whether the webhook answered 200 in time. The journal is silent about what a reset has made void meanwhile. */
const attempt = (
  state: PlatformState,
  subscription: SubscriptionState,
  update: Update,
  number: number
): Effect.Effect<boolean> =>
  Effect.suspend(() => {
    const { now: at, resets } = state
    return Effect.map(Effect.result(inTime(state.outlet.send(requestOf(subscription, update)))), (result) => {
      const outcome = outcomeOf(result, state.now - at)
      if (state.resets === resets) {
        state.deliveries.append({ at, url: subscription.url, update, attempt: number, ...outcome })
      }
      return outcome.status === 200
    })
  })

const isSubscribed = (bot: BotState, subscription: SubscriptionState): boolean =>
  bot.subscriptions.get(subscription.url) === subscription

// An attempt under way is not broken off by what it causes, such as an end of the subscription.
const attemptAside = (
  state: PlatformState,
  bot: BotState,
  subscription: SubscriptionState,
  update: Update,
  number: number
): Effect.Effect<boolean> =>
  Effect.gen(function* () {
    const attempting = yield* runIn(state.outlet, state.outlet.scope, attempt(state, subscription, update, number))
    const isDelivered = yield* Fiber.join(attempting)
    yield* isDelivered ? endCountdown(subscription) : startCountdown(state, bot, subscription)
    return isDelivered
  })

const startCountdown = (state: PlatformState, bot: BotState, subscription: SubscriptionState): Effect.Effect<void> =>
  Effect.suspend(() => {
    if (subscription.countdown !== undefined) return Effect.void
    const cutOff = Effect.suspend(() =>
      isSubscribed(bot, subscription)
        ? Effect.andThen(
            Effect.logWarning(`The webhook ${subscription.url} is unsubscribed: no delivery succeeded for 8 hours`),
            end(state, bot, subscription)
          )
        : Effect.void
    )
    return Effect.map(
      runIn(state.outlet, subscription.scope, Effect.delay(cutOff, Platform.webhookFailureTimeout)),
      (fiber) => {
        subscription.countdown = fiber
      }
    )
  })

const endCountdown = (subscription: SubscriptionState): Effect.Effect<void> =>
  Effect.suspend(() => {
    const { countdown } = subscription
    subscription.countdown = undefined
    return countdown === undefined ? Effect.void : Fiber.interrupt(countdown)
  })

const end = (state: PlatformState, bot: BotState, subscription: SubscriptionState): Effect.Effect<void> =>
  Effect.suspend(() => {
    if (isSubscribed(bot, subscription)) bot.subscriptions.delete(subscription.url)
    // Whoever ends a subscription may run in its scope.
    return Effect.asVoid(Effect.forkIn(Scope.close(subscription.scope, Exit.void), state.outlet.scope))
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
      if (yield* attemptAside(state, bot, subscription, update, number + 1)) return
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
    const isDelivered = yield* attemptAside(state, bot, subscription, update, 1)
    if (!isDelivered) yield* runIn(state.outlet, subscription.scope, retry(state, bot, subscription, update))
  })

const wants = ({ update_types }: SubscriptionState, update: Update): boolean =>
  update_types === undefined || update_types.includes(typeOf(update))

/** What cannot be written as JSON stands in nobody's way. */
const orTell = ({ url }: SubscriptionState, delivering: Effect.Effect<void>): Effect.Effect<void> =>
  Effect.catchDefect(delivering, (defect) => Effect.logError(`An update could not be sent to ${url}`, defect))

const deliverAll = (state: PlatformState, bot: BotState, subscription: SubscriptionState): Effect.Effect<void> =>
  Effect.gen(function* () {
    let position = bot.updates.end
    while (isSubscribed(bot, subscription)) {
      const entries = bot.updates.from(position)
      position = bot.updates.end
      for (const { update } of entries)
        if (wants(subscription, update)) yield* orTell(subscription, deliver(state, bot, subscription, update))
      if (entries.length > 0) continue
      yield* bot.updates.arrival
      // An update wakes its readers in the midst of what causes it: that comes to its end first.
      yield* Effect.yieldNow
    }
  })

/**
 * Delivers to an address from now on, or changes how.
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
    const known = bot.subscriptions.get(url)
    if (known !== undefined) return endCountdown(Object.assign(known, settings))
    const subscription: SubscriptionState = {
      url,
      ...settings,
      scope: Scope.forkUnsafe(state.outlet.scope),
      countdown: undefined
    }
    bot.subscriptions.set(url, subscription)
    bot.subscribed.append(url)
    return Effect.asVoid(runIn(state.outlet, subscription.scope, deliverAll(state, bot, subscription)))
  })

/** Whether there was a subscription to end. */
export const unsubscribe = (state: PlatformState, bot: BotState, url: string): Effect.Effect<boolean> =>
  Effect.suspend(() => {
    const subscription = bot.subscriptions.get(url)
    return subscription === undefined ? Effect.succeed(false) : Effect.as(end(state, bot, subscription), true)
  })
