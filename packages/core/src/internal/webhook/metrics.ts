import type * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"

const refused = Metric.counter("colloquy_webhook_refused", {
  description: "deliveries that were not answered with 200, by status"
})
const subscribed = Metric.gauge("colloquy_webhook_subscribed", {
  description: "whether the platform holds the subscription, 1 or 0"
})
const resubscribed = Metric.counter("colloquy_webhook_resubscribed", {
  description: "subscriptions that the platform had dropped or changed and that were made anew"
})

const byStatus = new Map<number, typeof refused>()

export const refusedWith = (status: number): Effect.Effect<void> => {
  const metric = byStatus.get(status) ?? Metric.withAttributes(refused, { status: String(status) })
  byStatus.set(status, metric)
  return Metric.update(metric, 1)
}

export const subscribedNow = (isSubscribed: boolean): Effect.Effect<void> =>
  Metric.update(subscribed, isSubscribed ? 1 : 0)

export const resubscribedOnce: Effect.Effect<void> = Metric.update(resubscribed, 1)
