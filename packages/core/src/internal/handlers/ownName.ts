import * as Effect from "effect/Effect"
import type * as ApiError from "../../ApiError.ts"
import { BotApi } from "../../BotApi.ts"
import * as Me from "../../Me.ts"

const names = new WeakMap<BotApi["Service"], string>()

const nameOf = (api: BotApi["Service"]) => {
  const known = names.get(api)
  if (known !== undefined) return Effect.succeed(known)
  return Me.get().pipe(
    Effect.map(({ username }) => (username ?? "").toLowerCase()),
    Effect.tap((name) => Effect.sync(() => names.set(api, name)))
  )
}

/** Whether this is the bot's own username. The platform is asked for it once for each client, and not before. */
export const isOwnName = (name: string): Effect.Effect<boolean, ApiError.Common, BotApi> =>
  BotApi.use((api) => Effect.map(nameOf(api), (own) => own === name.toLowerCase()))
