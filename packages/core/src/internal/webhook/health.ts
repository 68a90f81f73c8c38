import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { Inbox } from "../../Inbox.ts"
import { type Answer, answer, type Head, methodNotAllowed } from "./http.ts"

/** Whether the platform holds the subscription; "unattended" where nothing in this program looks after it. */
export type Subscribed = "unattended" | "pending" | "present" | "missing"

export interface Check {
  readonly ok: boolean
  readonly problem?: string
}

export interface Health {
  readonly ok: boolean
  readonly checks: {
    readonly inbox: Check
    readonly backlog: Check & { readonly waiting?: number; readonly ageMs?: number }
    readonly subscription?: Check
  }
}

interface Options {
  readonly inbox: Inbox["Service"]
  readonly subscribed: () => Subscribed
  readonly maxAge: Duration.Duration
}

const lookWithin = "5 seconds"

const problems: Readonly<Record<Subscribed, string | undefined>> = {
  unattended: undefined,
  present: undefined,
  pending: "the platform has not confirmed it yet",
  missing: "the platform does not hold it"
}

const checkOf = (problem: string | undefined): Check => (problem === undefined ? { ok: true } : { ok: false, problem })

const lookAt = (inbox: Inbox["Service"], maxAge: Duration.Duration): Effect.Effect<Health["checks"]> =>
  Effect.gen(function* () {
    const { oldestReceivedAt: oldest, queued: waiting } = yield* Effect.timeout(inbox.stats, lookWithin)
    const ageMs = oldest === undefined ? 0 : Math.max(0, (yield* Clock.currentTimeMillis) - oldest)
    const isOld = ageMs > Duration.toMillis(maxAge)
    return {
      inbox: checkOf((yield* inbox.isOpen) ? undefined : "it takes no more updates: the program stops"),
      backlog: {
        ...checkOf(isOld ? `the oldest update waits longer than ${Duration.format(maxAge)}` : undefined),
        waiting,
        ageMs
      }
    }
  }).pipe(
    // What the store said may tell an address or a name.
    Effect.orElseSucceed(() => ({
      inbox: checkOf("it cannot be reached"),
      backlog: checkOf("it cannot be looked at")
    }))
  )

export const makeHealth = ({ inbox, maxAge, subscribed }: Options): Effect.Effect<Health> =>
  Effect.map(lookAt(inbox, maxAge), ({ backlog, inbox }) => {
    const state = subscribed()
    const subscription = checkOf(problems[state])
    return {
      ok: inbox.ok && backlog.ok && subscription.ok,
      checks: { inbox, backlog, ...(state === "unattended" ? undefined : { subscription }) }
    }
  })

const tell = (health: { readonly ok: boolean }) =>
  answer(
    health.ok ? 200 : 503,
    { "content-type": "application/json", "cache-control": "no-store" },
    JSON.stringify(health)
  )

const alive = tell({ ok: true })

/** Answers `live` and `ready` below a path. */
export const makeHealthDesk = (health: Effect.Effect<Health>, below: string) => {
  const ready = Effect.flatMap(health, tell)
  const doors: Readonly<Record<string, Effect.Effect<Answer>>> = { [`${below}/live`]: alive, [`${below}/ready`]: ready }
  return (path: string, { method }: Head): Effect.Effect<Answer> | undefined => {
    if (!Object.hasOwn(doors, path)) return undefined
    return method === "GET" || method === "HEAD" ? doors[path] : methodNotAllowed("GET, HEAD")
  }
}
