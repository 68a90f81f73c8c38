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

const isChanged = (error: DownloadErrors): boolean => error._tag === "DownloadFailed" && error.reason._tag === "Changed"

/** Opens a file at its beginning, or at a position. */
export const open = (
  attachment: Downloadable,
  options: OpenOptions,
  limits: Limits
): Effect.Effect<Download, DownloadErrors, BotApi | HttpClient.HttpClient | Scope.Scope> =>
  Effect.gen(function* () {
    const { message_id } = options
    const { maxSize, statedSize } = limits
    const timeout = Duration.fromInputUnsafe(options.timeout ?? "10 minutes")
    if (statedSize !== undefined && statedSize > maxSize) {
      const reason = new TooLarge({ maxSize, size: statedSize })
      return yield* new DownloadFailed({ type: attachment.type, received: 0, reason })
    }
    let { received = 0, size, validator }: Partial<Position> = options.from ?? {}
    if (options.from !== undefined && received === size)
      return { from: received, size, validator, contentType: undefined, bytes: Stream.empty }
    let address: string | undefined
    /** Whether the address was renewed since the last byte. */
    let isRenewed = false
    let isResumable = false
    let connection: Scope.Closeable | undefined
    const scope = yield* Effect.scope
    const clock = yield* Clock.Clock
    const startedAt = clock.currentTimeMillisUnsafe()
    const failed = (reason: Reason) => new DownloadFailed({ type: attachment.type, received, reason })
    const timedOut = Effect.suspend(() =>
      Effect.fail(failed(toReason(new Cause.TimeoutError(`The download took longer than ${Duration.format(timeout)}`))))
    )
    const send = (url: string) =>
      request(url, received > 0 && validator !== undefined ? { received, size, validator } : undefined, limits)
    const renewed = Effect.fnUntraced(function* (expired: Expired) {
      const url = isRenewed ? undefined : yield* renew(attachment, message_id)
      const wasAsked = attachment.type === "video" || message_id !== undefined
      if (url === undefined) return yield* failed(new Expired({ ...expired, isRenewed: wasAsked }))
      isRenewed = true
      address = url
      return yield* Effect.mapError(send(url), (reason) =>
        failed(reason._tag === "Expired" ? new Expired({ ...reason, isRenewed: true }) : reason)
      )
    })
    /** Requests the rest of the file. The connection of the request before is closed. */
    const attempt: Effect.Effect<Part, DownloadErrors, BotApi | HttpClient.HttpClient> = Effect.gen(function* () {
      if (connection !== undefined) yield* Scope.close(connection, Exit.void)
      connection = yield* Scope.fork(scope)
      const url = (address ??= yield* find(attachment))
      if (url === undefined) return yield* failed(new NoAddress())
      const part = yield* send(url).pipe(
        Effect.catch((reason) => (reason._tag === "Expired" ? renewed(reason) : Effect.fail(failed(reason)))),
        Scope.provide(connection)
      )
      size = part.size
      validator = part.validator
      isResumable = part.isResumable
      return part
    })
    const startOver = Effect.suspend(() => {
      received = 0
      validator = undefined
      size = undefined
      return attempt
    })
    const first = yield* attempt.pipe(
      Effect.catchIf(isChanged, () => startOver),
      Effect.retry(yield* retries(({ isRetryable }) => isRetryable)),
      Effect.timeoutOrElse({ duration: timeout, orElse: () => timedOut })
    )
    const start = received
    let next: Part | undefined = first
    const bytes = Stream.suspend(() => {
      const part = next
      next = undefined
      return part === undefined
        ? Stream.unwrap(Effect.map(attempt, ({ bytes }) => counted(bytes)))
        : counted(part.bytes)
    })
    const counted = (part: Part["bytes"]): Stream.Stream<Uint8Array, DownloadFailed> =>
      part.pipe(
        Stream.mapError(failed),
        Stream.map((chunk) => {
          received += chunk.byteLength
          isRenewed = false
          return chunk
        })
      )
    const schedule = yield* retries(
      (error) => error.isRetryable && error.reason._tag !== "Changed" && (isResumable || received === start)
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
