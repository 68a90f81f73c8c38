import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import { type AllCreated, chatOf, createdBy, type Sent } from "./created.ts"
import type { EndpointCall, Response } from "./current.ts"

/**
 * Remembers the message that a call without a journal creates, so that no other call takes the message as its result.
 */
export const track = <Request, Success>(
  endpoint: EndpointCall<Request, Success>["endpoint"],
  request: Request,
  created: AllCreated
) => {
  const chat_id = chatOf(request)
  let landed: (() => void) | undefined
  return {
    /** The request is about to leave. */
    begin: Effect.sync(() => void (landed ??= created.begin(endpoint.endpoint, chat_id))),
    end: (exit: Exit.Exit<Response<Success>, unknown>): undefined => {
      if (Exit.isSuccess(exit) && Result.isSuccess(exit.value.decoded)) {
        const sent = createdBy(exit.value.decoded.success as Sent, chat_id)
        if (sent !== undefined) created.add(sent, undefined)
      }
      landed?.()
    }
  }
}
