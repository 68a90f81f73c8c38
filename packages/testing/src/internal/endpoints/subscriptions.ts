import type * as Subscriptions from "@colloquy/core/Subscriptions"
import * as Effect from "effect/Effect"
import { rejected } from "../http/refusal.ts"
import { checkUrl, subscribe, unsubscribe } from "../webhook/subscriptions.ts"
import type { Handlers } from "./handler.ts"

export const subscriptions: Handlers<typeof Subscriptions> = {
  list: (_, { bot }) =>
    Effect.sync(() =>
      [...bot.subscriptions.values()].map(({ time, update_types, url }) => ({
        url,
        time,
        ...(update_types === undefined ? {} : { update_types })
      }))
    ),

  subscribe: (request, { bot, state }) =>
    Effect.andThen(checkUrl(request.url, state.webhooks.allowsInsecure), subscribe(state, bot, request)),

  unsubscribe: ({ url }, { bot, state }) =>
    Effect.flatMap(unsubscribe(state, bot, url), (wasSubscribed) =>
      wasSubscribed ? Effect.void : rejected(`Nothing is subscribed at ${url}`)
    )
}
