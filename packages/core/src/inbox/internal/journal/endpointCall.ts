import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as ApiError from "../../../client/ApiError.ts"
import { hashText } from "../../../model/internal/hashText.ts"
import type { Encoded } from "../../../client/internal/codec.ts"
import { parsePlain, stringify } from "../../../base/internal/json.ts"
import { chatOf, createdBy, type Sent } from "../../../client/internal/journal/created.ts"
import type { Call, EndpointCall, Response } from "../../../client/internal/journal/current.ts"
import { find, type Page } from "./lookUp.ts"

/** Stores index texts of this length as they are. */
const maxIdentity = 256

/** Identifies a request: a short one by itself, because that is faster than a digest, and a long one by its digest. */
const identityOf = ({ body, path, query }: Encoded): string => {
  const text = `${path}${query}\n${body ?? ""}`
  return text.length <= maxIdentity ? text : hashText(text)
}

/** Identifies a call that has a name. */
export const nameOf = (name: string): string => JSON.stringify(name)

const isRefusal = (error: ApiError.ApiError): boolean =>
  !(error instanceof ApiError.RequestFailed && error.maybeExecuted)

/** The call of an endpoint, for the journal. Endpoints with a `lookUp` send messages or comments. */
export const toCall = <Request, Success>(
  call: EndpointCall<Request, Success>
): Call<Response<Success>, ApiError.ApiError> => {
  const { created, endpoint, execute, name, platformTime, read, request, run } = call
  const { lookUp, success } = endpoint.declaration
  const chat_id = chatOf(request)
  return {
    kind: endpoint.endpoint,
    name: name === undefined ? identityOf(call.encoded()) : nameOf(name),
    // Calls without a name have equal requests, so each of them can be the repetition.
    identity: name === undefined || call.hasUniqueName ? undefined : request,
    // The request of a call with a name may differ when the request is looked up, and may change until the request is
    // sent.
    request: () => (name === undefined ? undefined : call.encoded().body),
    chat_id,
    platform: { time: platformTime, created },
    run,
    isWrittenAtOnce: false,
    write: ({ received }) => received.text,
    read,
    isRefusal,
    toError: (reason) => new ApiError.RequestFailed({ endpoint: endpoint.endpoint, reason }),
    created: ({ decoded }) =>
      lookUp === undefined || Result.isFailure(decoded) ? undefined : createdBy(decoded.success as Sent, chat_id),
    find:
      lookUp === undefined
        ? undefined
        : ({ after, dialog, requests }) => {
            const bodies = (requests.length > 0 ? requests : [call.encoded().body ?? "null"]).map(parsePlain)
            const page: Page = (from) => lookUp.page({ request, dialog, execute }, from) as ReturnType<Page>
            return Effect.map(find(page, bodies, after, execute), (found) => {
              const encode = Schema.encodeSync(success as Schema.Codec<Success, unknown>)
              return found.flatMap((sent) => {
                const created = createdBy(sent, chat_id)
                return created === undefined ? [] : [{ ...created, answer: stringify(encode(sent as Success)) }]
              })
            })
          }
  }
}
