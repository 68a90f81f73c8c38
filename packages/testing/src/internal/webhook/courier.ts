import type { SubscribeRequest } from "@colloquy/core/Subscriptions"
import type { Update } from "@colloquy/core/Update"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import { type Answer, type Delivery, Undelivered } from "../../Webhooks.ts"
import { typeOf } from "../platform/deliveries.ts"
import type { Bot, Hook } from "../platform/model.ts"
import type { World } from "../platform/world.ts"
import { runIn } from "./outlet.ts"
import { requestOf } from "./request.ts"
import { answerWithin, maxRetries, retryDelay, unsubscribedAfter } from "./schedule.ts"

const timedOut = new Undelivered({ failure: "TimedOut" })

const inTime = (answer: Effect.Effect<Answer, Undelivered>): Effect.Effect<Answer, Undelivered> =>
  Effect.timeoutOrElse(answer, { duration: answerWithin, orElse: () => Effect.fail(timedOut) })

const outcomeOf = (
  result: Result.Result<Answer, Undelivered>,
  latency: number
): Pick<Delivery, "failure" | "status" | "latency"> => {
  if (Result.isFailure(result)) return { status: undefined, failure: result.failure.failure, latency }
  if (latency >= answerWithin) return { status: undefined, failure: "TimedOut", latency }
  return { status: result.success.status, failure: undefined, latency }
}

/** Whether the webhook answered 200 in time. The journal is silent about what a reset has made void meanwhile. */
const attempt = (world: World, hook: Hook, update: Update, number: number): Effect.Effect<boolean> =>
  Effect.suspend(() => {
    const { now: at, resets } = world
    return Effect.map(Effect.result(inTime(world.outlet.send(requestOf(hook, update)))), (result) => {
      const outcome = outcomeOf(result, world.now - at)
      if (world.resets === resets) {
        world.deliveries.append({ at, url: hook.url, update, attempt: number, ...outcome })
      }
      return outcome.status === 200
    })
  })

const isSubscribed = (bot: Bot, hook: Hook): boolean => bot.subscriptions.get(hook.url) === hook

// An attempt under way is not broken off by what it causes, such as an end of the subscription.
const attemptAside = (world: World, bot: Bot, hook: Hook, update: Update, number: number): Effect.Effect<boolean> =>
  Effect.gen(function* () {
    const attempting = yield* runIn(world.outlet, world.outlet.scope, attempt(world, hook, update, number))
    const isDelivered = yield* Fiber.join(attempting)
    yield* isDelivered ? endCountdown(hook) : startCountdown(world, bot, hook)
    return isDelivered
  })

const startCountdown = (world: World, bot: Bot, hook: Hook): Effect.Effect<void> =>
  Effect.suspend(() => {
    if (hook.countdown !== undefined) return Effect.void
    const cutOff = Effect.suspend(() =>
      isSubscribed(bot, hook)
        ? Effect.andThen(
            Effect.logWarning(`The webhook ${hook.url} is unsubscribed: no delivery succeeded for 8 hours`),
            end(world, bot, hook)
          )
        : Effect.void
    )
    return Effect.map(runIn(world.outlet, hook.scope, Effect.delay(cutOff, unsubscribedAfter)), (fiber) => {
      hook.countdown = fiber
    })
  })

const endCountdown = (hook: Hook): Effect.Effect<void> =>
  Effect.suspend(() => {
    const { countdown } = hook
    hook.countdown = undefined
    return countdown === undefined ? Effect.void : Fiber.interrupt(countdown)
  })

const end = (world: World, bot: Bot, hook: Hook): Effect.Effect<void> =>
  Effect.suspend(() => {
    if (isSubscribed(bot, hook)) bot.subscriptions.delete(hook.url)
    // Whoever ends a subscription may run in its scope.
    return Effect.asVoid(Effect.forkIn(Scope.close(hook.scope, Exit.void), world.outlet.scope))
  })

const retry = (world: World, bot: Bot, hook: Hook, update: Update): Effect.Effect<void> =>
  Effect.gen(function* () {
    for (let number = 1; number <= maxRetries; number++) {
      yield* Effect.sleep(retryDelay(number))
      if (!isSubscribed(bot, hook)) return
      if (yield* attemptAside(world, bot, hook, update, number + 1)) return
    }
  })

/**
 * @assumption C A delivery that fails does not hold up the updates behind it: they follow at once, its retries between
 * them.
 */
const deliver = (world: World, bot: Bot, hook: Hook, update: Update): Effect.Effect<void> =>
  Effect.gen(function* () {
    if (!isSubscribed(bot, hook)) return
    const isDelivered = yield* attemptAside(world, bot, hook, update, 1)
    if (!isDelivered) yield* runIn(world.outlet, hook.scope, retry(world, bot, hook, update))
  })

const wants = ({ update_types }: Hook, update: Update): boolean =>
  update_types === undefined || update_types.includes(typeOf(update))

/** What cannot be written as JSON stands in nobody's way. */
const orTell = ({ url }: Hook, delivering: Effect.Effect<void>): Effect.Effect<void> =>
  Effect.catchDefect(delivering, (defect) => Effect.logError(`An update could not be sent to ${url}`, defect))

const deliverAll = (world: World, bot: Bot, hook: Hook): Effect.Effect<void> =>
  Effect.gen(function* () {
    let position = bot.updates.end
    while (isSubscribed(bot, hook)) {
      const entries = bot.updates.from(position)
      position = bot.updates.end
      for (const { update } of entries) if (wants(hook, update)) yield* orTell(hook, deliver(world, bot, hook, update))
      if (entries.length > 0) continue
      yield* bot.updates.arrival
      // An update wakes its readers in the midst of what causes it: that comes to its end first.
      yield* Effect.yieldNow
    }
  })

/**
 * Delivers to an address from now on, or changes how.
 *
 * @assumption C A subscription that is changed keeps its retries, and the 8 hours begin anew.
 */
export const subscribe = (
  world: World,
  bot: Bot,
  { secret, update_types, url }: SubscribeRequest
): Effect.Effect<void> =>
  Effect.suspend(() => {
    const settings = { time: world.now, update_types, secret }
    const known = bot.subscriptions.get(url)
    if (known !== undefined) return endCountdown(Object.assign(known, settings))
    const hook: Hook = { url, ...settings, scope: Scope.forkUnsafe(world.outlet.scope), countdown: undefined }
    bot.subscriptions.set(url, hook)
    bot.subscribed.append(url)
    return Effect.asVoid(runIn(world.outlet, hook.scope, deliverAll(world, bot, hook)))
  })

/** Whether there was a subscription to end. */
export const unsubscribe = (world: World, bot: Bot, url: string): Effect.Effect<boolean> =>
  Effect.suspend(() => {
    const hook = bot.subscriptions.get(url)
    return hook === undefined ? Effect.succeed(false) : Effect.as(end(world, bot, hook), true)
  })
