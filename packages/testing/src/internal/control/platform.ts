import * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { hasProperty } from "effect/Predicate"
import { deliver } from "../deliveries.ts"
import { arm } from "../faults.ts"
import * as refusal from "../refusal.ts"
import { present } from "../views.ts"
import { unsubscribe } from "../webhook/courier.ts"
import { botOf, done, type Handled, on, roomOf } from "./call.ts"
import * as declarations from "./declarations.ts"
import { toWire } from "./heard.ts"
import { toDelivered, toJournaled } from "./journal.ts"

/** A clock that stands still until it is moved, as a test's does. */
interface Movable {
  readonly adjust: (duration: Duration.Input) => Effect.Effect<void>
}

const isMovable = (clock: unknown): clock is Movable => hasProperty(clock, "adjust")

/** What a caller waits for passes by the clock on the wall, even where the platform's stands still. */
const wall = (clock: Clock.Clock): Clock.Clock => (hasProperty(clock, "wall") ? (clock.wall as Clock.Clock) : clock)

const tellTime = Effect.clockWith((clock) =>
  Effect.sync(() => ({ now: Math.floor(clock.currentTimeMillisUnsafe()), is_virtual: isMovable(clock) }))
)

/** What stands on the platform, and what governs it. */
export const platform: ReadonlyArray<Handled> = [
  on(declarations.health, () => Effect.succeed({ status: "ready" as const })),
  on(declarations.reset, (_, { world }) =>
    Effect.gen(function* () {
      for (const bot of world.bots.values()) {
        for (const url of bot.subscriptions.keys()) yield* unsubscribe(world, bot, url)
      }
      world.reset()
      return done
    })
  ),
  on(declarations.bots, (_, { world }) =>
    Effect.sync(() => ({ bots: [...world.bots.values()].map(({ account, token }) => ({ token, user: account.user })) }))
  ),
  on(declarations.listMessages, ({ chat_id }, control) =>
    Effect.map(roomOf(control, chat_id), ({ posts }) => ({ messages: posts.map(present) }))
  ),
  on(declarations.listComments, ({ message_id }, { world }) =>
    Effect.suspend(() => {
      const post = world.posts.get(message_id)
      return post === undefined
        ? Effect.fail(refusal.messageNotFound(message_id))
        : Effect.succeed({ comments: post.remarks.map(({ comment }) => comment) })
    })
  ),
  on(declarations.closeChat, ({ chat_id }, control) =>
    Effect.map(roomOf(control, chat_id), (room) => {
      room.isClosed = true
      return done
    })
  ),
  on(declarations.allowComments, ({ allowed, chat_id }, control) =>
    Effect.map(roomOf(control, chat_id), (room) => {
      room.hasComments = allowed
      return done
    })
  ),
  on(declarations.events, ({ update, ...toBot }, control) =>
    Effect.map(botOf(control, toBot), (bot) => {
      deliver(control.world, bot, { update_type: "unknown", raw: update })
      return done
    })
  ),
  on(declarations.listUpdates, (toBot, control) =>
    Effect.map(botOf(control, toBot), ({ updates }) => ({ updates: updates.from(0).map(({ update }) => update) }))
  ),
  on(declarations.heard, ({ chat_id, from, user_id, wait_ms }, { world }) => {
    const take = () => ({
      heard: world.heard
        .from(from ?? 0)
        .filter(({ heard }) => chat_id == null || heard.chat_id === chat_id)
        .filter(({ audience }) => user_id == null || audience.has(user_id))
        .map(({ heard }) => toWire(heard)),
      next: world.heard.end
    })
    const wait: Effect.Effect<void> = Effect.suspend(() =>
      take().heard.length > 0 ? Effect.void : Effect.andThen(world.heard.arrival, wait)
    )
    const waiting = Effect.clockWith((clock) =>
      Effect.provideService(Effect.timeoutOption(wait, wait_ms ?? 0), Clock.Clock, wall(clock))
    )
    return Effect.andThen(wait_ms ? waiting : Effect.void, Effect.sync(take))
  }),
  on(declarations.requests, ({ from }, { world }) =>
    Effect.sync(() => ({
      requests: world.exchanges.from(from ?? 0).map(toJournaled),
      next: world.exchanges.end
    }))
  ),
  on(declarations.deliveries, (_, { world }) =>
    Effect.sync(() => ({ deliveries: world.deliveries.from(0).map(toDelivered) }))
  ),
  on(declarations.setFaults, ({ rules }, { world }) =>
    Effect.map(Effect.forEach(rules, arm), (faults) => {
      world.faults = faults
      return done
    })
  ),
  on(declarations.time, () => tellTime),
  on(declarations.clock, ({ advance_ms }) =>
    Effect.clockWith((clock) =>
      isMovable(clock)
        ? Effect.andThen(clock.adjust(advance_ms), tellTime)
        : Effect.fail(
            new refusal.Refusal({
              status: 409,
              body: { code: "clock.real", message: "Time cannot be moved: start the emulator with --virtual-time" }
            })
          )
    )
  )
]
