import * as Context from "effect/Context"
import * as Metric from "effect/Metric"

/**
 * What metrics look up in a context for each of their updates, by itself: in the context of a whole program it is mostly
 * missing, and every look goes through all that is there.
 */
export const metricContext = (context: Context.Context<never>): Context.Context<never> =>
  Context.make(Metric.MetricRegistry, Context.get(context, Metric.MetricRegistry)).pipe(
    Context.add(Metric.CurrentMetricAttributes, Context.get(context, Metric.CurrentMetricAttributes))
  )
