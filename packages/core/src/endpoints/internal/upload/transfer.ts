import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpBody from "effect/http/HttpBody"
import type * as HttpClient from "effect/http/HttpClient"
import * as Random from "effect/Random"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as ApiError from "../../../client/ApiError.ts"
import type { BotApi } from "../../../client/BotApi.ts"
import { transientFor } from "../../../client/internal/retry.ts"
import * as Platform from "../../../base/Platform.ts"
import {
  type Limits,
  type Media,
  type SavedUpload,
  type UploadAddress,
  UploadEvent,
  type UploadType
} from "../../Upload.ts"
import { type Reason, Rejected, UploadFailed } from "../../UploadError.ts"
import type { Opened, UploadSource } from "../../UploadSource.ts"
import { chunkSize } from "./content.ts"
import { checkSize } from "./limits.ts"
import type { Progress } from "./progress.ts"
import { fileNameParameter, type HostResponse, mediaOf, receivedBytes, rejectionOf } from "./protocol.ts"
import { type HostRequest, send } from "./request.ts"

/** The context of an upload, for both methods. */
export interface Transfer {
  readonly type: UploadType
  readonly name: string
  readonly limits: Limits
  readonly stallTimeout: Duration.Duration
  readonly makeProgress: (size: number | undefined) => Progress
  readonly emit: (event: UploadEvent) => void
  /** Requests an upload address from the platform. */
  readonly createAddress: Step<UploadAddress>
}

export type Step<A> = Effect.Effect<A, UploadFailed | ApiError.Common, BotApi | HttpClient.HttpClient>

export const failed = ({ name, type }: Pick<Transfer, "name" | "type">, reason: Reason, saved?: SavedUpload) =>
  new UploadFailed({ type, fileName: name, reason, ...(saved === undefined ? {} : { saved }) })

const sendRequest = (transfer: Transfer, progress: Progress, request: HostRequest, saved?: SavedUpload) =>
  Effect.mapError(send(request, progress, transfer.stallTimeout), (reason) => failed(transfer, reason, saved))

const failIfRejected = (transfer: Transfer, response: HostResponse, saved?: SavedUpload) => {
  const rejection = rejectionOf(response)
  return rejection === undefined ? Effect.void : Effect.fail(failed(transfer, rejection, saved))
}

/** Returns the attachment that the response to the last bytes of the file states. */
const complete = (
  transfer: Transfer,
  token: string | undefined,
  response: HostResponse,
  size: number | undefined,
  saved?: SavedUpload
): Step<Media> =>
  Effect.mapError(Effect.fromResult(mediaOf(transfer.type, token, response, size)), (reason) =>
    failed(transfer, reason, saved)
  )

/** The name of an upload in errors. */
export const endpoint = "Uploads.upload"

/** Returns the reason on which `RetryPolicy` decides, or `undefined` if the failure is not retryable. */
const reasonOf = (error: UploadFailed | ApiError.Common): ApiError.Reason | undefined => {
  if (!(error instanceof UploadFailed && error.isRetryable)) return undefined
  const { reason } = error
  if (reason._tag === "Transport") return reason
  if (reason._tag !== "Rejected") return undefined
  const { _tag: _, ...response } = reason
  return new ApiError.UnexpectedStatus(response)
}

/** Retries by the `transient` schedule of `RetryPolicy`. An incomplete upload is invisible, so a retry is always safe. */
const retryTransient = <A>(attempt: Step<A>): Step<A> =>
  Effect.flatMap(transientFor(endpoint, reasonOf), (schedule) => Effect.retry(attempt, schedule))

const encode = (text: string): Uint8Array => HttpBody.text(text).body

const makeForm = Effect.fnUntraced(function* (name: string) {
  const boundary = `colloquy-${yield* Random.nextInt}-${yield* Random.nextInt}`
  const head = [
    `--${boundary}`,
    `content-disposition: form-data; name="data"; ${fileNameParameter(name)}`,
    "content-type: application/octet-stream"
  ]
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    prefix: encode(`${head.join("\r\n")}\r\n\r\n`),
    suffix: encode(`\r\n--${boundary}--\r\n`)
  }
})

/** Opens a source and checks the limits. */
export type OpenSource = Effect.Effect<Opened, UploadFailed, HttpClient.HttpClient | Scope.Scope>

/** Sends the whole file in one request. A retry starts over at another address. */
export const uploadMultipart = (transfer: Transfer, { access }: UploadSource, open: OpenSource): Step<Media> => {
  const attempt: Step<Media> = Effect.scoped(
    Effect.gen(function* () {
      const { read, size } = yield* open
      const { token, url } = yield* transfer.createAddress
      const progress = transfer.makeProgress(size)
      progress.moveTo(0)
      const response = yield* sendRequest(transfer, progress, {
        method: "POST",
        url,
        body: {
          ...(yield* makeForm(transfer.name)),
          content: read(0, size ?? Infinity),
          length: size,
          checkSize: (length) => checkSize(transfer.limits, length)
        }
      })
      yield* failIfRejected(transfer, response)
      return yield* complete(transfer, token ?? undefined, response, size)
    })
  )
  return access === "once" ? attempt : retryTransient(attempt)
}

// After a failure, up to one part is sent again. Small parts keep the repetition cheap, and half of the allowed number
// is enough.
const minDefaultPartSize = 2 ** 21
const defaultMaxParts = 512

/** Returns the size of the parts of a file. */
export const partSizeFor = (size: number, requested: number | undefined): number =>
  requested === undefined
    ? Math.max(minDefaultPartSize, Math.ceil(size / defaultMaxParts / chunkSize) * chunkSize)
    : Math.max(requested, Math.ceil(size / Platform.maxUploadParts))

/** @assumption uploadStatusUnavailable */
const isUnavailable = (status: number): boolean => [408, 429, 502, 503, 504].includes(status)

/** @assumption misplacedPart */
const isOffsetRejected = (status: number): boolean => status === 416 || status === 500

/** Maximum number of addresses of one upload. */
const maxAddresses = 4

/**
 * Sends the file in parts. After a failure, queries the number of bytes that the host has received, and continues
 * there.
 *
 * @assumption partRequest
 */
export const uploadResumable = (
  transfer: Transfer,
  { read }: Opened,
  options: { readonly saved: SavedUpload; readonly isNew: boolean }
): Step<Media> => {
  let { saved } = options
  const { size } = saved
  const progress = transfer.makeProgress(size)
  const lastPart = Math.floor((size - 1) / saved.partSize) * saved.partSize
  /** The next byte to send. */
  let offset = 0
  /** Whether the host has confirmed `offset`. */
  let isConfirmed = options.isNew
  /** The number of rejections of a part at `offset`. */
  let rejections = 0
  let addresses = 1
  /** The failure because of which there is no response to the last part. */
  let lost: UploadFailed | ApiError.Common | undefined
  /** Whether the last part was sent again for its response. */
  let isRepeated = false

  const moveTo = (to: number) => {
    if (to !== offset) rejections = 0
    offset = to
    isConfirmed = true
    progress.moveTo(to)
  }

  const startOver = (response: HostResponse): Step<void> =>
    Effect.gen(function* () {
      if (addresses === maxAddresses) {
        const rejection = rejectionOf(response)
        if (rejection === undefined && lost !== undefined) return yield* lost
        const { status, text } = response
        return yield* failed(transfer, rejection ?? new Rejected({ status, body: text }))
      }
      addresses++
      isRepeated = false
      const { token, url } = yield* transfer.createAddress
      const { token: _, ...rest } = saved
      saved = { ...rest, url, ...(token == null ? {} : { token }) }
      rejections = 0
      transfer.emit(UploadEvent.Started({ saved }))
      moveTo(0)
    })

  /**
   * Queries the number of bytes that the host has received. Returns the attachment if the host states that the file is
   * complete.
   *
   * @assumption uploadStatus
   */
  const queryOffset: Step<Media | undefined> = Effect.gen(function* () {
    const response = yield* sendRequest(transfer, progress, { method: "GET", url: saved.url }, saved)
    const { status, text } = response
    if (isUnavailable(status)) yield* failIfRejected(transfer, response, saved)
    const completed = mediaOf(transfer.type, saved.token, response, size)
    if (status === 200 && rejectionOf(response) === undefined && Result.isSuccess(completed)) return completed.success
    const received = status === 200 ? receivedBytes(text, size) : status === 204 ? 0 : undefined
    const isStuck = received === offset && rejections > 1
    // The response with the token of the image or the file was lost. The host may repeat the response.
    if (received === size && !isRepeated) {
      isRepeated = true
      moveTo(lastPart)
    } else if (received === undefined || isStuck || received === size) yield* startOver(response)
    else moveTo(received)
    return undefined
  })

  const sendPart = (first: number, end: number): Step<Media | undefined> =>
    Effect.gen(function* () {
      isConfirmed = false
      const request: HostRequest = {
        method: "POST",
        url: saved.url,
        headers: {
          "content-range": `bytes ${first}-${end - 1}/${size}`,
          "content-disposition": `attachment; ${fileNameParameter(transfer.name)}`
        },
        body: {
          contentType: "application/octet-stream",
          content: read(first, end),
          length: end - first,
          checkSize: () => undefined
        }
      }
      const response = yield* sendRequest(transfer, progress, request, saved)
      if (isOffsetRejected(response.status)) rejections++
      yield* failIfRejected(transfer, response, saved)
      if (end === size) return yield* complete(transfer, saved.token, response, size, saved)
      moveTo(receivedBytes(response.text, size) ?? end)
      return undefined
    })

  const step: Step<Media | undefined> = Effect.gen(function* () {
    if (!isConfirmed) {
      const completed = yield* queryOffset
      if (completed !== undefined) return completed
    }
    const first = offset
    const end = Math.min(first + saved.partSize, size)
    const sent = sendPart(first, end)
    return yield* end < size ? sent : Effect.tapError(sent, (error) => Effect.sync(() => void (lost = error)))
  })

  return Effect.gen(function* () {
    if (options.isNew) moveTo(0)
    let media: Media | undefined
    while (media === undefined) media = yield* retryTransient(step)
    return media
  })
}
