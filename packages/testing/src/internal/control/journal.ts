import * as Json from "@colloquy/core/Json"
import { Update } from "@colloquy/core/Update"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { Delivery } from "../../WebhookSender.ts"
import type { Exchange } from "../../EmulatorHttp.ts"
import { headersIn } from "../http/wire.ts"

/** A call of a bot; what is JSON in it stands as JSON. */
export const Journaled = Schema.Struct({
  at: Schema.Int,
  method: Schema.String,
  path: Schema.String,
  query: Schema.String,
  headers: Schema.Record(Schema.String, Schema.String),
  endpoint: Schema.NullOr(Schema.String),
  body: Schema.Unknown,
  status: Schema.NullOr(Schema.Int),
  answer: Schema.Unknown
})

export type Journaled = typeof Journaled.Type

/** An attempt to deliver an update, and how it ended. */
export const Delivered = Schema.Struct({
  at: Schema.Int,
  url: Schema.String,
  update: Update,
  attempt: Schema.Int,
  status: Schema.NullOr(Schema.Int),
  failure: Schema.NullOr(Schema.String),
  latency: Schema.Finite
})

export const toDelivered = ({ failure, status, ...rest }: Delivery): typeof Delivered.Type => ({
  ...rest,
  status: status ?? null,
  failure: failure ?? null
})

const readable = (text: string | undefined): unknown =>
  text === undefined || text === ""
    ? null
    : Result.getOrElse(
        Result.try(() => Json.parse(text)),
        () => text
      )

export const toJournaled = ({ answer, body, endpoint, headers, status, ...rest }: Exchange): Journaled => ({
  ...rest,
  headers: headersIn({ headers }),
  endpoint: endpoint ?? null,
  body: readable(body),
  status: status ?? null,
  answer: readable(answer)
})
