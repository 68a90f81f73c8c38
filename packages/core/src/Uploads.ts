/**
 * Upload media, of any size, and get the attachment to send.
 *
 * API: Upload result; Endpoints, POST /uploads.
 *
 * @since 0.1.0
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as Queue from "effect/Queue"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type * as ApiError from "./ApiError.ts"
import type { BotApi } from "./BotApi.ts"
import * as Endpoint from "./Endpoint.ts"
import { upload as run } from "./internal/upload/upload.ts"
import { cached as runCached } from "./internal/upload/cached.ts"
import { nullish } from "./internal/client/wire.ts"
import type { UploadCache } from "./UploadCache.ts"
import type { UploadFailed } from "./UploadError.ts"
import { type Media, UploadEvent } from "./UploadEvent.ts"
import type { UploadSource } from "./UploadSource.ts"

/**
 * What can be uploaded. `photo` is no longer one of them: `image` replaces it.
 *
 * @category models
 * @since 0.1.0
 */
export const UploadType = Schema.Literals(["image", "video", "audio", "file"])

/**
 * @category models
 * @since 0.1.0
 */
export type UploadType = typeof UploadType.Type

/**
 * Where to upload to. `url` takes exactly one file, lives for ever and is used unchanged. `token` comes for `video` and
 * `audio`, and attaches the media once it is uploaded; for `image` and `file` the upload host answers it.
 *
 * @category models
 * @since 0.1.0
 */
export const UploadAddress = Schema.Struct({ url: Schema.String, token: nullish(Schema.String) })

/**
 * @category models
 * @since 0.1.0
 */
export interface UploadAddress extends Schema.Schema.Type<typeof UploadAddress> {}

/**
 * Asks for an address to upload one file to. The upload itself goes to that address, without the token of the bot.
 *
 * **Example**
 *
 * ```ts
 * import { Uploads } from "@colloquy/core"
 *
 * const address = Uploads.create({ type: "image" })
 * ```
 *
 * API: POST /uploads.
 *
 * @category endpoints
 * @since 0.1.0
 */
export const create: Endpoint.Endpoint<{ readonly type: UploadType }, UploadAddress> = Endpoint.make(
  "Uploads.create",
  () => ({
    method: "POST",
    path: "/uploads",
    query: { type: UploadType },
    success: UploadAddress,
    errors: [],
    // An address that nobody uses does no harm.
    idempotent: true
  })
)

/**
 * An upload in parts as a value that can be stored, to go on in another process: where it goes, what it is called, and
 * what tells its source from another one (`size`, `identity`). How far it has come is what the upload host says.
 *
 * Whoever has `url` and `token` can upload and attach the file: store it like a secret.
 *
 * **Example**
 *
 * ```ts
 * import { Uploads } from "@colloquy/core"
 * import { Schema } from "effect"
 *
 * const Stored = Schema.fromJsonString(Uploads.SavedUpload)
 * const toText = Schema.encodeEffect(Stored)
 * const fromText = Schema.decodeEffect(Stored)
 * ```
 *
 * @category models
 * @since 0.1.0
 */
export const SavedUpload = Schema.Struct({
  type: UploadType,
  name: Schema.String,
  url: Schema.String,
  token: Schema.optionalKey(Schema.String),
  size: Schema.Int,
  partSize: Schema.Int,
  identity: Schema.String
})

/**
 * @category models
 * @since 0.1.0
 */
export interface SavedUpload extends Schema.Schema.Type<typeof SavedUpload> {}

interface Settings {
  /**
   * How long nothing may move; 2 minutes unless told. There is no time-out for the whole of an upload. The HTTP client may
   * have time-outs for that too, as `headersTimeout` of `NodeBotHttpClient`.
   */
  readonly stallTimeout?: Duration.Input | undefined
}

interface Named extends Settings {
  readonly type: UploadType
  /** What the file is called, with its extension; as the source calls it unless told. */
  readonly name?: string | undefined
}

/**
 * What to upload, and as what.
 *
 * There are two methods. `multipart` sends the whole file in one request. `resumable` sends it in parts, and goes on where
 * it broke; it needs a source that can be read anywhere. Unless told, such a source goes in parts from 16 MB on, and
 * everything else in one request. `partSize` is in bytes; parts are at least 2 MB and at most 1000 unless told.
 *
 * @category models
 * @since 0.1.0
 */
export type UploadRequest =
  | (Named & { readonly source: UploadSource; readonly method?: "multipart" | undefined })
  | (Named & {
      readonly source: UploadSource<"randomAccess">
      readonly method?: "multipart" | "resumable" | undefined
      readonly partSize?: number | undefined
    })

/**
 * An upload to go on with, and its source: the same one, which is checked.
 *
 * @category models
 * @since 0.1.0
 */
export interface ResumeRequest extends Settings {
  readonly saved: SavedUpload
  readonly source: UploadSource<"randomAccess">
}

/**
 * What can go wrong in an upload.
 *
 * @category errors
 * @since 0.1.0
 */
export type UploadErrors = UploadFailed | ApiError.Common

/**
 * Uploads a file and gives the attachment to send.
 *
 * The limits of `UploadLimits` are checked before a byte is sent: the size, the extension, the sides of a picture, and
 * the length of audio where its header tells. The file goes through the `HttpClient` of the program to the address that
 * the platform gave, without the token of the bot. What breaks is tried again by `RetryPolicy` (`transient`, anew
 * after each part that arrived), unless the source can be read only once.
 *
 * The platform processes the file after that; `Messages.send` waits for it.
 *
 * **Example**
 *
 * ```ts
 * import { Chat, Messages, Uploads, UploadSource } from "@colloquy/core"
 * import { Effect } from "effect"
 *
 * const send = Effect.gen(function* () {
 *   const source = UploadSource.url("https://pictures.example/cat.png")
 *   const attachment = yield* Uploads.upload({ type: "image", source, name: "cat.png" })
 *   return yield* Messages.send({ chat_id: Chat.ChatId.make(4242), text: "Look", attachments: [attachment] })
 * })
 * ```
 *
 * **Example** (Going on where it broke)
 *
 * ```ts
 * import { Uploads, UploadSource } from "@colloquy/core"
 * import { Effect } from "effect"
 *
 * const film = UploadSource.bytes(new Uint8Array(100_000_000))
 * const attachment = Uploads.upload({ type: "video", source: film, name: "film.mp4" }).pipe(
 *   Effect.catchTag("UploadFailed", (error) =>
 *     error.saved === undefined ? Effect.fail(error) : Uploads.upload({ saved: error.saved, source: film })
 *   )
 * )
 * ```
 *
 * API: POST /uploads.
 *
 * @category uploads
 * @since 0.1.0
 */
export const upload = (
  request: UploadRequest | ResumeRequest
): Effect.Effect<Media, UploadErrors, BotApi | HttpClient.HttpClient> => run(create, request, () => {})

/**
 * {@link upload} as a stream of what happens: `Started` where it goes in parts, `Progress` at each percent and each
 * second, and `Completed` as the last one. Who stops listening stops the upload.
 *
 * **Example**
 *
 * ```ts
 * import { Uploads, UploadSource } from "@colloquy/core"
 * import { Console, Stream } from "effect"
 *
 * const source = UploadSource.bytes(new Uint8Array(100_000_000))
 * const shown = Uploads.events({ type: "video", source, name: "film.mp4" }).pipe(
 *   Stream.tap((event) =>
 *     event._tag === "Progress" ? Console.log(`${event.percent}% at ${event.bytesPerSecond} B/s`) : Console.log(event)
 *   )
 * )
 * ```
 *
 * API: POST /uploads.
 *
 * @category uploads
 * @since 0.1.0
 */
export const events = (
  request: UploadRequest | ResumeRequest
): Stream.Stream<UploadEvent, UploadErrors, BotApi | HttpClient.HttpClient> =>
  Stream.callback((queue) =>
    run(create, request, (event) => Queue.offerUnsafe(queue, event)).pipe(
      Effect.tap((attachment) => Queue.offer(queue, UploadEvent.Completed({ attachment }))),
      Effect.andThen(Queue.end(queue))
    )
  )

/**
 * What to upload unless it stands on the platform already. Its source is read twice, so it can be read anywhere.
 *
 * @category models
 * @since 0.1.0
 */
export type CachedRequest = Extract<UploadRequest, { readonly source: UploadSource<"randomAccess"> }>

/**
 * Uses a file that stands on the platform already, by `UploadCache`, and uploads it where it does not. The content of the
 * file decides, which is read each time, with its type, and with its name where people see it. When the platform refuses
 * the attachment that was kept, it is forgotten, the file uploaded, and `use` run once more.
 *
 * Who wants the same file at the same time waits for the first one. A cache that cannot be reached is logged as a warning;
 * the file is uploaded then.
 *
 * **Example**
 *
 * ```ts
 * import { Chat, Messages, Uploads, UploadSource } from "@colloquy/core"
 *
 * const chat_id = Chat.ChatId.make(4242)
 * const logo = UploadSource.bytes(new Uint8Array(1000))
 * const sent = Uploads.cached({ type: "image", source: logo, name: "logo.png" }, (attachment) =>
 *   Messages.send({ chat_id, text: "Good morning", attachments: [attachment] })
 * )
 * ```
 *
 * API: POST /uploads.
 *
 * @category uploads
 * @since 0.1.0
 */
export const cached = <A, E, R>(
  request: CachedRequest,
  use: (attachment: Media) => Effect.Effect<A, E, R>
): Effect.Effect<A, E | UploadErrors, R | BotApi | HttpClient.HttpClient | UploadCache> =>
  runCached(request, use, upload(request))
