/** The provider of payments of the examples. The layer of a bot in production calls the API of a provider. */
import { Journal } from "@colloquy/core"
import { Context, Data, Effect, Layer } from "effect"

export interface Payment {
  /** A payment with a key that was used before is not carried out again. */
  readonly key: string
  readonly amount: number
}

export class Declined extends Data.TaggedError("Declined")<{}> {}

export class Payments extends Context.Service<
  Payments,
  {
    /** Charges an amount, and returns the number of the payment. */
    readonly charge: (payment: Payment) => Effect.Effect<number, Declined>
    /** All payments, in the order of their numbers. */
    readonly list: Effect.Effect<ReadonlyArray<Payment>>
  }
>()("Payments") {}

/**
 * Charges an amount, as the effect of a step: the key is the same when the step runs again. Returns the number of the payment, or `null`
 * for a declined payment, which another attempt does not change.
 */
export const charge = (amount: number) =>
  Effect.flatMap(Journal.key, (key) => Payments.use(({ charge }) => charge({ key, amount }))).pipe(
    Effect.catchTag("Declined", () => Effect.succeed(null))
  )

const limit = 20

/** Keeps the payments in memory, and declines amounts of more than 20. */
export const makeMemory = (): Payments["Service"] => {
  const payments = new Map<string, Payment>()
  return {
    charge: (payment) =>
      Effect.suspend(() => {
        if (payment.amount > limit) return new Declined()
        if (!payments.has(payment.key)) payments.set(payment.key, payment)
        return Effect.succeed([...payments.keys()].indexOf(payment.key) + 1001)
      }),
    list: Effect.sync(() => [...payments.values()])
  }
}

export const layerMemory = Layer.sync(Payments, makeMemory)
