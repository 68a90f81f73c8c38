import type * as Subscriptions from "@colloquy/core/Subscriptions"
import * as Effect from "effect/Effect"
import { rejected } from "../refusal.ts"
import type { Handlers } from "./handler.ts"

export const subscriptions: Handlers<typeof Subscriptions> = {
  list: (_, { bot }) =>
    Effect.sync(() => [...bot.subscriptions.values()].map(({ secret: _, ...subscription }) => subscription)),

  subscribe: ({ secret, update_types, url }, { bot, world }) =>
    Effect.sync(() => {
      const types = update_types === undefined ? {} : { update_types }
      bot.subscriptions.set(url, { url, time: world.now, ...types, secret })
    }),

  unsubscribe: ({ url }, { bot }) =>
    Effect.suspend(() => (bot.subscriptions.delete(url) ? Effect.void : rejected(`Nothing is subscribed at ${url}`)))
}
