import type * as Updates from "@colloquy/core/Updates"
import * as Effect from "effect/Effect"
import { poll } from "../platform/polling.ts"
import { methodNotAllowed } from "../http/refusal.ts"
import type { Handlers } from "./handler.ts"

const whileSubscribed = () => methodNotAllowed("Long polling does not work while a webhook is subscribed")

export const updates: Handlers<typeof Updates> = {
  list: (request, call) =>
    Effect.suspend(() =>
      call.bot.subscriptions.size > 0
        ? whileSubscribed()
        : Effect.raceFirst(poll(call, request), Effect.flatMap(call.bot.subscribed.arrival, whileSubscribed))
    )
}
