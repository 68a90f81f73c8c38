import { Subscriptions } from "@colloquy/core"
import { Emulator, type WebhookSender } from "@colloquy/testing"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"

export const url = "https://bot.example/updates"

export const second = 1000
export const hour = 3600 * second

/** The times of the retries after a failure at 0: each interval is 2.5 times the previous one. */
export const retries = [60, 210, 585, 1522.5, 3866.25, 9725.625, 24374.063].map((at) => Math.floor(at * second))

export const textOf = (update: unknown): string => {
  const { message, update_type } = update as {
    readonly update_type: string
    readonly message?: { readonly body: { readonly text: string } }
  }
  return message?.body.text ?? update_type
}

/** Creates a receiver that records the requests and answers with the given responses. */
export const makeReceiver = (answer: (text: string) => number | Effect.Effect<WebhookSender.Response> = () => 200) => {
  const received: Array<WebhookSender.Request> = []
  const receive: WebhookSender.Receiver = (request) => {
    received.push(request)
    const answered = answer(textOf(request.update))
    return typeof answered === "number" ? Effect.succeed({ status: answered }) : answered
  }
  return { received, receive, texts: () => received.map(({ update }) => textOf(update)) }
}

export const delayed = (latency: Duration.Input, status = 200) => Effect.delay(Effect.succeed({ status }), latency)

/** Executes the deliveries that are due now. */
export const deliverPending = TestClock.adjust("0 millis")

export const attempts = Effect.map(Emulator.deliveries, (deliveries) =>
  deliveries.map(({ at, attempt, failure, status }) => [attempt, at, status ?? failure])
)

export const subscriptions = Effect.map(Subscriptions.list(), (list) => list.map(({ url }) => url))

export const deliver = (text: string) => Emulator.deliver({ update_type: text, timestamp: 0 })
