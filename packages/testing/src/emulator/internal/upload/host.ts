import * as Platform from "@colloquy/core/base/Platform"
import type { UploadType } from "@colloquy/core/endpoints/Upload"
import * as Effect from "effect/Effect"
import * as Multipart from "effect/http/Multipart"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { formProblem } from "../http/requestBody.ts"
import * as refusal from "../http/refusal.ts"
import { allowedMethods } from "../http/router.ts"
import { type Body, type Request, respond, type Response } from "../../EmulatorHttp.ts"
import { allow, headersIn } from "../http/wire.ts"
import { checkExtension, checkSize } from "./limits.ts"
import { bytesOf, copyProbe, makeProbe, secondsOf, writeTo } from "./mediaProbe.ts"
import { infoOf } from "./mp4.ts"
import { readImage, serveFile } from "./files.ts"
import { nextName } from "../platform/ids.ts"
import { completeMedia, createMedia, processingTime } from "../platform/media.ts"
import type { PlatformState, UploadSlot } from "../platform/state.ts"

/** Creates an upload address, which accepts one file. */
export const openSlot = (state: PlatformState, type: UploadType): UploadSlot => {
  const id = nextName(state, "slot")
  const media = createMedia(state, type)
  const slot: UploadSlot = {
    id,
    address: `/upload/${id}${type === "image" ? `?token=${encodeURIComponent(media.token)}` : ""}`,
    media,
    size: undefined,
    probe: makeProbe(type),
    isUsed: false
  }
  state.uploadSlots.set(id, slot)
  return slot
}

const toRefusal = (error: unknown): refusal.Refusal => {
  if (error instanceof refusal.Refusal) return error
  const problem = formProblem(error)
  return problem === undefined
    ? refusal.of(400, "upload.unreadable", "The body ended before it was complete")
    : refusal.of(400, "upload.form", problem)
}

const readFile = Effect.fnUntraced(function* (
  { media, probe: received }: UploadSlot,
  filename: string | undefined,
  bytes: Stream.Stream<Uint8Array, unknown>,
  release: Body["release"]
) {
  yield* checkExtension(media.type, filename)
  const probe = copyProbe(received)
  yield* Stream.runForEach(bytes, (chunk) => {
    if (!writeTo(probe, chunk)) release?.(chunk)
    return checkSize(media.type, probe.size)
  })
  return { filename, probe }
})

type ReceivedFile = Effect.Success<ReturnType<typeof readFile>>

/** @assumption fileNameEncoding */
const decodeName = (name: string): string =>
  Result.getOrElse(
    Result.try(() => decodeURIComponent(name)),
    () => name
  )

/**
 * Whether a field of a form holds the file.
 *
 * @assumption uploadFields
 */
const isFileField = ({ media }: UploadSlot, name: string): boolean =>
  name === "data" || (name === "file" && (media.type === "audio" || media.type === "video"))

const readForm = (slot: UploadSlot, request: Request): refusal.Refusable<ReceivedFile> => {
  type Received = ReceivedFile | undefined
  const readPart = (file: Received, part: Multipart.Part): Effect.Effect<Received, unknown> => {
    if (!Multipart.isFile(part)) return Effect.succeed(file)
    if (!isFileField(slot, part.key)) return Effect.as(Stream.runDrain(part.content), file)
    return file === undefined
      ? readFile(slot, decodeName(part.name), part.content, request.body.release)
      : refusal.of(400, "upload.more.files", "An upload address accepts one file, but the form has more")
  }
  return request.body.bytes.pipe(
    Stream.pipeThroughChannel(Multipart.makeChannel(headersIn(request))),
    Stream.runFoldEffect((): Received => undefined, readPart),
    Effect.mapError(toRefusal),
    Effect.flatMap((file) =>
      refusal.found(file, () => refusal.of(400, "upload.no.data", "The form has no file in the field `data`"))
    )
  )
}

const filenameOf = (contentDisposition: string | undefined): string | undefined => {
  const [, quoted, bare] =
    /\bfilename(?:=|\*=UTF-8'[^']*')(?:"([^"]*)"|([^\s";]+))/i.exec(contentDisposition ?? "") ?? []
  const name = quoted ?? bare
  return name === undefined ? undefined : decodeName(name)
}

const readRawBody = (slot: UploadSlot, { body, headers }: Request): refusal.Refusable<ReceivedFile> =>
  Effect.mapError(readFile(slot, filenameOf(headers["content-disposition"]), body.bytes, body.release), toRefusal)

const alreadyUsed = () => refusal.of(400, "upload.used", "A file was already uploaded to this address")

const plainText = { "content-type": "text/plain" }

const completed = ({ id, media }: UploadSlot): Response => {
  switch (media.type) {
    case "image":
      return respond(200, { photos: { [id]: { token: media.token } } })
    case "file":
      return respond(200, { fileId: Number(media.photo_id % 1_000_000_000n), token: media.token })
    default:
      return respond(200, "<retval>1</retval>", { "content-type": "text/xml" })
  }
}

const storeFile = Effect.fnUntraced(function* (
  state: PlatformState,
  slot: UploadSlot,
  { filename, probe }: ReceivedFile
) {
  const { media } = slot
  slot.isUsed = true
  if (media.type === "image") state.files.set(String(media.photo_id), yield* readImage(bytesOf(probe)))
  const video = infoOf(probe.mp4)
  if (media.type === "video" && video !== undefined && video.width > 0) media.video = video
  if (media.type === "audio" && (secondsOf(probe) ?? 0) * 1000 > Platform.maxAudioDuration) {
    return yield* refusal.of(
      400,
      "upload.duration",
      `Audio must not be longer than ${Platform.maxAudioDuration / 1000} seconds`
    )
  }
  const { size } = probe
  completeMedia(state, media, { filename, size }, processingTime(state, size))
})

const discardParts = (slot: UploadSlot): void => {
  slot.size = undefined
  slot.probe = makeProbe(slot.media.type)
}

/** After a failed upload the address accepts another file. */
const reopen = (slot: UploadSlot): Effect.Effect<void> =>
  Effect.sync(() => {
    slot.isUsed = false
    discardParts(slot)
  })

const receiveFile = Effect.fnUntraced(function* (state: PlatformState, slot: UploadSlot, request: Request) {
  slot.isUsed = true
  discardParts(slot)
  const isForm = /^multipart\/form-data\b/i.test(request.headers["content-type"] ?? "")
  yield* (isForm ? readForm(slot, request) : readRawBody(slot, request)).pipe(
    Effect.flatMap((received) => storeFile(state, slot, received)),
    Effect.onError(() => reopen(slot))
  )
  return completed(slot)
})

/** Reads the bytes of one part: `last` is inclusive, and `size` is the size of the whole file. */
const parseContentRange = Effect.fnUntraced(function* (header: string) {
  const [, first, last, size] = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(header) ?? []
  const range = { first: Number(first), last: Number(last), size: Number(size) }
  if (range.first <= range.last && range.last < range.size) return range
  return yield* refusal.of(416, "upload.range", "Content-Range must be `bytes first-last/size`")
})

type ContentRange = Effect.Success<ReturnType<typeof parseContentRange>>

const isNextPart = ({ first, size }: ContentRange, slot: UploadSlot): boolean =>
  first === slot.probe.size && size === (slot.size ?? size)

const describeProgress = ({ probe, size }: UploadSlot): string => `0-${probe.size - 1}/${size}`

/**
 * A part is added when its last byte is received. The response to the last part of a video or an audio states the range
 * and the `retval`.
 *
 * @assumption partResponse
 */
const receivePart = Effect.fnUntraced(function* (
  state: PlatformState,
  slot: UploadSlot,
  request: Request,
  range: ContentRange
) {
  const { type } = slot.media
  yield* checkSize(type, range.size)
  if (!isNextPart(range, slot)) {
    return yield* refusal.of(416, "upload.range", "The part does not start where the last one ended")
  }
  const received = yield* readRawBody(slot, request)
  if (slot.isUsed) return yield* alreadyUsed()
  if (received.probe.size !== range.last + 1 || !isNextPart(range, slot)) {
    return yield* refusal.of(416, "upload.range", "The length of the part does not match its Content-Range")
  }
  slot.size = range.size
  slot.probe = received.probe
  const progress = describeProgress(slot)
  if (slot.probe.size < slot.size) return respond(201, progress, plainText)
  yield* Effect.onError(storeFile(state, slot, received), () => reopen(slot))
  discardParts(slot)
  const response = completed(slot)
  return type === "image" || type === "file" ? response : respond(200, `${progress}\n${response.body}`, plainText)
})

const reportProgress = (slot: UploadSlot): Response =>
  slot.size === undefined ? respond(204, "") : respond(200, describeProgress(slot), plainText)

const fileMethods = allowedMethods(["GET"])

const uploadMethods = allowedMethods(["GET", "POST"])

const isRead = ({ method }: Request): boolean => method === "GET" || method === "HEAD"

const methodNotAllowed = (code: string, advice: string, methods: ReadonlyArray<string>): refusal.Refusal =>
  refusal.of(405, code, advice, { allow: methods.join(", ") })

const serveDownload = (state: PlatformState, request: Request): refusal.Refusable<Response> => {
  if (request.method === "OPTIONS") return Effect.succeed(allow(fileMethods))
  if (!isRead(request)) return methodNotAllowed("image.method", "Read files with GET", fileMethods)
  return serveFile(state, request)
}

/** Serves the upload hosts: a file is received as a form, as raw bytes, or in parts. The hosts serve the files too. */
export const serveUploadHost = (state: PlatformState, request: Request): refusal.Refusable<Response> =>
  Effect.suspend(() => {
    const { listener, headers, method, path, query } = request
    if (method === "OPTIONS" && path === "*") return Effect.succeed(allow(uploadMethods))
    if (path.startsWith(listener.kind === "image" ? "/images/" : "/files/")) return serveDownload(state, request)
    const id = /^\/upload\/([^/]+)$/.exec(path)?.[1]
    const slot = id === undefined ? undefined : state.uploadSlots.get(id)
    if (slot?.media.type !== listener.kind || slot.address !== path + query) {
      return refusal.of(404, "upload.not.found", "There is no such upload address: use it exactly as it was returned")
    }
    if (method === "OPTIONS") return Effect.succeed(allow(uploadMethods))
    if (!isRead(request) && method !== "POST") {
      return methodNotAllowed("upload.method", "Send the file with POST", uploadMethods)
    }
    if (slot.isUsed) return alreadyUsed()
    if (isRead(request)) return Effect.succeed(reportProgress(slot))
    const range = headers["content-range"]
    return range === undefined
      ? receiveFile(state, slot, request)
      : Effect.flatMap(parseContentRange(range), (range) => receivePart(state, slot, request, range))
  })
