import * as Endpoints from "@colloquy/core/Endpoints"
import * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { hasProperty } from "effect/Predicate"
import * as Schema from "effect/Schema"
import { Rule } from "../../Faults.ts"
import * as refusal from "../http/refusal.ts"
import { describe } from "../http/requestReader.ts"
import { botOf, success, type Route, on, chatOf } from "./call.ts"
import * as declarations from "./declarations.ts"
import { toDeliveryView, toEventView, toRequestView } from "./views.ts"
import { closeChat } from "../platform/chats.ts"
import { reset } from "../platform/context.ts"
import { setFaults } from "../platform/faults.ts"
import { now } from "../platform/state.ts"
import { deliverUpdate } from "../platform/updates.ts"
import { toMessage } from "../platform/views.ts"
import type { WebhookRuntime } from "../webhook/runtime.ts"

/** A clock that only moves when it is adjusted, such as the test clock. */
interface AdjustableClock {
  readonly adjust: (duration: Duration.Input) => Effect.Effect<void>
}

const isAdjustable = (clock: unknown): clock is AdjustableClock => hasProperty(clock, "adjust")

/** The system clock. A caller waits in real time, even if the emulator runs in virtual time. */
const wallClock = (clock: Clock.Clock): Clock.Clock =>
  hasProperty(clock, "system") ? (clock.system as Clock.Clock) : clock

const readClock = Effect.clockWith((clock) =>
  Effect.sync(() => ({ now: Math.floor(clock.currentTimeMillisUnsafe()), is_virtual: isAdjustable(clock) }))
)

const notVirtual = new refusal.Refusal({
  status: 409,
  body: { code: "clock.real", message: "Time cannot be moved: start the emulator with --virtual-time" }
})

/** Beyond this time, the `seq` of a message would need more than 63 bits. */
const maxTime = 2 ** 47 - 1

// A misspelled field would make a rule match too much.
const readRules = Schema.decodeUnknownEffect(Schema.Struct({ rules: Schema.Array(Rule) }), {
  errors: "all",
  onExcessProperty: "error"
})

const toWebhookSettings = ({ secrets }: WebhookRuntime) => ({
  secret_header: secrets.header,
  secret_characters: secrets.characters
})

/** Calls that read and change the state, the clock, the faults and the webhooks of the platform. */
export const platformRoutes: ReadonlyArray<Route> = [
  on(declarations.health, () => Effect.succeed({ status: "ready" as const })),
  on(declarations.reset, (_, context) => Effect.as(reset(context), success)),
  on(declarations.openapi, (_, { host }) =>
    // Loaded on demand, because most runs do not need it.
    Effect.map(
      Effect.promise(() => import("@colloquy/core/OpenApi")),
      ({ fromEndpoints }): unknown => fromEndpoints(Endpoints.all, host === undefined ? {} : { url: `http://${host}` })
    )
  ),
  on(declarations.listBots, (_, { state }) =>
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
  on(declarations.revokeToken, ({ as, bot_id }, control) =>
    Effect.map(botOf(control, { bot_id }), ({ token }) => {
      control.state.revokedTokens.set(token, as ?? "revoked")
      return success
    })
  ),
  on(declarations.closeChat, ({ chat_id }, control) =>
    Effect.map(chatOf(control, chat_id), (chat) => {
      closeChat(control.state, chat)
      return success
    })
  ),
  on(declarations.allowComments, ({ allowed, chat_id }, control) =>
    Effect.map(chatOf(control, chat_id), (chat) => {
      chat.hasComments = allowed
      return success
    })
  ),
  on(declarations.deliverUpdate, ({ update, ...toBot }, control) =>
    Effect.map(botOf(control, toBot), (bot) => {
      deliverUpdate(control.state, bot, { update_type: "unknown", raw: update })
      return success
    })
  ),
  on(declarations.listUpdates, (toBot, control) =>
    Effect.map(botOf(control, toBot), ({ updates }) => ({ updates: updates.from(0).map(({ update }) => update) }))
  ),
  on(declarations.listEvents, ({ chat_id, from, user_id, wait_ms }, { state }) => {
    const take = () => ({
      events: state.events
        .from(from ?? 0)
        .filter(({ event }) => chat_id == null || event.chat_id === chat_id)
        .filter(({ audience }) => user_id == null || audience.has(user_id))
        .map(({ event }) => toEventView(event)),
      next: state.events.end
    })
    const wait: Effect.Effect<void> = Effect.suspend(() =>
      take().events.length > 0 ? Effect.void : Effect.andThen(state.events.arrival, wait)
    )
    const waiting = Effect.clockWith((clock) =>
      Effect.provideService(Effect.timeoutOption(wait, wait_ms ?? 0), Clock.Clock, wallClock(clock))
    )
    return Effect.andThen(wait_ms ? waiting : Effect.void, Effect.sync(take))
  }),
  on(declarations.listRequests, ({ from }, { state }) =>
    Effect.sync(() => ({
      requests: state.exchanges.from(from ?? 0).map(toRequestView),
      next: state.exchanges.end
    }))
  ),
  on(declarations.listDeliveries, (_, { state }) =>
    Effect.sync(() => ({ deliveries: state.deliveries.from(0).map(toDeliveryView) }))
  ),
  on(declarations.listFaults, (_, { state }) =>
    Effect.sync(() => ({ faults: state.faults.map(({ matched, rule, applied }) => ({ rule, matched, applied })) }))
  ),
  on(declarations.setFaults, (request, { state }) =>
    readRules(request).pipe(
      Effect.mapError((error) => refusal.invalidPayload(describe(error))),
      Effect.flatMap(({ rules }) => Effect.as(setFaults(state, rules), success))
    )
  ),
  on(declarations.getWebhooks, (_, { webhooks }) => Effect.sync(() => toWebhookSettings(webhooks))),
  on(declarations.setWebhooks, ({ secret_characters, secret_header }, { webhooks }) =>
    Effect.sync(() => {
      const { characters, header } = webhooks.secrets
      webhooks.secrets = { header: secret_header ?? header, characters: secret_characters ?? characters }
      return toWebhookSettings(webhooks)
    })
  ),
  on(declarations.getClock, () => readClock),
  on(declarations.advanceClock, ({ advance_ms }, { state }) =>
    Effect.clockWith((clock) => {
      if (!isAdjustable(clock)) return Effect.fail(notVirtual)
      return now(state) + advance_ms > maxTime
        ? Effect.fail(refusal.invalidPayload(`advance_ms: time goes no further than ${maxTime}`))
        : Effect.andThen(clock.adjust(advance_ms), readClock)
    })
  )
]
