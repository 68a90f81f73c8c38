import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { withLock } from "../../../base/internal/keyedLock.ts"
import { RequestFailed } from "../../../client/ApiError.ts"
import { AttachmentRequest } from "../../../model/AttachmentRequest.ts"
import type { StoreError } from "../../../base/StoreError.ts"
import type { Media, RandomAccessRequest } from "../../Upload.ts"
import { UploadCache } from "../../UploadCache.ts"
import { UploadFailed } from "../../UploadError.ts"
import { digestBlocks } from "./content.ts"
import { sourceFailed } from "./request.ts"

type Cache = UploadCache["Service"]

/** Users see the name of a file and of an audio, so the name is part of the key. */
const isNameVisible = (type: Media["type"]): boolean => type === "file" || type === "audio"

const keyOf = ({ name, source, type }: RandomAccessRequest) => {
  const fileName = name ?? source.name ?? type
  return Effect.gen(function* () {
    const opened = yield* source.open
    const digest = yield* digestBlocks(opened, opened.size ?? 0)
    return [type, digest, ...(isNameVisible(type) ? [fileName] : [])].join(" ")
  }).pipe(
    Effect.scoped,
    Effect.mapError((cause) => new UploadFailed({ type, fileName, reason: sourceFailed(cause) }))
  )
}

const isMedia = (attachment: AttachmentRequest): attachment is Media =>
  ["image", "video", "audio", "file"].includes(attachment.type)

const decodeEntry = Schema.decodeUnknownOption(Schema.fromJsonString(AttachmentRequest))

/** A cache that fails must not prevent an upload. */
const orElseLog = <A>(self: Effect.Effect<A, StoreError>, orElse: A): Effect.Effect<A> =>
  Effect.catch(self, (error) =>
    Effect.as(
      Effect.logWarning(`The upload cache failed, so it is not used for this file. ${error.message}`, error.cause),
      orElse
    )
  )

/** Returns the attachment, and its entry in the cache unless the file was uploaded. */
const getOrUpload = <E, R>(cache: Cache, key: string, upload: Effect.Effect<Media, E, R>) =>
  withLock(
    cache,
    key,
    Effect.gen(function* () {
      const entry = Option.getOrUndefined(yield* orElseLog(cache.get(key), Option.none()))
      const attachment = Option.getOrUndefined(decodeEntry(entry))
      if (attachment !== undefined && isMedia(attachment)) return { media: attachment, entry }
      const media = yield* upload
      yield* orElseLog(cache.set(key, JSON.stringify(media)), undefined)
      return { media, entry: undefined }
    })
  )

/** @assumption expiredTokens */
const isTokenRejected = (error: unknown): boolean =>
  error instanceof RequestFailed && error.reason._tag === "UnexpectedStatus" && error.reason.status === 400

/**
 * Runs `use` with the cached attachment. If the platform rejects the attachment, uploads the file again and runs `use`
 * once more.
 */
export const cached = <A, E, R, E2, R2>(
  request: RandomAccessRequest,
  use: (attachment: Media) => Effect.Effect<A, E, R>,
  upload: Effect.Effect<Media, E2, R2>
) =>
  Effect.gen(function* () {
    const cache = yield* UploadCache
    const key = yield* keyOf(request)
    const { entry, media } = yield* getOrUpload(cache, key, upload)
    return yield* Effect.catch(use(media), (error) =>
      entry !== undefined && isTokenRejected(error)
        ? orElseLog(cache.remove(key, entry), undefined).pipe(
            Effect.andThen(getOrUpload(cache, key, upload)),
            Effect.flatMap(({ media }) => use(media))
          )
        : Effect.fail(error)
    )
  })
