import * as Multipart from "effect/http/Multipart"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { processingTime } from "./media.ts"
import type { UploadSlot } from "./model.ts"
import { decodePercent } from "./percent.ts"
import { Refusal } from "./refusal.ts"
import { after, continues, describe, type Range, readRange } from "./uploadParts.ts"
import { type Request, respond, type Response } from "./wire.ts"
import type { World } from "./world.ts"

interface Received {
  readonly filename: string | undefined
  readonly size: number
}

const failure = (status: number, error_code: string, error_data: string) =>
  new Refusal({ status, body: { error_code, error_data } })

const unreadable = () => failure(400, "upload.unreadable", "The body could not be read to its end")

const sizeOf = <E>(bytes: Stream.Stream<Uint8Array, E>): Effect.Effect<number, E> =>
  Stream.runFold(
    bytes,
    () => 0,
    (size, chunk) => size + chunk.byteLength
  )

/** The file in the form field `data`. Nothing but its length is kept. */
const receiveForm = ({ body, headers }: Request): Effect.Effect<Received, Refusal> => {
  const given = Object.fromEntries(Object.entries(headers).flatMap(([key, value]) => (value ? [[key, value]] : [])))
  return body.bytes.pipe(
    Stream.pipeThroughChannel(Multipart.makeChannel(given)),
    Stream.mapEffect((part) =>
      Multipart.isFile(part)
        ? Effect.map(sizeOf(part.content), (size) => ({ key: part.key, filename: part.name, size }))
        : Effect.succeed(undefined)
    ),
    Stream.runCollect,
    Effect.mapError(unreadable),
    Effect.flatMap((parts) => {
      const file = parts.find((part) => part?.key === "data")
      return file === undefined
        ? failure(400, "upload.no.data", "The form has no file in the field `data`")
        : Effect.succeed(file)
    })
  )
}

const dispositionName = (header: string | undefined): string | undefined => {
  const name = /filename="([^"]*)"/.exec(header ?? "")?.[1]
  return name === undefined ? undefined : (decodePercent(name) ?? name)
}

const receiveRaw = ({ body, headers }: Request): Effect.Effect<Received, Refusal> =>
  Effect.map(Effect.mapError(sizeOf(body.bytes), unreadable), (size) => ({
    filename: dispositionName(headers["content-disposition"]),
    size
  }))

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

const complete = (world: World, slot: UploadSlot, { filename, size }: Received): void => {
  slot.isUsed = true
  slot.media.filename = filename
  slot.media.size = size
  slot.media.readyAt = world.now + processingTime(size)
}

const receiveWhole = (world: World, slot: UploadSlot, request: Request): Effect.Effect<Response, Refusal> =>
  Effect.gen(function* () {
    slot.isUsed = true
    const isForm = request.headers["content-type"]?.startsWith("multipart/form-data") === true
    const received = yield* (isForm ? receiveForm(request) : receiveRaw(request)).pipe(
      Effect.onError(() =>
        Effect.sync(() => {
          slot.isUsed = false
        })
      )
    )
    complete(world, slot, received)
    return answer(slot)
  })

/** A part counts when it has come to its end. */
const receivePart = (
  world: World,
  slot: UploadSlot,
  request: Request,
  range: Range
): Effect.Effect<Response, Refusal> =>
  Effect.gen(function* () {
    if (!continues(range, slot.progress)) return yield* failure(416, "upload.range", "The part does not go on there")
    const { filename, size } = yield* receiveRaw(request)
    if (size !== range.last - range.first + 1 || !continues(range, slot.progress)) {
      return yield* failure(416, "upload.range", "The part is not as long as its range")
    }
    slot.progress = after(range, slot.progress)
    const isLast = slot.progress.received === range.size
    if (isLast) complete(world, slot, { filename, size: range.size })
    const { type } = slot.media
    return isLast && (type === "image" || type === "file")
      ? answer(slot)
      : respond(isLast ? 200 : 201, describe(slot.progress), plain)
  })

const tellProgress = ({ progress }: UploadSlot): Response =>
  progress === undefined ? respond(204, "") : respond(200, describe(progress), plain)

/** Takes a file at the address that POST /uploads gave, as a form, as raw bytes, or in parts. */
export const receive = (world: World, request: Request): Effect.Effect<Response, Refusal> =>
  Effect.suspend(() => {
    const id = /^\/upload\/([^/]+)$/.exec(request.path)?.[1]
    const slot = id === undefined ? undefined : world.slots.get(id)
    if (slot === undefined || slot.media.type !== request.entrance.at) {
      return failure(404, "upload.not.found", "There is no such upload address")
    }
    if (slot.isUsed) return failure(400, "upload.used", "The address has taken its one file already")
    if (request.method === "GET") return Effect.succeed(tellProgress(slot))
    if (request.method !== "POST") return failure(405, "upload.method", "Send the file with POST")
    const range = readRange(request.headers["content-range"])
    if (range === "malformed") return failure(416, "upload.range", "Content-Range must be `bytes a-b/size`")
    return range === undefined ? receiveWhole(world, slot, request) : receivePart(world, slot, request, range)
  })
