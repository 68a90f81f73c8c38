import * as CompiledSchema from "@colloquy/core/base/CompiledSchema"
import type * as Endpoint from "@colloquy/core/client/Endpoint"
import type * as Endpoints from "@colloquy/core/endpoints/Endpoints"
import type { Message } from "@colloquy/core/model/Message"
import * as Result from "effect/Result"
import { respond, type Response } from "../../EmulatorHttp.ts"
import { isPlain, writePlain } from "../platform/messageJson.ts"

type WriteSuccess = (success: unknown) => Response

const jsonHeaders = respond(200, null).headers

const send: Endpoints.Name = "Messages.send"

/** Returns the response of an endpoint for a success. */
export const makeWriter = ({ declaration, endpoint }: Endpoint.Any): WriteSuccess => {
  const encode = CompiledSchema.encodeUnknownResult(declaration.success)
  const write: WriteSuccess = (success) => respond(200, Result.getOrThrow(encode(success)))
  if (endpoint !== send) return write
  return (success) => {
    const message = success as Message
    if (!isPlain(message)) return write(message)
    return { status: 200, headers: jsonHeaders, body: `{"message":${writePlain(message)}}` }
  }
}
