import * as Digest from "effect/crypto/Digest"
import * as Hex from "effect/encoding/Hex"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as ApiError from "../../ApiError.ts"
import type * as Declaration from "../../Declaration.ts"
import type { Received } from "../client/classify.ts"
import type { Encoded } from "../client/codec.ts"
import { parsePlain, stringify } from "../client/json.ts"
import type { MalformedPart } from "../client/malformed.ts"
import type { Call } from "./current.ts"

/** A response that the platform has accepted the request with. */
export interface Response<Success> {
  readonly received: Received
  readonly parts: ReadonlyArray<MalformedPart>
  readonly decoded: Result.Result<Success, Schema.SchemaError>
}

// All platforms have `TextEncoder`, but the compiler options of this package include no platform types.
declare const TextEncoder: new () => { readonly encode: (text: string) => Uint8Array }

// MD5 is sufficient because nobody gains from a collision, and effect implements it for platforms without it.
const digest = ({ body, path, query }: Encoded): string =>
  Hex.encode(Digest.md5.implementation!(new TextEncoder().encode(`${path}${query}\n${body ?? ""}`)))

const isRefusal = (error: ApiError.ApiError): boolean =>
  !(error instanceof ApiError.RequestFailed && error.maybeExecuted)

interface Options<Request, Success> {
  readonly endpoint: Declaration.Named<Request, Success, any>
  readonly request: Request
  readonly encoded: Encoded
  /** The name that replaces the digest of the request. */
  readonly name: string | undefined
  readonly execute: Declaration.LostCall<Request>["execute"]
  readonly run: (begin: Effect.Effect<void>) => Effect.Effect<Response<Success>, ApiError.ApiError>
  readonly read: (text: string) => Effect.Effect<Response<Success>, ApiError.ApiError>
}

/** The call of an endpoint, for the journal. */
export const toCall = <Request, Success>(
  options: Options<Request, Success>
): Call<Response<Success>, ApiError.ApiError> => {
  const { encoded, endpoint, execute, name, read, request, run } = options
  const { lookUp, success } = endpoint.declaration
  return {
    kind: endpoint.endpoint,
    name: name === undefined ? digest(encoded) : JSON.stringify(name),
    // The request of a call with a name may be another one when it is looked up.
    request: name === undefined ? undefined : encoded.body,
    run,
    write: ({ received }) => received.text,
    read,
    isRefusal,
    toError: (reason) => new ApiError.RequestFailed({ endpoint: endpoint.endpoint, reason }),
    created: ({ decoded }) =>
      lookUp === undefined || Result.isFailure(decoded) ? undefined : lookUp.created(decoded.success),
    find:
      lookUp === undefined
        ? undefined
        : ({ after, dialog, requests }) => {
            const bodies = (requests.length > 0 ? requests : [encoded.body ?? "null"]).map(parsePlain)
            return Effect.map(lookUp.find({ request, bodies, after, dialog, execute }), (found) => {
              const encode = Schema.encodeSync(success as Schema.Codec<Success, unknown>)
              return found.flatMap((sent) => {
                const created = lookUp.created(sent)
                return created === undefined ? [] : [{ ...created, answer: stringify(encode(sent)) }]
              })
            })
          }
  }
}
