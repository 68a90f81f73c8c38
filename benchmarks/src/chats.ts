import { costsOf } from "./child.ts"
import { compare, type Measured } from "./figure.ts"
import * as places from "./inbox/places.ts"
import { option } from "./options.ts"

const growthOf = (store: places.Store) =>
  places.withPlace(store, async (place) => {
    await costsOf(["storedChats.ts", "fill", ...places.toArguments(place)])
    const { growth } = await costsOf(["storedChats.ts", "stream", ...places.toArguments(place)])
    return { store, growth: growth[0] }
  })

/** Memory growth of a process while it streams 200,000 chats. The store with the highest growth counts. */
export const streamGrowth = async (): Promise<Measured> => {
  const growths = []
  for (const store of ["sqlite", "postgres", "redis"] as const) growths.push(await growthOf(store))
  return {
    value: Math.max(...growths.map(({ growth }) => growth)),
    detail: growths.map(({ store, growth }) => `${store} ${growth.toFixed(0)} MB`).join(", ")
  }
}

/** Updates per second that are tracked in SQLite, over node:sqlite: the lower ratio of the two ways. */
export const trackOverBare = async (): Promise<Measured> => {
  const { bare, ...ways } = await costsOf("trackedChats.ts")
  const measured = Object.entries(ways).map(([way, costs]) =>
    // The figure is a ratio of rates, so the costs are passed in reverse order.
    compare({ name: "node:sqlite", costs: bare }, { name: way, costs }, "us")
  )
  return {
    value: Math.min(...measured.map(({ value }) => value)),
    detail: measured.map(({ detail, value }) => `${value.toFixed(2)} (${detail})`).join(", ")
  }
}

/** How long a call of a store keeps the event loop busy, at most. */
export const storeStall = async (): Promise<Measured> => {
  const count = String(option("stored", 100_000))
  const slowest: Array<{ readonly store: string; readonly call: string; readonly millis: number }> = []
  for (const store of ["memory", "sqlite", "postgres", "redis"] as const) {
    const costs = await places.withPlace(store, (place) =>
      costsOf(["storeCalls.ts", ...places.toArguments(place), count])
    )
    const calls = Object.entries(costs).map(([call, [millis]]) => ({ store, call, millis: millis! }))
    slowest.push(calls.reduce((a, b) => (b.millis > a.millis ? b : a)))
  }
  return {
    value: Math.max(...slowest.map(({ millis }) => millis)),
    detail: slowest.map(({ call, millis, store }) => `${store} ${call} ${millis.toFixed(1)} ms`).join(", ")
  }
}
