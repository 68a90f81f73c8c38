import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import { PrometheusMetrics } from "effect/observability"
import * as TestClock from "effect/testing/TestClock"
import { BotApi, Chats, Me, RetryPolicy } from "../../src/index.ts"
import { bot, chat, chat_id } from "../support/fixtures.ts"
import { answer, lost, nodeError, ok, scripted, slow } from "../support/scripted.ts"

const inTime = <A, E, R>(program: Effect.Effect<A, E, R>) =>
  Effect.raceFirst(program, Effect.forever(TestClock.adjust("1 second")))

describe("BotApi.layerMetrics", () => {
  it.effect("counts each attempt by endpoint and status, and measures it in seconds", () =>
    Effect.gen(function* () {
      const platform = scripted(
        slow(2000, ok(chat())),
        ok(chat()),
        answer(404, { code: "chat.not.found", message: "no" }),
        lost(nodeError("ECONNREFUSED")),
        answer(503, { code: "service.unavailable", message: "no" }),
        ok(bot)
      )
      yield* Effect.gen(function* () {
        yield* inTime(Chats.get({ chat_id }))
        yield* Chats.get({ chat_id })
        yield* Effect.flip(Chats.get({ chat_id }))
        yield* Effect.flip(Effect.provideService(Chats.get({ chat_id }), RetryPolicy.RetryPolicy, RetryPolicy.none))
        yield* inTime(Me.get())
      }).pipe(Effect.provide(platform.layer().pipe(Layer.provide(BotApi.layerMetrics))))
      const text = yield* PrometheusMetrics.format()
      const lines = text.split("\n").filter((line) => line.startsWith("colloquy_request"))
      assert.includeMembers(lines, [
        'colloquy_requests_total{endpoint="Chats.get",status="200"} 2',
        'colloquy_requests_total{endpoint="Chats.get",status="404"} 1',
        'colloquy_requests_total{endpoint="Chats.get",status="Refused"} 1',
        'colloquy_requests_total{endpoint="Me.get",status="503"} 1',
        'colloquy_requests_total{endpoint="Me.get",status="200"} 1',
        'colloquy_request_duration_seconds_bucket{endpoint="Chats.get",le="0.005"} 3',
        'colloquy_request_duration_seconds_bucket{endpoint="Chats.get",le="2.5"} 4',
        'colloquy_request_duration_seconds_sum{endpoint="Chats.get"} 2',
        'colloquy_request_duration_seconds_count{endpoint="Chats.get"} 4'
      ])
    }).pipe(Effect.provideService(Metric.MetricRegistry, new Map()))
  )
})
