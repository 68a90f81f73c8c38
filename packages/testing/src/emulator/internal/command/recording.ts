import * as Effect from "effect/Effect"
import * as Base64 from "effect/encoding/Base64"
import * as Exit from "effect/Exit"
import * as Stream from "effect/Stream"
import { isControl, maxBodySize } from "../control/control.ts"
import type { Body, Request, Handler, Unreadable } from "../../EmulatorHttp.ts"
import { readBytes } from "../http/requestBody.ts"
import { bytesBody, headersIn } from "../http/wire.ts"
import type { SteppedClock } from "./clock.ts"
import { type Entry, entryLine } from "./journal.ts"

/** Maximum size of an uploaded file in a journal, in bytes. */
const maxFileSize = 2 ** 20

const failedBody = (cause: Unreadable): Body => ({ text: Effect.fail(cause), bytes: Stream.fail(cause) })

type RecordedBody = Pick<Entry, "body" | "bytes">

const decoder = new TextDecoder()

const toRecordedBody = (isCall: boolean, bytes: Uint8Array): RecordedBody => {
  if (!isCall) return { bytes: Base64.encode(bytes) }
  return bytes.byteLength === 0 || bytes.byteLength > maxBodySize ? {} : { body: decoder.decode(bytes) }
}

/** Reads the body before the request is processed, so that the processing does not wait. */
const readBody = ({ body, listener, headers }: Request): Effect.Effect<readonly [Body, RecordedBody]> => {
  const isCall = listener.kind === "api"
  const most = isCall ? maxBodySize : maxFileSize
  // A file of unknown length may be of any size, so only bodies of API requests are read.
  const length = headers["content-length"] ?? (isCall ? 0 : Infinity)
  if (Number(length) > most) return Effect.succeed([body, {}])
  return Effect.match(readBytes(body.bytes, most), {
    onSuccess: (bytes) => [bytesBody(bytes), toRecordedBody(isCall, bytes)] as const,
    onFailure: (cause) => [failedBody(cause), {}] as const
  })
}

const isReadOnly = (request: Request): boolean =>
  isControl(request) && (request.method === "GET" || request.method === "HEAD" || request.method === "OPTIONS")

/**
 * Handles requests, and records each request that can change the state, including requests that the caller interrupted.
 */
export const makeRecorder = (
  handle: Handler,
  clock: SteppedClock,
  write: (line: string) => Effect.Effect<unknown>
): Handler => {
  let count = 0
  return (request) =>
    isReadOnly(request)
      ? Effect.andThen(clock.tick, handle(request))
      : Effect.gen(function* () {
          const [body, keptBody] = yield* readBody(request)
          yield* clock.tick
          const { listener, method, path, query } = request
          const n = count++
          const at = clock.currentTimeMillisUnsafe()
          return yield* Effect.onExit(handle({ ...request, body }), (exit) =>
            Effect.gen(function* () {
              if (Exit.hasInterrupts(exit)) yield* clock.tick
              const answer = Exit.isSuccess(exit) ? exit.value : undefined
              const entry: Entry = {
                n,
                at,
                took: clock.currentTimeMillisUnsafe() - at,
                listener: listener.kind,
                method,
                path,
                query,
                headers: headersIn(request),
                ...keptBody,
                status: answer?.status ?? null,
                answer: answer?.body ?? null
              }
              yield* write(entryLine(entry))
            })
          )
        })
}
