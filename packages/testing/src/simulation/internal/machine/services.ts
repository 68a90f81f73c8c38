/** The services of a process of the bot. */
import * as BotApi from "@colloquy/core/client/BotApi"
import { BroadcastStore } from "@colloquy/core/broadcast/BroadcastStore"
import * as Inbox from "@colloquy/core/inbox/Inbox"
import { InboxStore } from "@colloquy/core/inbox/InboxStore"
import * as LongPolling from "@colloquy/core/inbox/LongPolling"
import * as RateLimiter from "@colloquy/core/client/RateLimiter"
import { RateLimiterStore } from "@colloquy/core/client/RateLimiterStore"
import * as Webhook from "@colloquy/core/inbox/Webhook"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { HttpClient } from "effect/http"
import * as Layer from "effect/Layer"
import type { Process } from "../world/process.ts"
import type { Database } from "./database.ts"
import type { MachinePlan } from "./machine.ts"
import { apiOptions, type Platform, webhookSecret, webhookUrl } from "./platform.ts"

const limiterOf = ({ limits }: MachinePlan, database: Database, process: Process) =>
  limits === "shared"
    ? Layer.provide(RateLimiter.layer(), Layer.succeed(RateLimiterStore, database.permitsOf(process)))
    : RateLimiter.layerMemory(limits === "none" ? RateLimiter.unlimited : RateLimiter.defaults)

/** The client, the inbox and the source of a process, which reach the platform and the store through the network. */
export const servicesOf = (
  {
    database,
    plan,
    platform
  }: { readonly plan: MachinePlan; readonly platform: Platform; readonly database: Database },
  process: Process,
  context: Context.Context<never>
) => {
  const http = Layer.succeed(HttpClient.HttpClient, platform.clientOf(process))
  const limiter = limiterOf(plan, database, process)
  const api = BotApi.layer(apiOptions).pipe(Layer.provideMerge(limiter), Layer.provideMerge(http))
  const inbox = Inbox.layer({ leaseDuration: plan.leaseDuration * 1000 }).pipe(
    Layer.provide(Layer.succeed(InboxStore, database.storeOf(process)))
  )
  const base = Layer.mergeAll(api, inbox, Layer.succeed(BroadcastStore, database.broadcastsOf(process)))
  if (plan.delivery === "polling") return Layer.provideMerge(LongPolling.layer({ limit: plan.pageLimit }), base)
  const listen = Effect.gen(function* () {
    const webhook = yield* Webhook.Webhook
    const listener = { process, webhook, context }
    yield* Effect.acquireRelease(
      Effect.sync(() => platform.listeners.push(listener)),
      () => Effect.sync(() => platform.listeners.splice(platform.listeners.indexOf(listener), 1))
    )
  })
  const webhook = Webhook.layer({ url: webhookUrl, secret: webhookSecret, checkEvery: plan.checkEvery })
  return Layer.effectDiscard(listen).pipe(Layer.provideMerge(webhook), Layer.provideMerge(base))
}
