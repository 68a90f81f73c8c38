import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { SourceMismatch, type UploadFailed } from "../../UploadError.ts"
import { UploadEvent } from "../../UploadEvent.ts"
import { UploadLimits } from "../../UploadLimits.ts"
import type { Opened, UploadSource } from "../../UploadSource.ts"
import type { ResumeRequest, SavedUpload, UploadAddress, UploadRequest, UploadType } from "../../Uploads.ts"
import { checkContent, checkName, checkSize, headLength } from "./checks.ts"
import { join, readRange } from "./digest.ts"
import { failed, type Job, type Running, type Uploading } from "./job.ts"
import { leastPartSize, partSizeFor, uploadParts } from "./parts.ts"
import { peek } from "./peek.ts"
import * as progress from "./progressEvents.ts"
import { sourceFailed } from "./request.ts"
import { type Opening, uploadWhole } from "./whole.ts"

type Request = UploadRequest | ResumeRequest

/** A smaller file goes faster in one request. */
const resumableFrom = 2 ** 24

const isContinuation = (request: Request): request is ResumeRequest => "saved" in request

/** What is uploaded, as it was asked for at first. */
const settled = (request: Request): { readonly type: UploadType; readonly name?: string | undefined } =>
  isContinuation(request) ? request.saved : request

const isRandomAccess = (source: UploadSource): source is UploadSource<"randomAccess"> =>
  source.access === "randomAccess"

/** Gives a range of a beginning that was read already, and zeros behind it. */
const rangeOf = (head: Uint8Array, size: number | undefined) => (from: number, to: number) => {
  const bytes = new Uint8Array(Math.max(0, Math.min(to, size ?? head.byteLength) - from))
  bytes.set(head.subarray(from, to))
  return Effect.succeed(bytes)
}

const readable =
  (job: Job) =>
  <A, R>(self: Effect.Effect<A, unknown, R>): Effect.Effect<A, UploadFailed, R> =>
    Effect.mapError(self, (cause) => failed(job, sourceFailed(cause)))

/** Opens the source, and looks at what it tells of itself. */
const opening = (job: Job, source: UploadSource): Opening => {
  const { limits } = job
  const orFail = readable(job)
  return Effect.gen(function* () {
    const opened = yield* orFail(source.open)
    const { size } = opened
    const tooLarge = size === undefined ? undefined : checkSize(limits, size)
    if (tooLarge !== undefined) return yield* failed(job, tooLarge)
    if (limits.maxSide === undefined && limits.maxDuration === undefined) return opened
    const looked = isRandomAccess(source)
      ? { opened, length: size ?? 0, range: (from: number, to: number) => readRange(opened, from, to) }
      : yield* Effect.map(orFail(peek(opened, headLength)), ({ head, opened }) => {
          const bytes = join(head)
          return { opened, length: size ?? bytes.byteLength, range: rangeOf(bytes, size) }
        })
    const issue = yield* checkContent(limits, looked.length, looked.range)
    return issue === undefined ? looked.opened : yield* failed(job, issue)
  })
}

/** The upload in parts that a request asks for, or that is best for it. */
const inParts = (
  job: Job,
  request: Exclude<Request, ResumeRequest>,
  { identity, size = 0 }: Opened
): Running<SavedUpload | undefined> => {
  const method = request.method ?? (size < resumableFrom ? "multipart" : "resumable")
  // No range of bytes tells of an empty file.
  if (method === "multipart" || size === 0) return Effect.succeed(undefined)
  const asked = "partSize" in request ? request.partSize : undefined
  return Effect.gen(function* () {
    const known = yield* readable(job)(identity)
    const { token, url } = yield* job.ask
    const { name, type } = job
    return {
      type,
      name,
      url,
      ...(token == null ? {} : { token }),
      size,
      partSize: asked === undefined ? partSizeFor(size) : Math.max(asked, leastPartSize(size)),
      identity: known
    }
  })
}

const isSame = (job: Job, { identity, size }: Opened, saved: SavedUpload): Running<boolean> =>
  size === saved.size ? Effect.map(readable(job)(identity), (known) => known === saved.identity) : Effect.succeed(false)

const run = Effect.fnUntraced(function* (job: Job, request: Request) {
  const { source } = request
  const misnamed = checkName(job.limits, job.name)
  if (misnamed !== undefined) return yield* failed(job, misnamed)
  const open = opening(job, source)
  if (!isRandomAccess(source)) return yield* uploadWhole(job, source, open)
  const opened = yield* open
  if (isContinuation(request)) {
    const { saved } = request
    if (!(yield* isSame(job, opened, saved))) return yield* failed(job, new SourceMismatch())
    return yield* uploadParts(job, opened, { saved, isNew: false })
  }
  const saved = yield* inParts(job, request, opened)
  if (saved === undefined) return yield* uploadWhole(job, source, Effect.succeed(opened))
  job.tell(UploadEvent.Started({ saved }))
  return yield* uploadParts(job, opened, { saved, isNew: true })
})

/** Carries out an upload; `create` asks for an address, `tell` learns what happens. */
export const upload = (
  create: (request: { readonly type: UploadType }) => Running<UploadAddress>,
  request: Request,
  tell: (event: UploadEvent) => void
): Uploading =>
  Effect.gen(function* () {
    const { name = request.source.name, type } = settled(request)
    const clock = yield* Clock.Clock
    const limits = (yield* UploadLimits)[type]
    const job: Job = {
      type,
      name: name ?? type,
      limits,
      patience: Duration.fromInputUnsafe(request.stallTimeout ?? "2 minutes"),
      measure: (size) => progress.make(clock, size, tell),
      tell,
      ask: create({ type })
    }
    return yield* run(job, request)
  }).pipe(Effect.scoped, Effect.withSpan("Uploads.upload", { attributes: { "upload.type": settled(request).type } }))
