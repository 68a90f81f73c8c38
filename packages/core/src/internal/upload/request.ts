import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpBody from "effect/http/HttpBody"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Headers from "effect/http/Headers"
import * as UrlParams from "effect/http/UrlParams"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { Transport } from "../../ApiError.ts"
import { LimitExceeded, type Reason, SourceFailed } from "../../UploadError.ts"
import { redacting } from "../client/redact.ts"
import * as transport from "../client/transport.ts"
import type { HostAnswer } from "./hostAnswer.ts"
import type { Progress } from "./progressEvents.ts"

/** A request to an upload host. It has no header of the API: the address is all that the host needs to know. */
export interface HostRequest {
  readonly method: "GET" | "POST"
  readonly url: string
  readonly headers?: Headers.Input
  readonly body?: HostBody
}

export interface HostBody {
  readonly type: string
  readonly before?: Uint8Array
  readonly content: Stream.Stream<Uint8Array, unknown>
  readonly after?: Uint8Array
  /** The length of the content, where it is known. */
  readonly length: number | undefined
  /** More than that is too much. */
  readonly check: (length: number) => LimitExceeded | undefined
}

class TimeoutError extends Data.TaggedError("TimeoutError")<{ readonly message: string }> {}

const isExpected = (reason: unknown): reason is LimitExceeded | SourceFailed =>
  reason instanceof LimitExceeded || reason instanceof SourceFailed

export const sourceFailed = (cause: unknown): SourceFailed | LimitExceeded =>
  isExpected(cause) ? cause : new SourceFailed({ detail: transport.describe(cause).detail, cause })

const edge = (bytes: Uint8Array | undefined) => (bytes === undefined ? Stream.empty : Stream.succeed(bytes))

const lengthOf = ({ after, before, length }: HostBody): number | undefined =>
  length === undefined ? undefined : length + (before?.byteLength ?? 0) + (after?.byteLength ?? 0)

/** Lets the bytes of the source pass by and counts them; `tell` learns why they ended early. */
const counted = (
  { check, content, length }: HostBody,
  progress: Progress,
  tell: (reason: Reason) => void
): Stream.Stream<Uint8Array, Reason> => {
  const fail = (reason: LimitExceeded | SourceFailed) => {
    tell(reason)
    return Effect.fail(reason)
  }
  return Stream.suspend(() => {
    let passed = 0
    return content.pipe(
      Stream.mapEffect((bytes) => {
        passed += bytes.byteLength
        const tooMuch = check(passed)
        if (tooMuch !== undefined) return fail(tooMuch)
        if (length !== undefined && passed > length) {
          return fail(new SourceFailed({ detail: `it has more than the ${length} bytes that it told` }))
        }
        progress.add(bytes.byteLength)
        return Effect.succeed(bytes)
      }),
      Stream.catch((cause) => Stream.fromEffect(fail(sourceFailed(cause)))),
      Stream.concat(
        Stream.suspend(() =>
          length === undefined || passed === length
            ? Stream.empty
            : Stream.fromEffect(fail(new SourceFailed({ detail: `it ended after ${passed} of ${length} bytes` })))
        )
      )
    )
  })
}

/** Fails when nothing has moved for too long. */
const watching = (progress: Progress, patience: Duration.Duration): Effect.Effect<never, TimeoutError> =>
  Effect.gen(function* () {
    const clock = yield* Clock.Clock
    const millis = Duration.toMillis(patience)
    let left = millis
    while (left > 0) {
      yield* Effect.sleep(left)
      left = progress.movedAt() + millis - clock.currentTimeMillisUnsafe()
    }
    return yield* new TimeoutError({ message: `Nothing moved for ${Duration.format(patience)}` })
  })

const redact = redacting("")

const lost = (cause: unknown): Transport => {
  const { code, ...failure } = transport.describe(cause)
  return new Transport({ ...failure, ...(code === undefined ? {} : { code }), cause: redact.cause(cause) })
}

// Trace headers would tell the host of our insides.
const withoutTracing = () => true

/** Sends a request, reads its answer to the end, and gives up when nothing moves, not when it takes long. */
export const send = (
  { body, headers, method, url }: HostRequest,
  progress: Progress,
  patience: Duration.Duration
): Effect.Effect<HostAnswer, Reason, HttpClient.HttpClient> =>
  Effect.suspend(() => {
    let early: Reason | undefined
    const stream =
      body === undefined
        ? HttpBody.empty
        : HttpBody.stream(
            edge(body.before).pipe(
              Stream.concat(counted(body, progress, (reason) => (early = reason))),
              Stream.concat(edge(body.after))
            ),
            body.type,
            lengthOf(body)
          )
    const request = HttpClientRequest.makeWith(
      method,
      url,
      UrlParams.empty,
      Option.none(),
      Headers.fromInput(headers),
      HttpBody.empty
    ).pipe(HttpClientRequest.setBody(stream))
    progress.touch()
    return HttpClient.execute(request).pipe(
      Effect.tap(() => Effect.sync(progress.touch)),
      Effect.flatMap((response) =>
        Effect.map(response.text, (text): HostAnswer => ({ status: response.status, text }))
      ),
      Duration.isFinite(patience) ? Effect.raceFirst(watching(progress, patience)) : (self) => self,
      Effect.provideService(HttpClient.TracerDisabledWhen, withoutTracing),
      Effect.mapError((cause): Reason => early ?? lost(cause)),
      Effect.flatMap((answer) => (early === undefined ? Effect.succeed(answer) : Effect.fail(early)))
    )
  })
