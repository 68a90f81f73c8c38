import * as Deferred from "effect/Deferred"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as ApiError from "../../ApiError.ts"
import type { BotApi } from "../../BotApi.ts"
import * as Endpoint from "../../Endpoint.ts"
import type { Subscription } from "../../Subscription.ts"
import * as Subscriptions from "../../Subscriptions.ts"
import { retryForever, withoutRetries } from "../client/retryForever.ts"
import { done } from "../client/success.ts"
import type { Subscribed } from "./health.ts"
import { resubscribedOnce, subscribedNow } from "./metrics.ts"
import { loopbackUrl } from "./url.ts"

export interface Options {
  readonly url: string
  readonly secret: Redacted.Redacted
  readonly updateTypes: ReadonlyArray<string> | undefined
  readonly checkEvery: Duration.Input
  readonly unsubscribeAtStop: boolean
  readonly tell: (subscribed: Subscribed) => void
}

/** The same endpoint for an emulator on this machine. */
const subscribeInsecurely: typeof Subscriptions.subscribe = Endpoint.make("Subscriptions.subscribe", () => ({
  method: "POST",
  path: "/subscriptions",
  body: {
    url: Schema.String.check(Schema.isPattern(loopbackUrl)),
    update_types: Schema.optional(Schema.Array(Schema.String)),
    secret: Schema.optional(Subscriptions.Secret)
  },
  success: done,
  errors: [ApiError.OperationRejected],
  idempotent: true
}))

const canonical = (url: string): string => {
  const origin = /^https?:\/\/[^/?#]*/i.exec(url)?.[0] ?? ""
  return `${origin.toLowerCase()}${url.slice(origin.length) || "/"}`
}

/** The types as one text; without any, all are delivered. */
const typesOf = (types: ReadonlyArray<string> | null | undefined): string =>
  types == null ? "all" : [...new Set(types)].sort().join()

/**
 * Subscribes, and looks from time to time whether that still holds. `untilRevoked` fails when the platform does not know
 * the bot any more.
 */
export const attend = Effect.fnUntraced(function* (api: BotApi["Service"], options: Options) {
  const { secret, tell, updateTypes: update_types, url } = options
  const wanted = typesOf(update_types)
  const revoked = yield* Deferred.make<never, ApiError.Unauthorized>()
  /** What the platform lists although it was asked for `wanted`, once that has been tried in vain. */
  let tolerated: string | undefined
  let shown: string | undefined

  const subscribed = (state: "present" | "missing") =>
    Effect.andThen(
      Effect.sync(() => tell(state)),
      subscribedNow(state === "present")
    )

  const subscribe = Effect.suspend(() =>
    api.execute(url.startsWith("https:") ? Subscriptions.subscribe : subscribeInsecurely, {
      url,
      update_types,
      secret: Redacted.value(secret)
    })
  )

  const problemOf = (held: Subscription | undefined): string | undefined => {
    if (held === undefined) return "The platform does not hold the subscription of the webhook any more"
    const types = typesOf(held.update_types)
    if (types === wanted || types === tolerated) return undefined
    if (types === shown) {
      tolerated = types
      return undefined
    }
    shown = types
    return `The platform holds the subscription of the webhook with other update types (${types})`
  }

  const check = Effect.gen(function* () {
    const subscriptions = yield* api.execute(Subscriptions.list, undefined)
    const problem = problemOf(subscriptions.find((held) => canonical(held.url) === canonical(url)))
    if (problem !== undefined) {
      yield* subscribed("missing")
      yield* Effect.logWarning(`${problem}: it is subscribed again.`)
      yield* withoutRetries(subscribe)
      yield* resubscribedOnce
    }
    yield* subscribed("present")
  }).pipe(
    Effect.catchTag("Unauthorized", (error) => Deferred.fail(revoked, error)),
    Effect.catch((error) => Effect.logWarning(`The subscription of the webhook was not checked. ${error.message}`))
  )

  const unsubscribe = api.execute(Subscriptions.unsubscribe, { url }).pipe(
    withoutRetries,
    Effect.timeout("5 seconds"),
    Effect.andThen(Effect.logInfo("The webhook is unsubscribed.")),
    Effect.catch((error) => Effect.logWarning(`The webhook stays subscribed. ${error.message}`))
  )

  yield* retryForever("The webhook is subscribed after a pause.")(subscribe)
  if (options.unsubscribeAtStop) yield* Effect.addFinalizer(() => Effect.annotateLogs(unsubscribe, { url }))
  yield* subscribed("present")
  yield* Effect.annotateLogs(Effect.logInfo("The webhook is subscribed."), { update_types: wanted })
  yield* Effect.forkScoped(Effect.repeat(Effect.delay(check, options.checkEvery), Schedule.forever))
  return { untilRevoked: Deferred.await(revoked) }
})
