import { type Costs, costsOf } from "../child.ts"
import { compare, lazily, type Measured, median } from "../figure.ts"
import * as places from "./places.ts"

const stores = ["memory", "sqlite", "postgres", "redis"] as const

/** All figures are of one run. */
const measureCosts = lazily(async () => {
  const measured: Array<{ readonly store: string; readonly costs: Costs }> = []
  for (const store of stores) {
    const costs = await places.withPlace(store, (place) =>
      costsOf(["inbox/streamRates.ts", ...places.toArguments(place)], "--expose-gc")
    )
    measured.push({ store, costs })
  }
  return measured
})

/** Updates per second through a stream with an operator, over `Bot.run`: the lowest ratio of all stores. */
export const overRun = async (name: "Stream.mapEffect" | "Deliveries.mapEffect"): Promise<Measured> => {
  const ratios = (await measureCosts()).map(({ costs, store }) => {
    const run = costs["Bot.run"]
    const stream = costs[name]
    return { store, run: median(run), ratio: median(run.map((cost, round) => cost / stream[round])) }
  })
  return {
    value: Math.min(...ratios.map(({ ratio }) => ratio)),
    detail: ratios.map(({ ratio, run, store }) => `${store} ${ratio.toFixed(2)} of ${run.toFixed(1)} us`).join(", ")
  }
}

/** Rows per second that a stream writes to PostgreSQL, each exactly once, over those of the smallest queue by hand. */
export const batchExactRate = async (): Promise<Measured> => {
  const { queue, stream } = await places.withPlace("postgres", (place) =>
    costsOf(["inbox/batchExact.ts", ...places.toArguments(place)])
  )
  // The figure is a ratio of rates, so the costs are passed in reverse order.
  return compare({ name: "queue", costs: queue }, { name: "stream", costs: stream }, "us per row")
}

/** CPU time of an update with a statement, over an update without: the higher ratio of SQLite and PostgreSQL. */
export const rowsCost = async (): Promise<Measured> => {
  const measured: Array<Measured> = []
  for (const store of ["sqlite", "postgres"] as const) {
    const { "with a statement": ours, without } = await costsOf(["inbox/rowsCost.ts", store], "--expose-gc")
    const { detail, value } = compare(
      { name: "with a statement", costs: ours },
      { name: "without", costs: without },
      "us CPU"
    )
    measured.push({ value, detail: `${store} ${value.toFixed(2)} (${detail})` })
  }
  return {
    value: Math.max(...measured.map(({ value }) => value)),
    detail: measured.map(({ detail }) => detail).join("; ")
  }
}

const cyclesOn = (store: places.Store) =>
  places.withPlace(store, (place) => costsOf(["inbox/cycleRates.ts", ...places.toArguments(place)]))

/** Updates per second of an inbox, over those of its peer. The figures are ratios of rates, so the costs are in reverse order. */
const overPeer = async (store: places.Store, name: string): Promise<Measured> => {
  const { many, peer } = await cyclesOn(store)
  return compare({ name, costs: peer }, { name: "Bot.run", costs: many }, "us")
}

export const sqliteOverBare = (): Promise<Measured> => overPeer("sqlite", "node:sqlite")

export const redisOverStreams = (): Promise<Measured> => overPeer("redis", "Redis Streams")

/** Updates per second of 10 chats, over those of 1,000 chats: the lower ratio of PostgreSQL and SQLite. */
export const fewOverMany = async (): Promise<Measured> => {
  const ratios: Array<number> = []
  const details: Array<string> = []
  for (const store of ["postgres", "sqlite"] as const) {
    const { few, many } = await cyclesOn(store)
    const { detail, value } = compare({ name: "1,000 chats", costs: many }, { name: "10 chats", costs: few }, "us")
    ratios.push(value)
    details.push(`${store} ${value.toFixed(2)} (${detail}, ${(1e6 / median(few)).toFixed(0)}/s)`)
  }
  return { value: Math.min(...ratios), detail: details.join("; ") }
}
