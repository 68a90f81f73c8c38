import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import { counter } from "../../../base/internal/counter.ts"
import type { WebhookResponse } from "../../Webhook.ts"

export const respond = (
  status: number,
  headers: WebhookResponse["headers"] = {},
  body = ""
): Effect.Effect<WebhookResponse> => Effect.succeed({ status, headers, body })

export const ok = respond(200)

export const methodNotAllowed = (allow: string) => respond(405, { allow })

const rejected = counter("colloquy_webhook_rejected_total", "Requests that were not answered with 200, by status")

const byStatus = new Map<number, typeof rejected>()

const countRejected = (status: number): Effect.Effect<void> => {
  const metric = byStatus.get(status) ?? Metric.withAttributes(rejected, { status: String(status) })
  byStatus.set(status, metric)
  return Metric.update(metric, 1)
}

/** Answers a request with another status than 200: counts the request, and logs the warning, before the response. */
export const reject = (
  response: Effect.Effect<WebhookResponse>,
  warning: Effect.Effect<void> = Effect.void
): Effect.Effect<WebhookResponse> =>
  Effect.tap(response, ({ status }) => Effect.andThen(countRejected(status), warning))
