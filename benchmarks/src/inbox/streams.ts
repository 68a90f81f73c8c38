import { type Costs, costsOf } from "../child.ts"
import { compare, type Measured, median } from "../figure.ts"
import * as places from "./places.ts"

const stores = ["memory", "sqlite", "postgres", "redis"] as const

const measureCosts = async () => {
  const measured: Array<{ readonly store: string; readonly costs: Costs }> = []
  for (const store of stores) {
    const costs = await places.withPlace(store, (place) =>
      costsOf(["inbox/streamRates.ts", ...places.toArguments(place)], "--expose-gc")
    )
    measured.push({ store, costs })
  }
  return measured
}

/** Both figures are of one run. */
let costs: ReturnType<typeof measureCosts> | undefined

/** Updates per second through a stream with an operator, over `Updates.run`: the lowest ratio of all stores. */
export const overRun = async (name: "Stream.mapEffect" | "Deliveries.mapEffect"): Promise<Measured> => {
  const ratios = (await (costs ??= measureCosts())).map(({ costs, store }) => {
    const run = costs["Updates.run"]
    const stream = costs[name]
    return { store, run: median(run), ratio: median(run.map((cost, round) => cost / stream[round])) }
  })
  return {
    value: Math.min(...ratios.map(({ ratio }) => ratio)),
    detail: ratios.map(({ ratio, run, store }) => `${store} ${ratio.toFixed(2)} of ${run.toFixed(1)} us`).join(", ")
  }
}

/** Rows per second that a stream writes to PostgreSQL in batches, over the same inserts by hand. */
export const batchSinkRate = async (): Promise<Measured> => {
  const costs = await places.withPlace("postgres", (place) =>
    costsOf(["inbox/batchSink.ts", ...places.toArguments(place)])
  )
  // The figure is a ratio of rates, so the costs are passed in reverse order.
  const measured = compare(
    { name: "by hand", costs: costs["by hand"] },
    { name: "stream", costs: costs["stream"] },
    "us per row"
  )
  const rateOf = (program: "by hand with the store" | "queue") =>
    median(costs["by hand"].map((cost, round) => cost / costs[program][round])).toFixed(2)
  const others = `claims and acknowledgements by hand ${rateOf("by hand with the store")}, smallest queue ${rateOf("queue")}`
  return { ...measured, detail: `${measured.detail}; ${others}` }
}
