import * as Json from "@colloquy/core/Json"
import { Update } from "@colloquy/core/Update"
import * as Schema from "effect/Schema"
import type { Request } from "../../Webhooks.ts"
import type { SubscriptionState } from "../platform/model.ts"

const encode = Schema.encodeUnknownSync(Update)

/** The request that tells a webhook of an update. */
export const requestOf = ({ secret, url }: SubscriptionState, update: Update): Request => {
  const body = Json.stringify(encode(update))
  const headers = {
    "content-type": "application/json",
    ...(secret === undefined ? {} : { "x-svc-bot-api-secret": secret })
  }
  return { url, headers, body, update: Json.parse(body) }
}
