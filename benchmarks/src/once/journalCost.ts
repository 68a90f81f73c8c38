import { costsOf } from "../child.ts"
import { compare, type Measured } from "../figure.ts"

/** CPU time of a handler that sends, over the same without a journal. */
export const journalCost = async (): Promise<Measured> => {
  const costs = await costsOf(["once/costs.ts", "sends"], "--expose-gc")
  return compare(
    { name: "with the journal", costs: costs["ours"] },
    { name: "without", costs: costs["theirs"] },
    "us CPU"
  )
}

/** CPU time of a handler that does nothing, over the same on a store that keeps nothing for the handling of updates. */
export const silentCost = async (): Promise<Measured> => {
  const costs = await costsOf(["once/costs.ts", "silent"], "--expose-gc")
  return compare(
    { name: "with journals, state and timers", costs: costs["ours"] },
    { name: "without", costs: costs["theirs"] },
    "us CPU"
  )
}
