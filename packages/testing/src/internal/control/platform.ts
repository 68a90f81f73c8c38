import * as Endpoints from "@colloquy/core/Endpoints"
import * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { hasProperty } from "effect/Predicate"
import * as Schema from "effect/Schema"
import { Rule } from "../../Faults.ts"
import { deliver } from "../platform/deliveries.ts"
import { setFaults } from "../platform/faults.ts"
import { closeRoom } from "../platform/rooms.ts"
import * as refusal from "../http/refusal.ts"
import { describe } from "../http/requestReader.ts"
import { present } from "../platform/views.ts"
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

const realClock = new refusal.Refusal({
  status: 409,
  body: { code: "clock.real", message: "Time cannot be moved: start the emulator with --virtual-time" }
})

/** Later than this, positions of messages would have more than 63 bits. */
const lastMoment = 2 ** 47 - 1

/** A rule that is misspelt would strike what it was not meant for. */
const readRules = Schema.decodeUnknownEffect(Schema.Struct({ rules: Schema.Array(Rule) }), {
  errors: "all",
  onExcessProperty: "error"
})

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
  on(declarations.openapi, (_, { host }) =>
    // Only who asks for the document pays for making it.
    Effect.map(
      Effect.promise(() => import("../../OpenApi.ts")),
      ({ fromEndpoints }): unknown => fromEndpoints(Endpoints.all, host === undefined ? {} : { url: `http://${host}` })
    )
  ),
  on(declarations.bots, (_, { world }) =>
    Effect.sync(() => ({ bots: [...world.bots.values()].map(({ account, token }) => ({ token, user: account.user })) }))
  ),
  on(declarations.listMessages, ({ chat_id }, control) =>
    Effect.map(roomOf(control, chat_id), ({ posts }) => ({
      messages: posts.map((post) => present(control.world, post))
    }))
  ),
  on(declarations.listComments, ({ message_id }, { world }) =>
    Effect.suspend(() => {
      const post = world.posts.get(message_id)
      return post === undefined
        ? Effect.fail(refusal.messageNotFound(message_id))
        : Effect.succeed({ comments: post.remarks.map(({ comment }) => comment) })
    })
  ),
  on(declarations.revoke, ({ as, bot_id }, control) =>
    Effect.map(botOf(control, { bot_id }), ({ token }) => {
      control.world.revoked.set(token, as ?? "revoked")
      return done
    })
  ),
  on(declarations.closeChat, ({ chat_id }, control) =>
    Effect.map(roomOf(control, chat_id), (room) => {
      closeRoom(control.world, room)
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
  on(declarations.listFaults, (_, { world }) =>
    Effect.sync(() => ({ faults: world.faults.map(({ matched, rule, struck }) => ({ rule, matched, struck })) }))
  ),
  on(declarations.setFaults, (request, { world }) =>
    readRules(request).pipe(
      Effect.mapError((error) => refusal.invalidPayload(describe(error))),
      Effect.flatMap(({ rules }) => Effect.as(setFaults(world, rules), done))
    )
  ),
  on(declarations.time, () => tellTime),
  on(declarations.clock, ({ advance_ms }, { world }) =>
    Effect.clockWith((clock) => {
      if (!isMovable(clock)) return Effect.fail(realClock)
      return world.now + advance_ms > lastMoment
        ? Effect.fail(refusal.invalidPayload(`advance_ms: time goes no further than ${lastMoment}`))
        : Effect.andThen(clock.adjust(advance_ms), tellTime)
    })
  )
]
