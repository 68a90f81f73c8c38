import type * as Subscriptions from "@colloquy/core/endpoints/Subscriptions"
import * as Effect from "effect/Effect"
import { rejected } from "../http/refusal.ts"
import { defined } from "../platform/validation.ts"
import { checkSecret, checkUrl, subscribe, unsubscribe } from "../webhook/subscriptions.ts"
import type { Handlers } from "./call.ts"

export const subscriptions: Handlers<typeof Subscriptions> = {
  list: (_, { bot }) =>
    Effect.sync(() =>
      [...bot.subscriptions.values()].map(({ time, update_types, url }) => ({
        url,
        time,
        ...defined({ update_types })
      }))
    ),

  subscribe: (request, { bot, context }) =>
    checkUrl(request.url, context.webhooks.allowsInsecure).pipe(
      Effect.andThen(checkSecret(request.secret, context.webhooks.secrets)),
      Effect.andThen(subscribe(context, bot, request))
    ),

  unsubscribe: ({ url }, { bot, context }) =>
    Effect.flatMap(unsubscribe(context, bot, url), (wasSubscribed) =>
      wasSubscribed ? Effect.void : rejected(`Nothing is subscribed at ${url}`)
    )
}
