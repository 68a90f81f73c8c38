import * as Context from "effect/Context"
import * as Metric from "effect/Metric"

/**
 * Returns a small context for metric updates. Every metric update looks up two references. The lookup is slow in the
 * context of a whole program, which has many services and mostly lacks these references.
 */
export const metricContext = (context: Context.Context<never>): Context.Context<never> =>
  Context.make(Metric.MetricRegistry, Context.get(context, Metric.MetricRegistry)).pipe(
    Context.add(Metric.CurrentMetricAttributes, Context.get(context, Metric.CurrentMetricAttributes))
  )
