import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { Inbox } from "../../Inbox.ts"
import { hooks } from "../hooks.ts"
import type { Check, Health, SubscriptionState, WebhookRequest, WebhookResponse } from "../../Webhook.ts"
import { methodNotAllowed, respond } from "./responses.ts"

const checkTimeout = "5 seconds"

const subscriptionProblems: Readonly<Record<SubscriptionState, string | undefined>> = {
  unmanaged: undefined,
  active: undefined,
  pending: "the platform has not confirmed the subscription yet",
  missing: "the platform does not have the subscription"
}

const check = (problem: string | undefined): Check => (problem === undefined ? { ok: true } : { ok: false, problem })

const checkInbox = (inbox: Inbox["Service"], maxAge: Duration.Duration): Effect.Effect<Health["checks"]> =>
  Effect.gen(function* () {
    const { oldestReceivedAt, queued } = yield* Effect.timeout(inbox.stats, checkTimeout)
    const now = yield* Clock.currentTimeMillis
    const ageMs = oldestReceivedAt === undefined ? 0 : Math.max(0, now - oldestReceivedAt)
    // While the inbox is paused, updates wait, and the process goes on accepting updates.
    const isPaused = yield* inbox[hooks].pausing.isPaused
    const isOld = !isPaused && ageMs > Duration.toMillis(maxAge)
    return {
      inbox: check(inbox[hooks].isOpen() ? undefined : "the program is stopping"),
      queue: {
        ...check(isOld ? `the oldest update has been waiting for more than ${Duration.format(maxAge)}` : undefined),
        waiting: queued,
        ageMs
      }
    }
  }).pipe(
    // The message of the store may contain an address or a name, and anybody can read the health.
    Effect.orElseSucceed(() => ({
      inbox: check("the inbox cannot be reached"),
      queue: check("the waiting updates cannot be counted")
    }))
  )

interface Options {
  readonly inbox: Inbox["Service"]
  readonly maxAge: Duration.Duration
  readonly subscriptionState: () => SubscriptionState
}

export const makeHealth = ({ inbox, maxAge, subscriptionState }: Options): Effect.Effect<Health> =>
  Effect.map(checkInbox(inbox, maxAge), ({ queue, inbox }) => {
    const state = subscriptionState()
    const subscription = check(subscriptionProblems[state])
    return {
      ok: inbox.ok && queue.ok && subscription.ok,
      checks: { inbox, queue, ...(state === "unmanaged" ? undefined : { subscription }) }
    }
  })

const toResponse = (health: { readonly ok: boolean }) =>
  respond(
    health.ok ? 200 : 503,
    { "content-type": "application/json", "cache-control": "no-store" },
    JSON.stringify(health)
  )

const live = toResponse({ ok: true })

/** Serves `live` and `ready` below a path. Returns `undefined` for other paths. */
export const makeHealthRoutes = (health: Effect.Effect<Health>, healthPath: string) => {
  const ready = Effect.flatMap(health, toResponse)
  const routes: Readonly<Record<string, Effect.Effect<WebhookResponse>>> = {
    [`${healthPath}/live`]: live,
    [`${healthPath}/ready`]: ready
  }
  return (path: string, { method }: WebhookRequest): Effect.Effect<WebhookResponse> | undefined => {
    if (!Object.hasOwn(routes, path)) return undefined
    return method === "GET" || method === "HEAD" ? routes[path] : methodNotAllowed("GET, HEAD")
  }
}
