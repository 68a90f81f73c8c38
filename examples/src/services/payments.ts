/** The provider of payments of the examples. The layer of a bot in production calls the API of a provider. */
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

export const charge = (payment: Payment) => Payments.use(({ charge }) => charge(payment))

const limit = 20

/** Keeps the payments in memory, and declines amounts of more than 20. */
export const layerMemory = Layer.sync(Payments, () => {
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
})
