import * as Multipart from "effect/http/Multipart"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { secondsOf } from "./audioLength.ts"
import { processingTime } from "./media.ts"
import type { UploadSlot } from "./model.ts"
import { type Film, readMp4 } from "./mp4.ts"
import { decodePercent } from "./percent.ts"
import { readPicture, show } from "./pictures.ts"
import { Refusal } from "./refusal.ts"
import { join } from "./readText.ts"
import { failure, longestAudio, refuseName, refuseSize } from "./uploadLimits.ts"
import { after, continues, describe, type Range, readRange } from "./uploadParts.ts"
import { type Body, headersIn, type Request, respond, type Response } from "./wire.ts"
import type { World } from "./world.ts"

type UploadType = UploadSlot["media"]["type"]

interface Received {
  readonly filename: string | undefined
  readonly size: number
  readonly pieces: ReadonlyArray<Uint8Array>
}

const unreadable = (error: unknown): Refusal =>
  error instanceof Refusal ? error : failure(400, "upload.unreadable", "The body could not be read to its end")

/** How much of the beginning of audio and videos is looked at. */
const headLength = 2 ** 18

/** Whether the bytes at a place of a file are looked at later: all of a picture, the beginning of what is played. */
const isKept = (type: UploadType, at: number): boolean => type === "image" || (type !== "file" && at < headLength)

/** Takes a file, or the part of it from `start` on, for as long as it is not too large. */
const takeFile = (
  type: UploadType,
  filename: string | undefined,
  bytes: Stream.Stream<Uint8Array, unknown>,
  release: Body["release"],
  start = 0
): Effect.Effect<Received, unknown> =>
  Effect.suspend((): Effect.Effect<Received, unknown> => {
    const refused = refuseName(type, filename)
    if (refused !== undefined) return refused
    const pieces: Array<Uint8Array> = []
    let size = 0
    const take = (chunk: Uint8Array): Effect.Effect<void, Refusal> => {
      const at = start + size
      size += chunk.byteLength
      if (isKept(type, at)) pieces.push(chunk)
      else release?.(chunk)
      return refuseSize(type, size) ?? Effect.void
    }
    return Effect.map(Stream.runForEach(bytes, take), () => ({ filename, size, pieces }))
  })

/** @assumption B Names of files are percent-encoded where they hold more than ASCII. */
const decodeName = (name: string): string => decodePercent(name) ?? name

/** The file in the form field `data`. */
const receiveForm = (type: UploadType, request: Request): Effect.Effect<Received, Refusal> =>
  request.body.bytes.pipe(
    Stream.pipeThroughChannel(Multipart.makeChannel(headersIn(request))),
    Stream.mapEffect((part) =>
      !Multipart.isFile(part)
        ? Effect.succeed(undefined)
        : part.key === "data"
          ? takeFile(type, decodeName(part.name), part.content, request.body.release)
          : Effect.as(Stream.runDrain(part.content), undefined)
    ),
    Stream.runCollect,
    Effect.mapError(unreadable),
    Effect.flatMap((parts) => {
      const [file, ...others] = parts.filter((part) => part !== undefined)
      if (file === undefined) return failure(400, "upload.no.data", "The form has no file in the field `data`")
      return others.length > 0
        ? failure(400, "upload.more.files", "An address takes one file, the form has more")
        : Effect.succeed(file)
    })
  )

const dispositionName = (header: string | undefined): string | undefined => {
  const [, quoted, bare] = /\bfilename(?:=|\*=UTF-8'[^']*')(?:"([^"]*)"|([^\s";]+))/i.exec(header ?? "") ?? []
  const name = quoted ?? bare
  return name === undefined ? undefined : decodeName(name)
}

const receiveRaw = (type: UploadType, { body, headers }: Request, start = 0): Effect.Effect<Received, Refusal> =>
  Effect.mapError(
    takeFile(type, dispositionName(headers["content-disposition"]), body.bytes, body.release, start),
    unreadable
  )

const plain = { "content-type": "text/plain" }

/** Each kind of media is answered in its own shape. */
const answer = ({ id, media }: UploadSlot): Response => {
  switch (media.type) {
    case "image":
      return respond(200, { photos: { [id]: { token: media.token } } })
    case "file":
      return respond(200, { fileId: Number(media.photo_id % 1_000_000_000n), token: media.token })
    default:
      return respond(200, "<retval>1</retval>", { "content-type": "text/xml" })
  }
}

const filmIn = ({ buffer, byteLength, byteOffset }: Uint8Array): Film | undefined =>
  readMp4(new DataView(buffer, byteOffset, byteLength))

const complete = Effect.fnUntraced(function* (world: World, slot: UploadSlot, { filename, pieces, size }: Received) {
  const { media } = slot
  slot.isUsed = true
  if (media.type === "image") world.pictures.add(String(media.photo_id), yield* readPicture(join(pieces)))
  if (media.type === "video") media.film = filmIn(join(pieces))
  if (media.type === "audio" && (secondsOf(join(pieces), size) ?? 0) > longestAudio) {
    return yield* failure(400, "upload.duration", `Audio plays ${longestAudio} seconds at the most`)
  }
  media.filename = filename
  media.size = size
  media.readyAt = world.now + processingTime(world, size)
})

/** Takes nothing of a file that was refused: the address stands open for another one. */
const reopen = (slot: UploadSlot): Effect.Effect<void> =>
  Effect.sync(() => {
    slot.isUsed = false
    slot.progress = undefined
    slot.pieces = []
  })

const receiveWhole = Effect.fnUntraced(function* (world: World, slot: UploadSlot, request: Request) {
  slot.isUsed = true
  const isForm = /^multipart\/form-data\b/i.test(request.headers["content-type"] ?? "")
  const { type } = slot.media
  yield* (isForm ? receiveForm(type, request) : receiveRaw(type, request)).pipe(
    Effect.flatMap((received) => complete(world, slot, received)),
    Effect.onError(() => reopen(slot))
  )
  return answer(slot)
})

/** A part counts when it has come to its end. */
const receivePart = Effect.fnUntraced(function* (world: World, slot: UploadSlot, request: Request, range: Range) {
  const { type } = slot.media
  const tooLarge = refuseSize(type, range.size)
  if (tooLarge !== undefined) return yield* tooLarge
  if (!continues(range, slot.progress)) return yield* failure(416, "upload.range", "The part does not go on there")
  const { filename, pieces, size } = yield* receiveRaw(type, request, range.first)
  if (size !== range.last - range.first + 1 || !continues(range, slot.progress)) {
    return yield* failure(416, "upload.range", "The part is not as long as its range")
  }
  slot.progress = after(range, slot.progress)
  slot.pieces = [...slot.pieces, ...pieces]
  const { progress } = slot
  const isLast = progress.received === range.size
  if (isLast) {
    const whole = { filename, size: range.size, pieces: slot.pieces }
    yield* Effect.onError(complete(world, slot, whole), () => reopen(slot))
    slot.pieces = []
  }
  return isLast && (type === "image" || type === "file")
    ? answer(slot)
    : respond(isLast ? 200 : 201, describe(progress), plain)
})

const tellProgress = ({ progress }: UploadSlot): Response =>
  progress === undefined ? respond(204, "") : respond(200, describe(progress), plain)

/** Takes a file at the address that POST /uploads gave, as a form, as raw bytes, or in parts. */
export const receive = (world: World, request: Request): Effect.Effect<Response, Refusal> =>
  Effect.suspend(() => {
    if (request.entrance.at === "image" && request.path.startsWith("/images/")) {
      if (request.method !== "GET" && request.method !== "HEAD") {
        return failure(405, "image.method", "Look at pictures with GET")
      }
      const shown = show(world, request)
      return shown instanceof Refusal ? shown : Effect.succeed(shown)
    }
    const id = /^\/upload\/([^/]+)$/.exec(request.path)?.[1]
    const slot = id === undefined ? undefined : world.slots.get(id)
    if (slot?.media.type !== request.entrance.at || slot.address !== request.path + request.query) {
      return failure(404, "upload.not.found", "There is no such upload address: it must be used as it was given")
    }
    if (slot.isUsed) return failure(400, "upload.used", "The address has taken its one file already")
    if (request.method === "GET") return Effect.succeed(tellProgress(slot))
    if (request.method !== "POST") return failure(405, "upload.method", "Send the file with POST")
    const range = readRange(request.headers["content-range"])
    if (range === "malformed") return failure(416, "upload.range", "Content-Range must be `bytes a-b/size`")
    return range === undefined ? receiveWhole(world, slot, request) : receivePart(world, slot, request, range)
  })
