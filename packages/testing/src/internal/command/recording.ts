import * as Effect from "effect/Effect"
import * as Base64 from "effect/encoding/Base64"
import * as Exit from "effect/Exit"
import * as Stream from "effect/Stream"
import { isControl, maxBody } from "../control/control.ts"
import * as Bytes from "effect/Bytes"
import type { Body, Request, Handler, Unreadable } from "../../EmulatorHttp.ts"
import { headersIn } from "../http/wire.ts"
import { ofBytes } from "./bodies.ts"
import type { SteppedClock } from "./clock.ts"
import { type Entry, entryLine } from "./journal.ts"

/** A file larger than this is not kept in a journal. */
const maxFile = 2 ** 20

/** Reads a body no further than beyond the limit: what is longer is refused for its length. */
const readBytes = (bytes: Body["bytes"], most: number): Effect.Effect<Uint8Array<ArrayBuffer>, Unreadable> =>
  Effect.suspend(() => {
    const chunks: Array<Uint8Array> = []
    let size = 0
    const isEnough = (chunk: Uint8Array) => {
      chunks.push(chunk)
      size += chunk.byteLength
      return size > most
    }
    return Effect.map(Stream.runDrain(Stream.takeUntil(bytes, isEnough)), () => Bytes.concat(chunks))
  })

const broken = (cause: Unreadable): Body => ({ text: Effect.fail(cause), bytes: Stream.fail(cause) })

type Kept = Pick<Entry, "body" | "bytes">

const decoder = new TextDecoder()

const kept = (isCall: boolean, bytes: Uint8Array): Kept => {
  if (!isCall) return { bytes: Base64.encode(bytes) }
  return bytes.byteLength === 0 || bytes.byteLength > maxBody ? {} : { body: decoder.decode(bytes) }
}

/** The request with its body in hand, so that nothing is waited for once it comes into effect. */
const inHand = ({ body, listener, headers }: Request): Effect.Effect<readonly [Body, Kept]> => {
  const isCall = listener.kind === "api"
  const most = isCall ? maxBody : maxFile
  // A file of unknown length may be of any: only calls are read to see.
  const length = headers["content-length"] ?? (isCall ? 0 : Infinity)
  if (Number(length) > most) return Effect.succeed([body, {}])
  return Effect.match(readBytes(body.bytes, most), {
    onSuccess: (bytes) => [ofBytes(bytes), kept(isCall, bytes)] as const,
    onFailure: (cause) => [broken(cause), {}] as const
  })
}

const onlyLooks = (request: Request): boolean =>
  isControl(request) && (request.method === "GET" || request.method === "HEAD" || request.method === "OPTIONS")

/** Answers requests and writes down each that can change something, those too whose caller gave up. */
export const recording = (
  handle: Handler,
  clock: SteppedClock,
  tick: Effect.Effect<void>,
  write: (line: string) => Effect.Effect<unknown>
): Handler => {
  let count = 0
  return (request) =>
    onlyLooks(request)
      ? Effect.andThen(tick, handle(request))
      : Effect.gen(function* () {
          const [body, keptBody] = yield* inHand(request)
          yield* tick
          const { listener, method, path, query } = request
          const n = count++
          const at = clock.currentTimeMillisUnsafe()
          return yield* Effect.onExit(handle({ ...request, body }), (exit) =>
            Effect.gen(function* () {
              if (Exit.hasInterrupts(exit)) yield* tick
              const answer = Exit.isSuccess(exit) ? exit.value : undefined
              const entry: Entry = {
                n,
                at,
                took: clock.currentTimeMillisUnsafe() - at,
                door: listener.kind,
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
