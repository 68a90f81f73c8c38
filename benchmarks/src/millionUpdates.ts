/**
 * Prints the resident memory in bytes before and after a million updates, and the live memory at the end: `webhook` receives
 * and handles them, `bare` only parses their JSON. The first measurement follows a warm-up that fills the deduplication
 * window and lets V8 size its heap. Requires `--expose-gc`, for the live memory alone.
 */
import { Bot, Inbox, Webhook } from "@colloquy/core"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import { setTimeout } from "node:timers/promises"
import { printCosts } from "./child.ts"
import { delivery, secret } from "./deliveries.ts"
import { layerSource } from "./inbox/traffic.ts"

const updates = 1_000_000
const warmUp = 300_000
const atOnce = 500

/** Runs up to the warm-up, and then up to the end. */
const growthOf = async (upTo: (count: number) => Promise<void>) => {
  await upTo(warmUp)
  const before = process.memoryUsage.rss()
  await upTo(warmUp + updates)
  const after = process.memoryUsage.rss()
  // What has a finalizer is freed by the second collection.
  gc!()
  gc!()
  const { external, heapUsed } = process.memoryUsage()
  return { before: [before], after: [after], live: [heapUsed + external] }
}

const url = "https://bot.example/updates"

const request: Webhook.WebhookRequest = {
  method: "POST",
  url,
  header: (name) => (name === "x-svc-bot-api-secret" ? secret : undefined)
}

let handled = 0
const handle = Effect.sync(() => {
  handled++
})

const webhook = Layer.merge(
  Webhook.layerReceiver({ url, secret }),
  layerSource(() => Effect.never)
).pipe(Layer.provide(Inbox.layerMemory()))

const growth = Effect.gen(function* () {
  const receiver = yield* Webhook.Webhook
  const running = yield* Effect.forkChild(Bot.run(() => handle))
  let sent = 0
  const send = Effect.suspend(() =>
    receiver.handle({ ...request, body: Effect.succeed(Buffer.from(delivery(sent++))) })
  )
  const some = Effect.andThen(
    Effect.forEach(Array.from({ length: atOnce }), () => send, { discard: true }),
    Effect.repeat(Effect.sleep("1 millis"), { while: () => handled < sent })
  )
  const upTo = (count: number) => Effect.repeat(some, { while: () => sent < count })
  const measured = yield* Effect.promise(() => growthOf((count) => Effect.runPromise(upTo(count))))
  yield* Fiber.interrupt(running)
  return measured
})

const parse = async () => {
  let sent = 0
  return growthOf(async (count) => {
    while (sent < count) {
      for (let index = 0; index < atOnce; index++) JSON.parse(Buffer.from(delivery(sent++)).toString())
      await setTimeout(1)
    }
  })
}

printCosts(process.argv[2] === "bare" ? await parse() : await Effect.runPromise(Effect.provide(growth, webhook)))
