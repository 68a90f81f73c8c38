import * as Effect from "effect/Effect"
import type { Interceptor } from "../../EmulatorHttp.ts"
import type { WebhookRuntime } from "../webhook/runtime.ts"
import { unsubscribe } from "../webhook/subscriptions.ts"
import type { Limiter } from "./limits.ts"
import * as platform from "./state.ts"

/** The state of the platform, with the webhooks, limits and interceptors that act on it. */
export interface EmulatorContext {
  readonly state: platform.PlatformState
  readonly webhooks: WebhookRuntime
  readonly limiter: Limiter | undefined
  readonly interceptors: Array<Interceptor>
  /** Whether requests with unknown fields are rejected. */
  readonly isStrict: boolean
  /** The module of the bot, which a test that is copied from the page imports. */
  readonly botModule: string | undefined
  /** The URL of the folder in which tests that are copied from the page are saved. */
  readonly testFolder: string | undefined
}

/** Ends the subscriptions, and resets the state, the limits and the settings of secrets. Interceptors stay until their scopes close. */
export const reset = Effect.fnUntraced(function* (context: EmulatorContext) {
  const { limiter, state } = context
  for (const bot of state.bots.values()) {
    for (const url of bot.subscriptions.keys()) yield* unsubscribe(context, bot, url)
  }
  platform.reset(state)
  limiter?.clear()
  context.webhooks.secrets = context.webhooks.initialSecrets
})
