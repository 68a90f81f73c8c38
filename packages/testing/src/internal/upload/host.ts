import * as Multipart from "effect/http/Multipart"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { formProblem } from "../http/formProblem.ts"
import { Look } from "./look.ts"
import { processingTime } from "../platform/media.ts"
import type { UploadSlot } from "../platform/model.ts"
import { decodePercent } from "../http/percent.ts"
import { readPicture, show } from "../platform/pictures.ts"
import { Refusal } from "../http/refusal.ts"
import { allowedMethods } from "../http/router.ts"
import { failure, longestAudio, refuseName, refuseSize } from "./limits.ts"
import { after, continues, describeProgress, type Range, readRange } from "./parts.ts"
import { allow, type Body, headersIn, type Request, respond, type Response } from "../http/wire.ts"
import type { World } from "../platform/world.ts"

interface Received {
  readonly filename: string | undefined
  readonly look: Look
}

const unreadable = (error: unknown): Refusal => {
  if (error instanceof Refusal) return error
  const problem = formProblem(error)
  return problem === undefined
    ? failure(400, "upload.unreadable", "The body could not be read to its end")
    : failure(400, "upload.form", problem)
}

/** Takes a file, or the part of it that comes next, for as long as it is not too large. */
const takeFile = (
  { media, seen }: UploadSlot,
  filename: string | undefined,
  bytes: Stream.Stream<Uint8Array, unknown>,
  release: Body["release"]
): Effect.Effect<Received, unknown> =>
  Effect.suspend((): Effect.Effect<Received, unknown> => {
    const refused = refuseName(media.type, filename)
    if (refused !== undefined) return refused
    const look = seen.fork()
    const take = (chunk: Uint8Array): Effect.Effect<void, Refusal> => {
      if (!look.take(chunk)) release?.(chunk)
      return refuseSize(media.type, look.size) ?? Effect.void
    }
    return Effect.map(Stream.runForEach(bytes, take), () => ({ filename, look }))
  })

/** @assumption B Names of files are percent-encoded where they hold more than ASCII. */
const decodeName = (name: string): string => decodePercent(name) ?? name

/** The file in the form field `data`. */
const receiveForm = (slot: UploadSlot, request: Request): Effect.Effect<Received, Refusal> =>
  Effect.suspend(() => {
    let file: Received | undefined
    const take = (part: Multipart.Part): Effect.Effect<void, unknown> => {
      if (!Multipart.isFile(part)) return Effect.void
      if (part.key !== "data") return Stream.runDrain(part.content)
      if (file !== undefined) return failure(400, "upload.more.files", "An address takes one file, the form has more")
      return Effect.map(takeFile(slot, decodeName(part.name), part.content, request.body.release), (received) => {
        file = received
      })
    }
    return request.body.bytes.pipe(
      Stream.pipeThroughChannel(Multipart.makeChannel(headersIn(request))),
      Stream.runForEach(take),
      Effect.mapError(unreadable),
      Effect.flatMap(() =>
        file === undefined
          ? failure(400, "upload.no.data", "The form has no file in the field `data`")
          : Effect.succeed(file)
      )
    )
  })

const dispositionName = (header: string | undefined): string | undefined => {
  const [, quoted, bare] = /\bfilename(?:=|\*=UTF-8'[^']*')(?:"([^"]*)"|([^\s";]+))/i.exec(header ?? "") ?? []
  const name = quoted ?? bare
  return name === undefined ? undefined : decodeName(name)
}

const receiveRaw = (slot: UploadSlot, { body, headers }: Request): Effect.Effect<Received, Refusal> =>
  Effect.mapError(takeFile(slot, dispositionName(headers["content-disposition"]), body.bytes, body.release), unreadable)

const used = () => failure(400, "upload.used", "The address has taken its one file already")

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

const complete = Effect.fnUntraced(function* (world: World, slot: UploadSlot, { filename, look }: Received) {
  const { media } = slot
  slot.isUsed = true
  if (media.type === "image") world.pictures.add(String(media.photo_id), yield* readPicture(look.bytes))
  const { film } = look
  if (media.type === "video" && film !== undefined && film.width > 0) media.film = film
  if (media.type === "audio" && (look.seconds ?? 0) > longestAudio) {
    return yield* failure(400, "upload.duration", `Audio plays ${longestAudio} seconds at the most`)
  }
  media.filename = filename
  media.size = look.size
  media.readyAt = world.now + processingTime(world, look.size)
})

const forget = (slot: UploadSlot): void => {
  slot.progress = undefined
  slot.seen = new Look(slot.media.type)
}

/** Takes nothing of a file that was refused: the address stands open for another one. */
const reopen = (slot: UploadSlot): Effect.Effect<void> =>
  Effect.sync(() => {
    slot.isUsed = false
    forget(slot)
  })

const receiveWhole = Effect.fnUntraced(function* (world: World, slot: UploadSlot, request: Request) {
  slot.isUsed = true
  forget(slot)
  const isForm = /^multipart\/form-data\b/i.test(request.headers["content-type"] ?? "")
  yield* (isForm ? receiveForm(slot, request) : receiveRaw(slot, request)).pipe(
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
  const received = yield* receiveRaw(slot, request)
  if (slot.isUsed) return yield* used()
  if (received.look.size !== range.last + 1 || !continues(range, slot.progress)) {
    return yield* failure(416, "upload.range", "The part is not as long as its range")
  }
  slot.progress = after(range, slot.progress)
  slot.seen = received.look
  const { progress } = slot
  const isLast = progress.received === range.size
  if (isLast) {
    yield* Effect.onError(complete(world, slot, received), () => reopen(slot))
    forget(slot)
  }
  return isLast && (type === "image" || type === "file")
    ? answer(slot)
    : respond(isLast ? 200 : 201, describeProgress(progress), plain)
})

const tellProgress = ({ progress }: UploadSlot): Response =>
  progress === undefined ? respond(204, "") : respond(200, describeProgress(progress), plain)

const looks = allowedMethods(["GET"])

const takes = allowedMethods(["GET", "POST"])

const isLook = ({ method }: Request): boolean => method === "GET" || method === "HEAD"

const methodRefused = (code: string, advice: string, methods: ReadonlyArray<string>): Refusal =>
  failure(405, code, advice, { allow: methods.join(", ") })

const receivePicture = (world: World, request: Request): Effect.Effect<Response, Refusal> => {
  if (request.method === "OPTIONS") return Effect.succeed(allow(looks))
  if (!isLook(request)) return methodRefused("image.method", "Look at pictures with GET", looks)
  const shown = show(world, request)
  return shown instanceof Refusal ? shown : Effect.succeed(shown)
}

/** Takes a file at the address that POST /uploads gave, as a form, as raw bytes, or in parts. */
export const receive = (world: World, request: Request): Effect.Effect<Response, Refusal> =>
  Effect.suspend(() => {
    const { entrance, headers, method, path, query } = request
    if (method === "OPTIONS" && path === "*") return Effect.succeed(allow(takes))
    if (entrance.at === "image" && path.startsWith("/images/")) return receivePicture(world, request)
    const id = /^\/upload\/([^/]+)$/.exec(path)?.[1]
    const slot = id === undefined ? undefined : world.slots.get(id)
    if (slot?.media.type !== entrance.at || slot.address !== path + query) {
      return failure(404, "upload.not.found", "There is no such upload address: it must be used as it was given")
    }
    if (method === "OPTIONS") return Effect.succeed(allow(takes))
    if (!isLook(request) && method !== "POST") return methodRefused("upload.method", "Send the file with POST", takes)
    if (slot.isUsed) return used()
    if (isLook(request)) return Effect.succeed(tellProgress(slot))
    const range = readRange(headers["content-range"])
    if (range === "malformed") return failure(416, "upload.range", "Content-Range must be `bytes a-b/size`")
    return range === undefined ? receiveWhole(world, slot, request) : receivePart(world, slot, request, range)
  })
