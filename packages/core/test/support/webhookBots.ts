/** Bots that receive the updates of the emulator by a webhook, without a network. */
import { Webhook } from "@colloquy/core"
import { Emulator, type WebhookSender } from "@colloquy/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { url } from "../../../testing/test/support/webhooks.ts"

export const secret = "a-secret-for-tests"

/** Passes a delivery of the emulator to the webhook, without a network. */
export const deliverTo: (webhook: Webhook.Webhook["Service"]) => WebhookSender.Receiver =
  (webhook) =>
  ({ body, headers, url }) =>
    webhook.handle({
      method: "POST",
      url,
      header: (name) => headers[name],
      body: Effect.succeed(new TextEncoder().encode(body))
    })

/** A webhook that receives deliveries before it subscribes, as a server does. */
export const webhook = (options: Partial<Webhook.Options> = {}) => {
  const given = { url, secret, ...options }
  const listening = Layer.effectDiscard(
    Webhook.Webhook.use((webhook) => Emulator.receive(given.url, deliverTo(webhook)))
  )
  return Webhook.layerSubscription(given).pipe(
    Layer.provideMerge(listening),
    Layer.provideMerge(Webhook.layerReceiver(given))
  )
}
