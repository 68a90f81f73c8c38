import { costsOf } from "../child.ts"
import { compare, type Measured, median } from "../figure.ts"
import * as places from "./places.ts"

/** Updates per second through streams, over `Updates.run`: the lowest ratio of all stores and both operators. */
export const overRun = async (): Promise<Measured> => {
  const ratios: Array<number> = []
  const details: Array<string> = []
  for (const store of ["memory", "sqlite", "postgres", "redis"] as const) {
    const costs = await places.withPlace(store, (place) =>
      costsOf(["inbox/streamRates.ts", ...places.toArguments(place)])
    )
    const run = costs["Updates.run"]
    details.push(`${store}: run ${median(run).toFixed(1)} us`)
    for (const name of ["Stream.mapEffect", "Deliveries.mapEffect"]) {
      const stream = costs[name]
      const ratio = median(run.map((cost, round) => cost / stream[round]))
      ratios.push(ratio)
      details.push(`${name} ${ratio.toFixed(2)} of it`)
    }
  }
  return { value: Math.min(...ratios), detail: details.join(", ") }
}

/** Rows per second that a stream writes to PostgreSQL in batches, over the same inserts by hand. */
export const batchSinkRate = async (): Promise<Measured> => {
  const costs = await places.withPlace("postgres", (place) =>
    costsOf(["inbox/batchSink.ts", ...places.toArguments(place)])
  )
  // The figure is a ratio of rates, so the costs are passed in reverse order.
  return compare({ name: "by hand", costs: costs["by hand"] }, { name: "stream", costs: costs["stream"] }, "us per row")
}
