import type * as Updates from "@colloquy/core/Updates"
import * as Effect from "effect/Effect"
import { poll } from "../polling.ts"
import { methodNotAllowed } from "../refusal.ts"
import type { Handlers } from "./handler.ts"

export const updates: Handlers<typeof Updates> = {
  list: (request, { bot, world }) =>
    Effect.suspend(() =>
      bot.subscriptions.size > 0
        ? methodNotAllowed("Long polling does not work while a webhook is subscribed")
        : poll(world, bot, request)
    )
}
