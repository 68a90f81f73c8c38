import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Semaphore from "effect/Semaphore"
import { RequestFailed } from "../../ApiError.ts"
import { AttachmentRequest } from "../../AttachmentRequest.ts"
import type { StoreError } from "../../StoreError.ts"
import { UploadCache } from "../../UploadCache.ts"
import { UploadFailed } from "../../UploadError.ts"
import type { Media } from "../../UploadEvent.ts"
import type { CachedRequest } from "../../Uploads.ts"
import { digestWhole } from "./digest.ts"
import { sourceFailed } from "./request.ts"

type Cache = UploadCache["Service"]

interface Obtained {
  readonly media: Media
  /** The attachment as it was kept, where it was. */
  readonly kept: string | undefined
}

/** People see the name of a file and of audio, so it belongs to what is uploaded. */
const isNameSeen = (type: Media["type"]): boolean => type === "file" || type === "audio"

const keyOf = ({ name, source, type }: CachedRequest) =>
  Effect.scoped(
    Effect.gen(function* () {
      const opened = yield* source.open
      const digest = yield* digestWhole(opened, opened.size ?? 0)
      return [type, digest, ...(isNameSeen(type) ? [name ?? source.name ?? type] : [])].join(" ")
    })
  ).pipe(
    Effect.mapError(
      (cause) => new UploadFailed({ type, name: name ?? source.name ?? type, reason: sourceFailed(cause) })
    )
  )

interface Lock {
  readonly semaphore: Semaphore.Semaphore
  users: number
}

const locks = new WeakMap<Cache, Map<string, Lock>>()

/** Lets those who want the same file wait for the first of them. */
const inTurn = <A, E, R>(cache: Cache, key: string, self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.suspend(() => {
    const ofCache = locks.get(cache) ?? new Map<string, Lock>()
    locks.set(cache, ofCache)
    const lock = ofCache.get(key) ?? { semaphore: Semaphore.makeUnsafe(1), users: 0 }
    ofCache.set(key, lock)
    lock.users++
    return Effect.ensuring(
      lock.semaphore.withPermit(self),
      Effect.sync(() => {
        lock.users--
        if (lock.users === 0) ofCache.delete(key)
      })
    )
  })

const isMedia = (attachment: AttachmentRequest): attachment is Media =>
  ["image", "video", "audio", "file"].includes(attachment.type)

const read = Schema.decodeUnknownOption(Schema.fromJsonString(AttachmentRequest))

/** A cache that is not there must not keep anything from being sent. */
const orSay = <A>(self: Effect.Effect<A, StoreError>, otherwise: A): Effect.Effect<A> =>
  Effect.catch(self, (error) => Effect.as(Effect.logWarning(error.message, error.cause), otherwise))

const obtain = <E, R>(cache: Cache, key: string, upload: Effect.Effect<Media, E, R>): Effect.Effect<Obtained, E, R> =>
  inTurn(
    cache,
    key,
    Effect.gen(function* () {
      const kept = Option.getOrUndefined(yield* orSay(cache.get(key), Option.none()))
      const known = Option.getOrUndefined(read(kept))
      if (known !== undefined && isMedia(known)) return { media: known, kept }
      const media = yield* upload
      yield* orSay(cache.set(key, JSON.stringify(media)), undefined)
      return { media, kept: undefined }
    })
  )

/** @assumption expiredTokens */
const isRefusal = (error: unknown): boolean =>
  error instanceof RequestFailed && error.reason._tag === "UnexpectedStatus" && error.reason.status === 400

/** Uses the attachment that is kept; where the platform refuses it, uploads the file again and uses that. */
export const cached = <A, E, R, E2, R2>(
  request: CachedRequest,
  use: (attachment: Media) => Effect.Effect<A, E, R>,
  upload: Effect.Effect<Media, E2, R2>
) =>
  Effect.gen(function* () {
    const cache = yield* UploadCache
    const key = yield* keyOf(request)
    const { kept, media } = yield* obtain(cache, key, upload)
    return yield* Effect.catch(use(media), (error) =>
      kept !== undefined && isRefusal(error)
        ? orSay(cache.remove(key, kept), undefined).pipe(
            Effect.andThen(obtain(cache, key, upload)),
            Effect.flatMap((anew) => use(anew.media))
          )
        : Effect.fail(error)
    )
  })
