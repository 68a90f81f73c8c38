import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as HttpClient from "effect/http/HttpClient"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { withSpan } from "../../../base/internal/tracing.ts"
import * as ApiError from "../../../client/ApiError.ts"
import type { BotApi } from "../../../client/BotApi.ts"
import { transientFor } from "../../../client/internal/retry.ts"
import type { Download, Downloadable, DownloadErrors, OpenOptions } from "../../Attachments.ts"
import { DownloadFailed, Expired, NoAddress, type Reason, TooLarge } from "../../DownloadError.ts"
import { find, renew } from "./address.ts"
import { type Limits, type Part, type Position, request, toReason } from "./response.ts"

/** The reason on which `RetryPolicy` decides. */
const reasonOf = (reason: Reason): ApiError.Reason =>
  reason._tag === "Transport"
    ? reason
    : new ApiError.UnexpectedStatus({ status: reason._tag === "Rejected" ? reason.status : 200, body: "" })

/** The `transient` schedule of `RetryPolicy` for the failures that `isRetried` selects. */
const retries = (isRetried: (error: DownloadFailed) => boolean) =>
  transientFor("Attachments.download", (error: DownloadErrors) =>
    error._tag === "DownloadFailed" && isRetried(error) ? reasonOf(error.reason) : undefined
  )

/** The facts about a file that is being received. */
interface Progress {
  url: string | undefined
  /** Whether the address was renewed since the last byte. */
  isRenewed: boolean
  received: number
  size: number | undefined
  validator: string | undefined
  isResumable: boolean
}

const positionOf = ({ received, size, validator }: Progress): Position | undefined =>
  received > 0 && validator !== undefined ? { received, size, validator } : undefined

type Attempt = Effect.Effect<Part, DownloadErrors, BotApi | HttpClient.HttpClient>

/** Requests the rest of the file. The connection of the request before is closed. */
const makeAttempt = (
  attachment: Downloadable,
  { message_id }: OpenOptions,
  limits: Limits,
  progress: Progress,
  failed: (reason: Reason) => DownloadFailed,
  scope: Scope.Scope
): Attempt => {
  let connection: Scope.Closeable | undefined
  const send = (url: string) => request(url, positionOf(progress), limits)
  const renewed = Effect.fnUntraced(function* (expired: Expired) {
    const url = progress.isRenewed ? undefined : yield* renew(attachment, message_id)
    const wasAsked = attachment.type === "video" || message_id !== undefined
    if (url === undefined) return yield* failed(new Expired({ ...expired, isRenewed: wasAsked }))
    progress.isRenewed = true
    progress.url = url
    return yield* Effect.mapError(send(url), (reason) =>
      failed(reason._tag === "Expired" ? new Expired({ ...reason, isRenewed: true }) : reason)
    )
  })
  return Effect.gen(function* () {
    if (connection !== undefined) yield* Scope.close(connection, Exit.void)
    connection = yield* Scope.fork(scope)
    const url = (progress.url ??= yield* find(attachment))
    if (url === undefined) return yield* failed(new NoAddress())
    const part = yield* send(url).pipe(
      Effect.catch((reason) => (reason._tag === "Expired" ? renewed(reason) : Effect.fail(failed(reason)))),
      Scope.provide(connection)
    )
    progress.size = part.size
    progress.validator = part.validator
    progress.isResumable = part.isResumable
    return part
  })
}

const isChanged = (error: DownloadErrors): boolean => error._tag === "DownloadFailed" && error.reason._tag === "Changed"

/** Opens a file at its beginning, or at a position. */
export const open = (
  attachment: Downloadable,
  options: OpenOptions,
  limits: Limits
): Effect.Effect<Download, DownloadErrors, BotApi | HttpClient.HttpClient | Scope.Scope> =>
  Effect.gen(function* () {
    const { from } = options
    const { maxSize, statedSize } = limits
    const timeout = Duration.fromInputUnsafe(options.timeout ?? "10 minutes")
    if (statedSize !== undefined && statedSize > maxSize) {
      const reason = new TooLarge({ maxSize, size: statedSize })
      return yield* new DownloadFailed({ type: attachment.type, received: 0, reason })
    }
    const progress: Progress = {
      url: undefined,
      isRenewed: false,
      received: from?.received ?? 0,
      size: from?.size,
      validator: from?.validator,
      isResumable: false
    }
    if (from !== undefined && from.received === from.size) {
      return {
        from: from.received,
        size: from.size,
        validator: from.validator,
        contentType: undefined,
        bytes: Stream.empty
      }
    }
    const clock = yield* Clock.Clock
    const startedAt = clock.currentTimeMillisUnsafe()
    const failed = (reason: Reason) =>
      new DownloadFailed({ type: attachment.type, received: progress.received, reason })
    const timedOut = Effect.suspend(() =>
      Effect.fail(failed(toReason(new Cause.TimeoutError(`The download took longer than ${Duration.format(timeout)}`))))
    )
    const attempt = makeAttempt(attachment, options, limits, progress, failed, yield* Effect.scope)
    const startOver = Effect.suspend(() => {
      progress.received = 0
      progress.validator = undefined
      progress.size = undefined
      return attempt
    })
    const first = yield* attempt.pipe(
      Effect.catchIf(isChanged, () => startOver),
      Effect.retry(yield* retries(({ isRetryable }) => isRetryable)),
      Effect.timeoutOrElse({ duration: timeout, orElse: () => timedOut })
    )
    const start = progress.received
    let next: Part | undefined = first
    const bytes = Stream.suspend(() => {
      const part = next
      next = undefined
      return part === undefined
        ? Stream.unwrap(Effect.map(attempt, ({ bytes }) => received(bytes)))
        : received(part.bytes)
    })
    const received = (part: Part["bytes"]): Stream.Stream<Uint8Array, DownloadFailed> =>
      part.pipe(
        Stream.mapError(failed),
        Stream.map((chunk) => {
          progress.received += chunk.byteLength
          progress.isRenewed = false
          return chunk
        })
      )
    const schedule = yield* retries(
      (error) =>
        error.isRetryable && error.reason._tag !== "Changed" && (progress.isResumable || progress.received === start)
    )
    return {
      from: start,
      size: first.size,
      validator: first.isResumable ? first.validator : undefined,
      contentType: first.contentType,
      bytes: bytes.pipe(
        Stream.retry(schedule),
        Stream.interruptWhen(
          Effect.suspend(() =>
            Effect.delay(timedOut, Duration.toMillis(timeout) - (clock.currentTimeMillisUnsafe() - startedAt))
          )
        )
      )
    }
  }).pipe((opened) =>
    withSpan(opened, "Attachments.open", () => ({ attributes: { "attachment.type": attachment.type } }))
  )
