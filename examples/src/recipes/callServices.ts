import { Bot, Command, Journal, Messages } from "@colloquy/core"
import { Config, Effect, Schedule, Schema } from "effect"
import { HttpClient, HttpClientRequest, HttpClientResponse } from "effect/http"

const Order = Schema.Struct({ number: Schema.Int })

/** Places an order. The shop recognizes a repeated request by its key. */
const placeOrder = (product: string, key: string) =>
  Effect.gen(function* () {
    const request = HttpClientRequest.post(`${yield* Config.String("SHOP_URL")}/orders`).pipe(
      HttpClientRequest.setHeader("idempotency-key", key),
      HttpClientRequest.bodyJsonUnsafe({ product })
    )
    const client = HttpClient.filterStatusOk(yield* HttpClient.HttpClient)
    return yield* Effect.flatMap(client.execute(request), HttpClientResponse.schemaBodyJson(Order))
  }).pipe(Effect.timeout("5 seconds"), Effect.retry({ schedule: Schedule.exponential("200 millis"), times: 3 }))

const order = Command.make("order", { arguments: { product: Schema.String } }).on((update, { product }) =>
  Effect.gen(function* () {
    // The result is recorded: an attempt after a failure does not place the order again.
    const { number } = yield* Journal.step(
      "order",
      Order,
      Effect.flatMap(Journal.key, (key) => placeOrder(product, key))
    )
    yield* Messages.reply(update, `Your order has the number ${number}.`)
  })
)

export const bot = Bot.run(order)
