/** Responses of the platform to every endpoint, at several statuses. */
import { type ApiError, type BotApi, type Endpoint, Json, RetryPolicy } from "@colloquy/core"
import * as Endpoints from "@colloquy/core/endpoints/Endpoints"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { successes } from "../../packages/testing/test/support/successes.ts"
import { mutations } from "./mutation.ts"
import { requests } from "./requests.ts"
import { type Target, token } from "./target.ts"
import { respondingClient } from "./updates.ts"

const statuses = [200, 200, 200, 200, 201, 400, 401, 403, 404, 405, 422, 429, 500, 503]

const errors: ReadonlyArray<unknown> = [
  { code: "chat.denied", message: `No, ${token}`, error: "error.dialog.suspended" },
  { code: "attachment.not.ready", message: "Key: errors.process.attachment.file.not.processed" },
  { success: false, message: token, failed_user_ids: [7] },
  { success: false, failed_user_details: [{ error_code: "add.participant.privacy", user_ids: [7, 8] }] }
]

const samplesOf = ({ declaration, endpoint }: Endpoint.Any): ReadonlyArray<string> =>
  [Schema.encodeUnknownSync(declaration.success as Schema.Codec<unknown, unknown>)(successes[endpoint]), ...errors].map(
    (body) => Json.stringify(body)
  )

const call = (endpoint: Endpoint.Any): Effect.Effect<unknown, ApiError.ApiError, BotApi.BotApi> =>
  RetryPolicy.override(
    endpoint(requests[endpoint.endpoint]) as Effect.Effect<unknown, ApiError.ApiError, BotApi.BotApi>,
    RetryPolicy.none
  )

const target = (endpoint: Endpoint.Any): Target => ({
  name: `response ${endpoint.endpoint}`,
  input: mutations(samplesOf(endpoint), [token, `Authorization: ${token}`, encodeURIComponent(token)]),
  start: Effect.succeed({
    // The length of the text determines the status, so that an input is one text. A response 429 pauses a client, so each
    // input has one.
    take: (text) =>
      call(endpoint).pipe(
        Effect.as([]),
        Effect.provide(respondingClient(() => ({ status: statuses[text.length % statuses.length], text })))
      )
  })
})

/** One target for each endpoint. */
export const responses: ReadonlyArray<Target> = Endpoints.all.map(target)
