import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { withSpan } from "../../../base/internal/tracing.ts"
import { InvalidRequest, RequestFailed } from "../../../client/ApiError.ts"
import {
  type Media,
  type ResumeRequest,
  type SavedUpload,
  type UploadAddress,
  UploadEvent,
  UploadLimits,
  type UploadRequest,
  UploadType
} from "../../Upload.ts"
import { SourceMismatch, type UploadFailed } from "../../UploadError.ts"
import type { Opened, UploadSource } from "../../UploadSource.ts"
import { readHead, readRange } from "./content.ts"
import { checkContent, checkName, checkSize, headSize, limitsContent } from "./limits.ts"
import * as progress from "./progress.ts"
import { sourceFailed } from "./request.ts"
import {
  endpoint,
  failed,
  type OpenSource,
  partSizeFor,
  type Step,
  type Transfer,
  uploadMultipart,
  uploadResumable
} from "./transfer.ts"

type Request = UploadRequest | ResumeRequest

// A smaller file is faster in one request.
const minResumableSize = 2 ** 24

const isResume = (request: Request): request is ResumeRequest => "saved" in request

const hasRandomAccess = (source: UploadSource): source is UploadSource<"randomAccess"> =>
  source.access === "randomAccess"

/** Reads ranges of a head that is in memory. Bytes after the head are read as zeros. */
const rangeReaderOf = (head: Uint8Array, size: number | undefined) => (from: number, to: number) => {
  const bytes = new Uint8Array(Math.max(0, Math.min(to, size ?? head.byteLength) - from))
  bytes.set(head.subarray(from, to))
  return Effect.succeed(bytes)
}

const orSourceFailed =
  (transfer: Transfer) =>
  <A, R>(self: Effect.Effect<A, unknown, R>): Effect.Effect<A, UploadFailed, R> =>
    Effect.mapError(self, (cause) => failed(transfer, sourceFailed(cause)))

/** Opens the source and checks its size and its content. */
const openSource = (transfer: Transfer, source: UploadSource): OpenSource =>
  Effect.gen(function* () {
    const { limits } = transfer
    const opened = yield* source.open
    const { size } = opened
    const sizeExceeded = size === undefined ? undefined : checkSize(limits, size)
    if (sizeExceeded !== undefined) return yield* sizeExceeded
    if (!limitsContent(limits)) return opened
    const inspected = hasRandomAccess(source)
      ? { opened, size: size ?? 0, readRange: (from: number, to: number) => readRange(opened, from, to) }
      : yield* Effect.map(readHead(opened, headSize), ({ head, opened }) => ({
          opened,
          size: size ?? head.byteLength,
          readRange: rangeReaderOf(head, size)
        }))
    const limitExceeded = yield* checkContent(limits, inspected.size, inspected.readRange)
    return limitExceeded === undefined ? inspected.opened : yield* limitExceeded
  }).pipe(orSourceFailed(transfer))

/** Creates a resumable upload, or returns `undefined` if the request is to be sent by `multipart`. */
const startResumable = (transfer: Transfer, request: UploadRequest, opened: Opened): Step<SavedUpload | undefined> => {
  const { identity, size = 0 } = opened
  const method = request.method ?? (size < minResumableSize ? "multipart" : "resumable")
  // An empty file has no byte range.
  if (method === "multipart" || size === 0) return Effect.succeed(undefined)
  const requestedPartSize = "partSize" in request ? request.partSize : undefined
  return Effect.gen(function* () {
    const sourceIdentity = yield* orSourceFailed(transfer)(identity)
    const { token, url } = yield* transfer.createAddress
    const { name, type } = transfer
    return {
      type,
      name,
      url,
      ...(token == null ? {} : { token }),
      size,
      partSize: partSizeFor(size, requestedPartSize),
      identity: sourceIdentity
    }
  })
}

const run = Effect.fnUntraced(function* (transfer: Transfer, request: Request) {
  const { source } = request
  const nameRejected = checkName(transfer.limits, transfer.name)
  if (nameRejected !== undefined) return yield* failed(transfer, nameRejected)
  const open = openSource(transfer, source)
  if (!hasRandomAccess(source)) return yield* uploadMultipart(transfer, source, open)
  const opened = yield* open
  if (isResume(request)) {
    const { saved } = request
    const isSame = opened.size === saved.size && (yield* orSourceFailed(transfer)(opened.identity)) === saved.identity
    if (!isSame) return yield* failed(transfer, new SourceMismatch())
    return yield* uploadResumable(transfer, opened, { saved, isNew: false })
  }
  const saved = yield* startResumable(transfer, request, opened)
  if (saved === undefined) return yield* uploadMultipart(transfer, source, Effect.succeed(opened))
  transfer.emit(UploadEvent.Started({ saved }))
  return yield* uploadResumable(transfer, opened, { saved, isNew: true })
})

const isUploadType = Schema.is(UploadType)

const invalidType = new InvalidRequest({
  issues: [{ field: "type", problem: `must be one of ${UploadType.literals.join(", ")}` }]
})

/** Runs an upload. `createAddress` requests an upload address, `emit` receives the events. */
export const upload = (
  createAddress: (request: { readonly type: UploadType }) => Step<UploadAddress>,
  request: Request,
  emit: (event: UploadEvent) => void
): Step<Media> => {
  const { name = request.source.name, type }: { readonly type: UploadType; readonly name?: string | undefined } =
    isResume(request) ? request.saved : request
  if (!isUploadType(type)) return Effect.fail(new RequestFailed({ endpoint, reason: invalidType }))
  return Effect.gen(function* () {
    const clock = yield* Clock.Clock
    const limits = (yield* UploadLimits)[type]
    return yield* run(
      {
        type,
        name: name ?? type,
        limits,
        stallTimeout: Duration.fromInputUnsafe(request.stallTimeout ?? "2 minutes"),
        makeProgress: (size) => progress.make(clock, size, emit),
        emit,
        createAddress: createAddress({ type })
      },
      request
    )
  }).pipe(Effect.scoped, (upload) =>
    withSpan(upload, "Uploads.upload", () => ({ attributes: { "upload.type": type } }))
  )
}
