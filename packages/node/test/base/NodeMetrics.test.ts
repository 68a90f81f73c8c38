import { NodeMetrics } from "@colloquy/node"
import { assert, describe, it } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import { type AddressInfo, createServer } from "node:net"

const listening = Effect.acquireRelease(
  Effect.promise(
    () =>
      new Promise<ReturnType<typeof createServer>>((resolve) => {
        const server = createServer()
        server.listen(0, "127.0.0.1", () => resolve(server))
      })
  ),
  (server) => Effect.promise(() => new Promise((resolve) => server.close(resolve)))
)

const usedPort = Effect.map(listening, (server) => (server.address() as AddressInfo).port)

/** A port that was free a moment ago. */
const freePort = Effect.scoped(usedPort)

const withEnv = (env: Readonly<Record<string, string>>) =>
  Layer.provide(NodeMetrics.layerConfig, ConfigProvider.layer(ConfigProvider.fromEnv({ env })))

const read = (url: string) =>
  Effect.promise(async () => {
    const response = await fetch(url)
    return { status: response.status, text: await response.text() }
  })

describe("NodeMetrics", () => {
  it.live("serves the metrics of the process at the port of the setting, on the local machine", () =>
    Effect.gen(function* () {
      const port = yield* freePort
      yield* Layer.build(Layer.merge(withEnv({ BOT_METRICS_PORT: String(port) }), NodeMetrics.layerProcess))
      const names = ["memory_bytes", "event_loop_delay_seconds", "start_time_seconds"]
      const found = Effect.filterOrFail(read(`http://127.0.0.1:${port}/metrics`), ({ text }) =>
        names.every((name) => text.includes(`\ncolloquy_process_${name} `))
      )
      const { status, text } = yield* Effect.retry(found, Schedule.spaced("50 millis"))
      assert.strictEqual(status, 200)
      const value = (name: string) => Number(new RegExp(`^colloquy_process_${name} (\\S+)`, "m").exec(text)?.[1])
      assert.isAbove(value("memory_bytes"), 10_000_000)
      assert.isAtMost(value("start_time_seconds"), Date.now() / 1000)
      assert.isAtLeast(value("event_loop_delay_seconds"), 0)
      assert.strictEqual((yield* read(`http://127.0.0.1:${port}/`)).status, 404)
    }).pipe(Effect.scoped)
  )

  it.live("serves nothing without the setting", () => Effect.scoped(Effect.asVoid(Layer.build(withEnv({})))))

  it.live("fails if another program uses the port, or the setting is no port", () =>
    Effect.gen(function* () {
      const port = yield* usedPort
      const used = yield* Effect.flip(Layer.build(withEnv({ BOT_METRICS_PORT: String(port) })))
      assert.strictEqual(used._tag, "MetricsServerError")
      assert.include(used.message, `127.0.0.1:${port}`)
      const malformed = yield* Effect.flip(Layer.build(withEnv({ BOT_METRICS_PORT: "http" })))
      assert.strictEqual(malformed._tag, "InvalidSettings")
      assert.include(malformed.message, "BOT_METRICS_PORT")
    }).pipe(Effect.scoped)
  )
})
