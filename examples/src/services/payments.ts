/** The provider of payments of the examples. The layer of a bot in production calls the API of a provider. */
import { Journal } from "@colloquy/core"
import { Context, Effect, Layer } from "effect"

/**
 * Charges an amount, and returns the number of the payment, or `null` for a declined payment, which another attempt does not change. A
 * payment with a key that was used before is not carried out again.
 */
export class Payments extends Context.Service<
  Payments,
  { readonly charge: (amount: number, key: string) => Effect.Effect<number | null> }
>()("Payments") {}

/** Charges an amount, as the effect of a step: the key is the same when the step runs again. */
export const charge = (amount: number) =>
  Effect.flatMap(Journal.key, (key) => Payments.use(({ charge }) => charge(amount, key)))

/** Keeps the payments in memory, by their keys, and declines amounts of more than 20. */
export const makeMemory = (payments = new Map<string, number>()): Payments["Service"] => ({
  charge: (amount, key) =>
    Effect.sync(() => {
      if (amount > 20) return null
      if (!payments.has(key)) payments.set(key, amount)
      return [...payments.keys()].indexOf(key) + 1001
    })
})

export const layerMemory = Layer.sync(Payments, makeMemory)
