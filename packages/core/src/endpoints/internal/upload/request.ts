import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpBody from "effect/http/HttpBody"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as Headers from "effect/http/Headers"
import * as Stream from "effect/Stream"
import { LimitExceeded, type Reason, SourceFailed } from "../../UploadError.ts"
import { readText } from "../../../client/internal/responseText.ts"
import * as transport from "../../../client/internal/transport.ts"
import type { Progress } from "./progress.ts"
import type { HostResponse } from "./protocol.ts"

/** A request to an upload host. The address is the authorization, so the request never carries the token of the bot. */
export interface HostRequest {
  readonly method: "GET" | "POST"
  readonly url: string
  readonly headers?: Headers.Input
  readonly body?: RequestBody
}

interface RequestBody {
  readonly contentType: string
  readonly prefix?: Uint8Array
  readonly content: Stream.Stream<Uint8Array, unknown>
  readonly suffix?: Uint8Array
  /** The length of `content`, or `undefined` if unknown. */
  readonly length: number | undefined
  /** Checks the number of bytes read so far. */
  readonly checkSize: (length: number) => LimitExceeded | undefined
}

const isReason = (cause: unknown): cause is LimitExceeded | SourceFailed =>
  cause instanceof LimitExceeded || cause instanceof SourceFailed

/** Returns the reason for a failure of the source. */
export const sourceFailed = (cause: unknown): SourceFailed | LimitExceeded =>
  isReason(cause) ? cause : new SourceFailed({ detail: transport.describe(cause).detail, cause })

const optionalBytes = (bytes: Uint8Array | undefined) => (bytes === undefined ? Stream.empty : Stream.succeed(bytes))

const contentLengthOf = ({ length, prefix, suffix }: RequestBody): number | undefined =>
  length === undefined ? undefined : length + (prefix?.byteLength ?? 0) + (suffix?.byteLength ?? 0)

/** Counts the bytes of the content and checks its size. The HTTP client hides errors of a body, so `onFailure` gets them. */
const checked = (
  { checkSize, content, length }: RequestBody,
  progress: Progress,
  onFailure: (reason: Reason) => void
): Stream.Stream<Uint8Array, Reason> => {
  const fail = (reason: LimitExceeded | SourceFailed) => {
    onFailure(reason)
    return Effect.fail(reason)
  }
  return Stream.suspend(() => {
    let read = 0
    return content.pipe(
      Stream.mapEffect((bytes) => {
        read += bytes.byteLength
        const limitExceeded = checkSize(read)
        if (limitExceeded !== undefined) return fail(limitExceeded)
        if (length !== undefined && read > length) {
          return fail(new SourceFailed({ detail: `it has more than the declared ${length} bytes` }))
        }
        progress.add(bytes.byteLength)
        return Effect.succeed(bytes)
      }),
      Stream.catch((cause) => Stream.fromEffect(fail(sourceFailed(cause)))),
      Stream.concat(
        Stream.suspend(() =>
          length === undefined || read === length
            ? Stream.empty
            : Stream.fromEffect(fail(new SourceFailed({ detail: `it ended after ${read} of ${length} bytes` })))
        )
      )
    )
  })
}

/** Fails when no byte was sent or received for the time-out. */
const failOnStall = (progress: Progress, stallTimeout: Duration.Duration): Effect.Effect<never, Cause.TimeoutError> =>
  Effect.gen(function* () {
    const clock = yield* Clock.Clock
    const millis = Duration.toMillis(stallTimeout)
    let left = millis
    while (left > 0) {
      yield* Effect.sleep(left)
      left = progress.lastActivity() + millis - clock.currentTimeMillisUnsafe()
    }
    return yield* new Cause.TimeoutError(`No byte was sent or received for ${Duration.format(stallTimeout)}`)
  })

// Trace headers would disclose internals of the program to the upload host.
const withoutTracing = () => true

/** Responses of upload hosts have a few hundred bytes. */
const maxResponseSize = 2 ** 16

/** Sends a request and reads its response. There is no time-out for the whole request, only for a stall. */
export const send = (
  { body, headers, method, url }: HostRequest,
  progress: Progress,
  stallTimeout: Duration.Duration
): Effect.Effect<HostResponse, Reason, HttpClient.HttpClient> =>
  Effect.suspend(() => {
    let bodyFailure: Reason | undefined
    const httpBody =
      body === undefined
        ? HttpBody.empty
        : HttpBody.stream(
            optionalBytes(body.prefix).pipe(
              Stream.concat(checked(body, progress, (reason) => (bodyFailure = reason))),
              Stream.concat(optionalBytes(body.suffix))
            ),
            body.contentType,
            contentLengthOf(body)
          )
    const request = HttpClientRequest.make(method)(url, { headers, body: httpBody })
    progress.recordActivity()
    return HttpClient.execute(request).pipe(
      Effect.tap(() => Effect.sync(progress.recordActivity)),
      Effect.flatMap((response) =>
        Effect.map(readText(response, maxResponseSize), (text): HostResponse => ({ status: response.status, text }))
      ),
      Duration.isFinite(stallTimeout) ? Effect.raceFirst(failOnStall(progress, stallTimeout)) : (self) => self,
      Effect.provideService(HttpClient.TracerDisabledWhen, withoutTracing),
      Effect.mapError((cause): Reason => bodyFailure ?? transport.toTransport(cause)),
      Effect.flatMap((response) => (bodyFailure === undefined ? Effect.succeed(response) : Effect.fail(bodyFailure)))
    )
  })
