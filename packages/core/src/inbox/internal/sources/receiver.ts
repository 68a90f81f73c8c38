import * as Bytes from "effect/Bytes"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Base64 from "effect/encoding/Base64"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import * as Tracer from "effect/Tracer"
import { isTraced } from "../../../base/internal/tracing.ts"
import type { Inbox, ReceiveError, Received } from "../../Inbox.ts"
import { MalformedUpdate, parse } from "../../../model/Update.ts"
import type { BodyError, WebhookRequest, WebhookResponse } from "../../Webhook.ts"
import { ok, reject, respond } from "./responses.ts"

// Every runtime has them, but the library is compiled without the types of any runtime.
declare const TextDecoder: new (
  encoding: "utf-8",
  options: { readonly fatal: true }
) => { readonly decode: (bytes: Uint8Array) => string }
/** The `ReadableStream` of this runtime, of which core has no type. */
type ReadableBytes = ReturnType<Parameters<typeof Stream.fromReadableStream<Uint8Array, unknown>>[0]["evaluate"]>
declare const Blob: new (parts: ReadonlyArray<Uint8Array>) => {
  readonly stream: () => { readonly pipeThrough: (transform: object) => ReadableBytes }
}
declare const DecompressionStream: (new (format: "gzip" | "deflate") => object) | undefined

/** Maximum size of a body, in bytes. */
export const maxBodySize: number = 2 ** 20

/** Collects the bytes of a body. Fails with `tooLarge` as soon as there are too many. */
export const collectBody = <E>(
  body: Stream.Stream<Uint8Array, E>,
  tooLarge: Effect.Effect<never, BodyError>
): Effect.Effect<Uint8Array, E | BodyError> =>
  Effect.suspend(() => {
    const chunks: Array<Uint8Array> = []
    let size = 0
    return body.pipe(
      Stream.runForEach((chunk) => {
        size += chunk.length
        if (size > maxBodySize) return tooLarge
        chunks.push(chunk)
        return Effect.void
      }),
      Effect.map(() => Bytes.concat(chunks))
    )
  })

const encodings: Readonly<Record<string, "gzip" | "deflate">> = { gzip: "gzip", "x-gzip": "gzip", deflate: "deflate" }

/** Returns the encoding in a header, or `undefined` if this runtime cannot decode the encoding. */
export const contentEncodingOf = (header: string | undefined): "gzip" | "deflate" | "identity" | undefined => {
  const name = header?.trim().toLowerCase()
  if (name === undefined || name === "" || name === "identity") return "identity"
  return typeof DecompressionStream === "undefined" ? undefined : encodings[name]
}

class DecompressionFailed extends Data.TaggedError("DecompressionFailed")<{ readonly cause: unknown }> {}

const decoder = new TextDecoder("utf-8", { fatal: true })

const malformed = (bytes: Uint8Array, problem: string): Received => {
  const text = Base64.encode(bytes)
  const error = new MalformedUpdate({ problem: `${problem}, so it is kept as Base64`, raw: text })
  return { decoded: Result.fail(error), text }
}

const decode = (bytes: Uint8Array): Received => {
  const text = Result.try(() => decoder.decode(bytes))
  if (Result.isFailure(text)) return malformed(bytes, "it is not UTF-8")
  return { decoded: parse(text.success), text: text.success }
}

const decodeCompressed = (
  encoding: "gzip" | "deflate",
  bytes: Uint8Array,
  tooLarge: Effect.Effect<never, BodyError>
): Effect.Effect<Received, BodyError> =>
  collectBody(
    Stream.fromReadableStream<Uint8Array, DecompressionFailed>({
      evaluate: () => new Blob([bytes]).stream().pipeThrough(new DecompressionStream!(encoding)),
      onError: (cause) => new DecompressionFailed({ cause })
    }),
    tooLarge
  ).pipe(
    Effect.map(decode),
    Effect.catchTag("DecompressionFailed", () =>
      Effect.succeed(malformed(bytes, `it is not ${encoding}, or it is incomplete`))
    )
  )

const alreadyRead =
  "The body of a delivery was read before it reached the webhook. Mount the webhook before body parsers such as " +
  "express.json(), or make the parser keep the bytes as `rawBody`: a parsed body has lost digits of large integers."

interface Options {
  readonly url: string
  readonly inbox: Inbox["Service"]
  readonly storeTimeout: Duration.Duration
  /** Fails because a body is too large. */
  readonly tooLarge: Effect.Effect<never, BodyError>
}

/** Stores the updates of deliveries in the inbox, and answers with 200 after an update is stored. */
export const makeReceive = Effect.fnUntraced(function* ({ inbox, storeTimeout, tooLarge, url }: Options) {
  const scope = yield* Effect.scope
  const context = yield* Effect.context<never>()
  const fork = Effect.runForkWith(context)

  const warn = (message: string) => Effect.annotateLogs(Effect.logWarning(message), { url })

  const notStored = (reason: string) =>
    reject(
      // The platform repeats the delivery after a minute.
      respond(503, { "retry-after": "60" }),
      warn(`A delivery was not stored and is answered with 503: ${reason} The platform will send it again.`)
    )

  const failed = (cause: Cause.Cause<ReceiveError>) =>
    notStored(Cause.hasInterruptsOnly(cause) ? "The program is stopping." : String(Cause.squash(cause)))

  const timedOut = Effect.suspend(() => notStored(`The inbox took longer than ${Duration.format(storeTimeout)}.`))

  // The update is stored even if the client disconnects or the time is over. The inbox recognizes the repeated delivery.
  const store = (received: Received): Effect.Effect<WebhookResponse> => {
    const storing = fork(inbox.receive([received]))
    const exit = storing.pollUnsafe()
    if (exit !== undefined) return Exit.isSuccess(exit) ? ok : failed(exit.cause)
    return Fiber.join(Fiber.runIn(storing, scope)).pipe(
      Effect.matchCauseEffect({ onSuccess: () => ok, onFailure: failed }),
      Effect.timeoutOrElse({ duration: storeTimeout, orElse: () => timedOut })
    )
  }

  const receiveUpdate = (received: Received): Effect.Effect<WebhookResponse> => {
    const { decoded } = received
    if (Result.isSuccess(decoded)) return store(received)
    const warning = warn(
      `The body of a delivery is not a valid update and is kept as a dead letter: ${decoded.failure.problem}.`
    )
    return Effect.tap(store(received), ({ status }) => (status === 200 ? warning : Effect.void))
  }

  const rejections: Readonly<Record<BodyError["reason"], Effect.Effect<WebhookResponse>>> = {
    TooLarge: reject(respond(413)),
    Timeout: reject(respond(408, { connection: "close" })),
    Aborted: reject(respond(400)),
    AlreadyRead: reject(
      respond(500, { "content-type": "text/plain; charset=utf-8" }, alreadyRead),
      Effect.annotateLogs(Effect.logError(alreadyRead), { url })
    )
  }

  const rejectBody = ({ reason }: BodyError): Effect.Effect<WebhookResponse> => rejections[reason]

  // The function stores at once, so that a fast inbox needs no further fiber for the response.
  const receiveAtOnce = ({ header }: WebhookRequest, body: Uint8Array): Effect.Effect<WebhookResponse> => {
    const encoding = contentEncodingOf(header("content-encoding")) ?? "identity"
    if (encoding === "identity") return receiveUpdate(decode(body))
    return Effect.matchEffect(decodeCompressed(encoding, body, tooLarge), {
      onFailure: rejectBody,
      onSuccess: receiveUpdate
    })
  }

  const receive = (request: WebhookRequest, body: Uint8Array): Effect.Effect<WebhookResponse> =>
    Effect.withSpan(
      Effect.tap(
        Effect.suspend(() => receiveAtOnce(request, body)),
        ({ status }) => Effect.annotateCurrentSpan("http.response.status_code", status)
      ),
      "Webhook.receive",
      { kind: "server", attributes: { "http.request.body.size": body.length }, captureStackTrace: false }
    )

  return { receive: isTraced(Context.get(context, Tracer.Tracer)) ? receive : receiveAtOnce, rejectBody }
})
