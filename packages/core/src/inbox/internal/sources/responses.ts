import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import { byKey } from "../../../base/internal/byKey.ts"
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

const rejectedWith = byKey((status: number) => Metric.withAttributes(rejected, { status: String(status) }))

/** Answers a request with another status than 200: counts the request, and logs the warning, before the response. */
export const reject = (
  response: Effect.Effect<WebhookResponse>,
  warning: Effect.Effect<void> = Effect.void
): Effect.Effect<WebhookResponse> =>
  Effect.tap(response, ({ status }) => Effect.andThen(Metric.update(rejectedWith(status), 1), warning))
