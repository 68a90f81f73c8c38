/**
 * The metrics of a program on Node: those of its process, and a server from which Prometheus reads all metrics.
 *
 * @since 0.1.0
 */
import * as Settings from "@colloquy/core/client/Settings"
import * as Config from "effect/Config"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as PrometheusMetrics from "effect/observability/PrometheusMetrics"
import * as Schedule from "effect/Schedule"
import { createServer } from "node:http"
import { monitorEventLoopDelay } from "node:perf_hooks"
import { optional, port } from "./internal/settings.ts"

/**
 * The server of the metrics could not start, for example because another program uses the port.
 *
 * @category errors
 * @since 0.1.0
 */
export class MetricsServerError extends Data.TaggedError("MetricsServerError")<{
  /** The host of the options. */
  readonly host: string
  /** The port of the options. */
  readonly port: number
  /** The error of Node. */
  readonly cause: unknown
}> {
  override get message() {
    const { cause, host, port } = this
    const text = cause instanceof Error ? cause.message : String(cause)
    return `The metrics cannot be served on ${host}:${port}: ${text}. Choose another BOT_METRICS_PORT, or stop the program that uses this port.`
  }
}

/**
 * The options of the server of the metrics.
 *
 * @category models
 * @since 0.1.0
 */
export interface ServerOptions {
  /** The port. */
  readonly port: number
  /** The address that the server listens on. Default: `127.0.0.1`. */
  readonly host?: string | undefined
  /** The path of the metrics. Default: `/metrics`. */
  readonly path?: `/${string}` | undefined
}

const interval = "10 seconds"

const memory = Metric.gauge("colloquy_process_memory_bytes", { description: "Resident memory of the process" })

const delay = Metric.gauge("colloquy_process_event_loop_delay_seconds", {
  description: "Longest delay of the event loop in the last 10 seconds"
})

const startTime = Metric.gauge("colloquy_process_start_time_seconds", {
  description: "Time of the start of the process, in seconds since 1970"
})

const toSeconds = (nanoseconds: number): number => nanoseconds / 1e9

const measure = Effect.gen(function* () {
  const delays = yield* Effect.acquireRelease(
    Effect.sync(() => {
      const delays = monitorEventLoopDelay()
      delays.enable()
      return delays
    }),
    (delays) => Effect.sync(() => delays.disable())
  )
  const startedAt = performance.timeOrigin / 1000
  const sample = Effect.suspend(() => {
    // Without a delay that was measured, the maximum is 0.
    const longest = toSeconds(delays.max)
    delays.reset()
    return Effect.all([
      Metric.update(memory, process.memoryUsage.rss()),
      Metric.update(delay, longest),
      Metric.update(startTime, startedAt)
    ])
  })
  yield* Effect.forkScoped(Effect.repeat(sample, Schedule.spaced(interval)))
})

/**
 * Measures the memory of the process and the delay of its event loop, every 10 seconds. `NodeBot.layer` contains this layer.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerProcess: Layer.Layer<never> = Layer.effectDiscard(measure)

/** Answers requests for the metrics until the scope closes. */
const serve = Effect.fnUntraced(function* (host: string, port: number, path: string) {
  const run = Effect.runPromiseWith(yield* Effect.context<never>())
  const server = createServer((request, response) => {
    if (request.method !== "GET" || request.url?.split("?")[0] !== path) return void response.writeHead(404).end()
    void run(PrometheusMetrics.format()).then((text) =>
      response.writeHead(200, { "content-type": "text/plain; version=0.0.4; charset=utf-8" }).end(text)
    )
  })
  yield* Effect.acquireRelease(
    Effect.callback<void, MetricsServerError>((resume) => {
      server.once("error", (cause) => resume(new MetricsServerError({ host, port, cause })))
      server.listen({ host, port }, () => resume(Effect.void))
    }),
    () =>
      Effect.sync(() => {
        server.close()
        server.closeAllConnections()
      })
  )
})

/**
 * Serves all metrics of the program in the text format of Prometheus, on a server of its own. Anyone who can connect to the server can
 * read the metrics. Fails with {@link MetricsServerError} if the server cannot start.
 *
 * **Example** (The metrics of a bot with long polling)
 *
 * ```ts
 * import { LongPolling } from "@colloquy/core"
 * import { NodeBot, NodeMetrics } from "@colloquy/node"
 * import { Layer } from "effect"
 *
 * const platform = LongPolling.layer().pipe(
 *   Layer.provideMerge(NodeBot.layerConfig()),
 *   Layer.merge(NodeMetrics.layerServer({ port: 9464 }))
 * )
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layerServer = ({
  host = "127.0.0.1",
  path = "/metrics",
  port
}: ServerOptions): Layer.Layer<never, MetricsServerError> => Layer.effectDiscard(serve(host, port, path))

/**
 * {@link layerServer} with `BOT_METRICS_PORT` and `BOT_METRICS_HOST`. Without `BOT_METRICS_PORT`, nothing is served. `NodeBot.layerConfig` contains this layer.
 *
 * Also fails with `InvalidSettings`, which lists all malformed settings.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerConfig: Layer.Layer<never, MetricsServerError | Settings.InvalidSettings> = Layer.unwrap(
  Effect.map(
    Settings.all({
      port: optional(port("BOT_METRICS_PORT")),
      host: optional(Config.NonEmptyString("BOT_METRICS_HOST"))
    }),
    ({ host, port }) => (port === undefined ? Layer.empty : layerServer({ host, port }))
  )
)
