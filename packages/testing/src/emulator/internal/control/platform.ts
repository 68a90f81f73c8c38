import * as Endpoints from "@colloquy/core/endpoints/Endpoints"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Rule } from "../../Faults.ts"
import * as refusal from "../http/refusal.ts"
import { describe } from "../http/requestReader.ts"
import { botOf, type Handlers, success, chatOf, messageOf } from "./call.ts"
import { toLimits, toWaiting } from "./stateView.ts"
import { toDeliveryView, toSeenView, toRequestView } from "./views.ts"
import { allowComments, closeChat } from "../platform/chats.ts"
import { reset } from "../platform/context.ts"
import { setFaults } from "../platform/faults.ts"
import { now } from "../platform/state.ts"
import { deliverUpdate } from "../platform/updates.ts"
import { defined } from "../platform/validation.ts"
import { toMessage } from "../platform/views.ts"
import { wallClock } from "./wallClock.ts"

// A misspelled field would make a rule match too much.
const readRules = Schema.decodeUnknownEffect(Schema.Struct({ rules: Schema.Array(Rule) }), {
  errors: "all",
  onExcessProperty: "error"
})

/** Changes the found entity. */
const doWith = <A>(found: refusal.Refusable<A>, change: (value: A) => unknown) =>
  Effect.map(found, (value) => {
    change(value)
    return success
  })

/** Calls that read and change the state, the clock, the faults and the webhooks of the platform. */
export const platformHandlers = {
  health: () => Effect.succeed({ status: "ready" as const }),
  reset: (_, context) => Effect.as(reset(context), success),
  openapi: (_, { headers: { host } }) =>
    // Most runs do not need this module.
    Effect.map(
      Effect.promise(() => import("@colloquy/core/tools/OpenApi")),
      ({ fromEndpoints }): unknown => fromEndpoints(Endpoints.all, host === undefined ? {} : { url: `http://${host}` })
    ),
  listBots: (_, { state }) =>
    Effect.sync(() => ({ bots: [...state.bots.values()].map(({ user, token }) => ({ token, user: user.profile })) })),
  listMessages: ({ chat_id, count }, control) =>
    Effect.map(chatOf(control, chat_id), (chat) => {
      const messages = count == null ? chat.messages : chat.messages.slice(-count || Infinity)
      const counts = messages.map(({ comments, mid }) => [mid, comments.length] as const)
      return {
        messages: messages.map((message) => toMessage(control.state, message)),
        removed: [...control.state.removedMessages.values()]
          .filter((each) => each.chat === chat)
          .map(({ value }) => value),
        comment_counts: Object.fromEntries(counts.filter(([, count]) => count > 0))
      }
    }),
  listComments: ({ message_id }, control) =>
    Effect.map(messageOf(control, message_id), ({ comments }) => ({ comments: comments.map(({ value }) => value) })),
  revokeToken: ({ as, bot_id }, control) =>
    doWith(botOf(control, { bot_id }), ({ token }) => control.state.revokedTokens.set(token, as ?? "revoked")),
  closeChat: ({ chat_id }, control) => doWith(chatOf(control, chat_id), (chat) => closeChat(control.state, chat)),
  allowComments: ({ allowed, chat_id }, control) =>
    doWith(chatOf(control, chat_id), (chat) => allowComments(control.state, chat, allowed)),
  deliverUpdate: ({ update, ...toBot }, control) =>
    doWith(botOf(control, toBot), (bot) => deliverUpdate(control.state, bot, { update_type: "unknown", raw: update })),
  listUpdates: (toBot, control) =>
    Effect.map(botOf(control, toBot), ({ updates }) => ({ updates: updates.from(0).map(({ update }) => update) })),
  listSeen: ({ chat_id, from, user_id, wait_ms }, { state }) => {
    const take = () => ({
      seen: state.seen
        .from(from ?? 0)
        .filter(({ event }) => chat_id == null || event.chat_id === chat_id)
        .filter(({ audience }) => user_id == null || audience.has(user_id))
        .map(({ event }) => toSeenView(event)),
      next: state.seen.end
    })
    const wait: Effect.Effect<void> = Effect.suspend(() =>
      take().seen.length > 0 ? Effect.void : Effect.andThen(state.seen.arrival, wait)
    )
    const waiting = Effect.updateService(Effect.timeoutOption(wait, wait_ms ?? 0), Clock.Clock, wallClock)
    return Effect.andThen(wait_ms ? waiting : Effect.void, Effect.sync(take))
  },
  listRequests: ({ count, from }, { state }) =>
    Effect.sync(() => ({
      requests: state.exchanges
        .from(from ?? 0)
        .slice(0, count ?? Infinity)
        .map(toRequestView),
      next: state.exchanges.end
    })),
  listDeliveries: (_, { state }) =>
    Effect.sync(() => ({ deliveries: state.deliveries.from(0).map(toDeliveryView), waiting: toWaiting(state) })),
  deliverNow: ({ delivery_id }, { state }) =>
    doWith(
      refusal.found(state.waiting.get(delivery_id), () => refusal.notFound(`A delivery ${delivery_id} that waits`)),
      (waiting) => waiting.start()
    ),
  getLimits: (_, { limiter, state }) => Effect.sync(() => toLimits(limiter, now(state))),
  listFaults: (_, { state }) =>
    Effect.sync(() => ({
      faults: state.faults.map(({ applied, isOver, matched, rule }) => ({
        rule,
        matched,
        applied,
        ...(isOver() ? { is_over: true as const } : {})
      }))
    })),
  setFaults: (request, { state }) =>
    readRules(request).pipe(
      Effect.mapError((error) => refusal.invalidPayload(describe(error))),
      Effect.flatMap(({ rules }) => Effect.as(setFaults(state, rules), success))
    ),
  getWebhooks: (_, { webhooks }) => Effect.sync(() => webhooks.secrets),
  setWebhooks: (given, { webhooks }) =>
    Effect.sync(() => {
      webhooks.secrets = { ...webhooks.secrets, ...defined(given) }
      return webhooks.secrets
    })
} satisfies Partial<Handlers>
