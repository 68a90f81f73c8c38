import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Metric from "effect/Metric"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import type * as ApiError from "../../../client/ApiError.ts"
import type { BotApi } from "../../../client/BotApi.ts"
import type { Subscription } from "../../../model/Subscription.ts"
import * as Subscriptions from "../../../endpoints/Subscriptions.ts"
import type { SubscriptionOptions, Webhook } from "../../Webhook.ts"
import { watchFiber } from "../../../base/internal/watchFiber.ts"
import { makePlatformOutage, withoutRetries } from "../../../client/internal/retry.ts"

const subscribed = Metric.gauge("colloquy_webhook_subscribed", {
  description: "Whether the platform has the subscription of the webhook, 1 or 0"
})

const resubscribed = Metric.counter("colloquy_webhook_resubscribed_total", {
  description: "How often the subscription was created again because the platform had removed or changed it",
  incremental: true
})

const normalize = (url: string): string => {
  const origin = /^https?:\/\/[^/?#]*/i.exec(url)?.[0] ?? ""
  return `${origin.toLowerCase()}${url.slice(origin.length) || "/"}`
}

/** Returns the update types in a comparable form. Without types, the platform delivers all. */
const typesOf = (types: ReadonlyArray<string> | null | undefined): string =>
  types == null ? "all" : [...new Set(types)].sort().join()

/**
 * Creates the subscription, and checks the subscription periodically until the scope closes. Returns an effect that
 * fails when the platform no longer accepts the token.
 */
export const keepSubscribed = Effect.fnUntraced(function* (
  api: BotApi["Service"],
  { secret, secretCharacters, setSubscriptionState, url }: Webhook["Service"],
  { checkEvery = "5 minutes", unsubscribeAtStop = false, updateTypes: update_types }: SubscriptionOptions
) {
  const wanted = typesOf(update_types)
  const revoked = yield* Deferred.make<never, ApiError.Unauthorized>()
  // A platform may list other types than the requested types. Then one new subscription is enough.
  let listedBefore: string | undefined
  let accepted: string | undefined

  const report = (state: "active" | "missing") =>
    Effect.andThen(
      Effect.sync(() => setSubscriptionState(state)),
      Metric.update(subscribed, state === "active" ? 1 : 0)
    )

  const endpoint = Subscriptions.subscribeWith({ secretCharacters, insecure: !url.startsWith("https:") })
  const subscribe = Effect.suspend(() => api.execute(endpoint, { url, update_types, secret: Redacted.value(secret) }))

  const problemOf = (subscription: Subscription | undefined): string | undefined => {
    if (subscription === undefined) return "The platform does not have the subscription of the webhook anymore"
    const listed = typesOf(subscription.update_types)
    if (listed === wanted || listed === accepted) return undefined
    if (listed === listedBefore) {
      accepted = listed
      return undefined
    }
    listedBefore = listed
    return `The platform has the subscription of the webhook with other update types (${listed})`
  }

  const check = Effect.gen(function* () {
    const subscriptions = yield* api.execute(Subscriptions.list, undefined)
    const problem = problemOf(subscriptions.find((subscription) => normalize(subscription.url) === normalize(url)))
    if (problem !== undefined) {
      yield* report("missing")
      yield* Effect.logWarning(`${problem}. The webhook subscribes again.`)
      yield* withoutRetries(subscribe)
      yield* Metric.update(resubscribed, 1)
    }
    yield* report("active")
  }).pipe(
    Effect.catchTag("Unauthorized", (error) => Deferred.fail(revoked, error)),
    Effect.catch((error) =>
      Effect.logWarning(
        `The check of the webhook subscription failed and is repeated at the next interval. ${error.message}`
      )
    )
  )

  // An idle bot creates no spans.
  const checkUntraced = Effect.withTracerEnabled(check, false)

  const unsubscribe = api.execute(Subscriptions.unsubscribe, { url }).pipe(
    withoutRetries,
    Effect.timeout("5 seconds"),
    Effect.andThen(Effect.logInfo("The webhook was unsubscribed.")),
    Effect.catch((error) =>
      Effect.logWarning(`The webhook was not unsubscribed and stays subscribed. ${error.message}`)
    )
  )

  yield* makePlatformOutage()(subscribe)
  if (unsubscribeAtStop) yield* Effect.addFinalizer(() => Effect.annotateLogs(unsubscribe, { url }))
  yield* report("active")
  yield* Effect.annotateLogs(Effect.logInfo("The webhook is subscribed."), { update_types: wanted })
  const checking = yield* Effect.forkScoped(Effect.repeat(Effect.delay(checkUntraced, checkEvery), Schedule.forever))
  watchFiber(checking, (cause) => void Deferred.doneUnsafe(revoked, Exit.failCause(cause)))
  return { untilRevoked: Deferred.await(revoked) }
})
