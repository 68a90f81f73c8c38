import * as Metric from "effect/Metric"

/** A metric that counts events. The count never decreases. */
export const counter = (name: string, description: string) => Metric.counter(name, { description, incremental: true })
