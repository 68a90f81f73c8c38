import * as Endpoints from "@colloquy/core/Endpoints"
import * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { hasProperty } from "effect/Predicate"
import * as Schema from "effect/Schema"
import { Rule } from "../../Faults.ts"
import * as refusal from "../http/refusal.ts"
import { describe } from "../http/requestReader.ts"
import { botOf, done, type Handled, on, chatOf } from "./call.ts"
import * as declarations from "./declarations.ts"
import { toWire } from "./heard.ts"
import { toDelivered, toJournaled } from "./journal.ts"
import { closeChat } from "../platform/chats.ts"
import { reset } from "../platform/context.ts"
import { setFaults } from "../platform/faults.ts"
import { now } from "../platform/state.ts"
import { deliverUpdate } from "../platform/updates.ts"
import { toMessage } from "../platform/views.ts"
import type { WebhookRuntime } from "../webhook/runtime.ts"

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

const toWebhookSettings = ({ secrets }: WebhookRuntime) => ({
  secret_header: secrets.header,
  secret_characters: secrets.characters
})

/** What stands on the platform, and what governs it. */
export const platform: ReadonlyArray<Handled> = [
  on(declarations.health, () => Effect.succeed({ status: "ready" as const })),
  on(declarations.reset, (_, context) => Effect.as(reset(context), done)),
  on(declarations.openapi, (_, { host }) =>
    // Only who asks for the document pays for making it.
    Effect.map(
      Effect.promise(() => import("@colloquy/core/OpenApi")),
      ({ fromEndpoints }): unknown => fromEndpoints(Endpoints.all, host === undefined ? {} : { url: `http://${host}` })
    )
  ),
  on(declarations.bots, (_, { state }) =>
    Effect.sync(() => ({ bots: [...state.bots.values()].map(({ user, token }) => ({ token, user: user.profile })) }))
  ),
  on(declarations.listMessages, ({ chat_id }, control) =>
    Effect.map(chatOf(control, chat_id), ({ messages }) => ({
      messages: messages.map((message) => toMessage(control.state, message))
    }))
  ),
  on(declarations.listComments, ({ message_id }, { state }) =>
    Effect.suspend(() => {
      const message = state.messages.get(message_id)
      return message === undefined
        ? Effect.fail(refusal.messageNotFound(message_id))
        : Effect.succeed({ comments: message.comments.map(({ value: comment }) => comment) })
    })
  ),
  on(declarations.revoke, ({ as, bot_id }, control) =>
    Effect.map(botOf(control, { bot_id }), ({ token }) => {
      control.state.revokedTokens.set(token, as ?? "revoked")
      return done
    })
  ),
  on(declarations.closeChat, ({ chat_id }, control) =>
    Effect.map(chatOf(control, chat_id), (chat) => {
      closeChat(control.state, chat)
      return done
    })
  ),
  on(declarations.allowComments, ({ allowed, chat_id }, control) =>
    Effect.map(chatOf(control, chat_id), (chat) => {
      chat.hasComments = allowed
      return done
    })
  ),
  on(declarations.events, ({ update, ...toBot }, control) =>
    Effect.map(botOf(control, toBot), (bot) => {
      deliverUpdate(control.state, bot, { update_type: "unknown", raw: update })
      return done
    })
  ),
  on(declarations.listUpdates, (toBot, control) =>
    Effect.map(botOf(control, toBot), ({ updates }) => ({ updates: updates.from(0).map(({ update }) => update) }))
  ),
  on(declarations.heard, ({ chat_id, from, user_id, wait_ms }, { state }) => {
    const take = () => ({
      heard: state.events
        .from(from ?? 0)
        .filter(({ event: heard }) => chat_id == null || heard.chat_id === chat_id)
        .filter(({ audience }) => user_id == null || audience.has(user_id))
        .map(({ event: heard }) => toWire(heard)),
      next: state.events.end
    })
    const wait: Effect.Effect<void> = Effect.suspend(() =>
      take().heard.length > 0 ? Effect.void : Effect.andThen(state.events.arrival, wait)
    )
    const waiting = Effect.clockWith((clock) =>
      Effect.provideService(Effect.timeoutOption(wait, wait_ms ?? 0), Clock.Clock, wall(clock))
    )
    return Effect.andThen(wait_ms ? waiting : Effect.void, Effect.sync(take))
  }),
  on(declarations.requests, ({ from }, { state }) =>
    Effect.sync(() => ({
      requests: state.exchanges.from(from ?? 0).map(toJournaled),
      next: state.exchanges.end
    }))
  ),
  on(declarations.deliveries, (_, { state }) =>
    Effect.sync(() => ({ deliveries: state.deliveries.from(0).map(toDelivered) }))
  ),
  on(declarations.listFaults, (_, { state }) =>
    Effect.sync(() => ({ faults: state.faults.map(({ matched, rule, applied }) => ({ rule, matched, applied })) }))
  ),
  on(declarations.setFaults, (request, { state }) =>
    readRules(request).pipe(
      Effect.mapError((error) => refusal.invalidPayload(describe(error))),
      Effect.flatMap(({ rules }) => Effect.as(setFaults(state, rules), done))
    )
  ),
  on(declarations.webhooks, (_, { webhooks }) => Effect.sync(() => toWebhookSettings(webhooks))),
  on(declarations.setWebhooks, ({ secret_characters, secret_header }, { webhooks }) =>
    Effect.sync(() => {
      const { characters, header } = webhooks.secrets
      webhooks.secrets = { header: secret_header ?? header, characters: secret_characters ?? characters }
      return toWebhookSettings(webhooks)
    })
  ),
  on(declarations.time, () => tellTime),
  on(declarations.clock, ({ advance_ms }, { state }) =>
    Effect.clockWith((clock) => {
      if (!isMovable(clock)) return Effect.fail(realClock)
      return now(state) + advance_ms > lastMoment
        ? Effect.fail(refusal.invalidPayload(`advance_ms: time goes no further than ${lastMoment}`))
        : Effect.andThen(clock.adjust(advance_ms), tellTime)
    })
  )
]
