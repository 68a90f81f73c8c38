import { costsOf } from "./child.ts"
import type { Measured } from "./figure.ts"
import * as places from "./inbox/places.ts"
import { option } from "./options.ts"

/** How long a call of a store keeps the event loop busy, at most. */
export const storeStall = async (): Promise<Measured> => {
  const count = option("stored", 100_000)
  const slowest: Array<{ readonly store: string; readonly call: string; readonly millis: number }> = []
  for (const store of ["memory", "sqlite", "postgres", "redis"] as const) {
    const costs = await places.withPlace(store, (place) =>
      costsOf(["storeCalls.ts", ...places.toArguments(place), String(count)])
    )
    const calls = Object.entries(costs).map(([call, [millis]]) => ({ store, call, millis: millis! }))
    slowest.push(calls.reduce((a, b) => (b.millis > a.millis ? b : a)))
  }
  return {
    value: Math.max(...slowest.map(({ millis }) => millis)),
    detail: slowest.map(({ call, millis, store }) => `${store} ${call} ${millis.toFixed(1)} ms`).join(", ")
  }
}
