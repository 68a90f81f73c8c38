/**
 * Prints the resident memory in bytes before and after a million updates are received by the webhook and handled. The
 * first measurement follows a warm-up that fills the deduplication window and lets V8 size its heap.
 */
import { Inbox, Updates, Webhook, type WebhookRequest } from "@colloquy/core"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import { printCosts } from "./child.ts"
import { delivery, secret } from "./deliveries.ts"

const updates = 1_000_000
const warmUp = 300_000
const atOnce = 500

const url = "https://bot.example/updates"

const request: WebhookRequest.WebhookRequest = {
  method: "POST",
  url,
  header: (name) => (name === "x-svc-bot-api-secret" ? secret : undefined)
}

let handled = 0
const handle = Effect.sync(() => {
  handled++
})

const source = Layer.effect(
  Updates.Updates,
  Inbox.Inbox.use((inbox) => Effect.succeed(Updates.Updates.of({ inbox, source: Effect.never })))
)

const webhook = Layer.merge(Webhook.layerReceiver({ url, secret }), source).pipe(Layer.provide(Inbox.layerMemory()))

const growth = Effect.gen(function* () {
  const receiver = yield* Webhook.Webhook
  const running = yield* Effect.forkChild(Updates.run(() => handle))
  let sent = 0
  const send = Effect.suspend(() =>
    receiver.handle({ ...request, body: Effect.succeed(Buffer.from(delivery(sent++))) })
  )
  const some = Effect.andThen(
    Effect.forEach(Array.from({ length: atOnce }), () => send, { discard: true }),
    Effect.repeat(Effect.sleep("1 millis"), { while: () => handled < sent })
  )
  const upTo = (count: number) => Effect.repeat(some, { while: () => sent < count })
  yield* upTo(warmUp)
  const before = process.memoryUsage.rss()
  yield* upTo(warmUp + updates)
  const after = process.memoryUsage.rss()
  yield* Fiber.interrupt(running)
  return { before: [before], after: [after] }
})

printCosts(await Effect.runPromise(Effect.provide(growth, webhook)))
