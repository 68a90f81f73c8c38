/**
 * Uploads files of any size and returns the attachments to send. The data types are in `Upload`.
 *
 * API: Upload result; Endpoints, POST /uploads.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import type * as ApiError from "../client/ApiError.ts"
import type { BotApi } from "../client/BotApi.ts"
import * as Endpoint from "../client/Endpoint.ts"
import { cached as runCached } from "./internal/upload/cached.ts"
import { upload as runUpload } from "./internal/upload/upload.ts"
import {
  type Media,
  type RandomAccessRequest,
  type ResumeRequest,
  UploadAddress,
  UploadEvent,
  type UploadRequest,
  UploadType
} from "./Upload.ts"
import type { UploadCache } from "./UploadCache.ts"
import type { UploadFailed } from "./UploadError.ts"

/**
 * The errors of an upload: `UploadFailed`, or an error of the request for an upload address.
 *
 * @category errors
 * @since 0.1.0
 */
export type UploadErrors = UploadFailed | ApiError.Common

/**
 * Requests an address to upload one file to. {@link upload} requests the address itself, so this endpoint is for
 * uploads by other means. The file is sent to the address without the token of the bot.
 *
 * **Example** (Request an address for an image)
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
    // An address that is not used has no effect.
    idempotent: true
  })
)

/**
 * Uploads a file and returns the attachment to send, or resumes a saved upload.
 *
 * - **Limits.** The size, the extension, the dimensions of an image and the duration of an audio are checked against
 *   `UploadLimits` before the first byte is sent. An image or audio whose header cannot be parsed passes the check.
 * - **Method.** A source with random access is sent in parts from 16 MiB on (`resumable`), everything else in one
 *   request (`multipart`). `method` and `partSize` of the request change the method.
 * - **Retries.** Transient failures are retried by the `transient` schedule of `RetryPolicy`, unless the source can be read
 *   only once. With `resumable`, the schedule restarts after each part that arrives.
 * - **Time-outs.** An upload as a whole has no time limit. An upload fails if no byte is sent or received for
 *   `stallTimeout`. Default: 2 minutes.
 * - **Security.** The file goes through the `HttpClient` of the program to the address that the platform returned, without
 *   the token of the bot and without trace headers.
 *
 * The platform processes the file after the upload; `Messages.send` waits for that.
 *
 * Fails with `UploadFailed`, or with an error of {@link create}.
 *
 * **Example** (Upload and send an image)
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
 * **Example** (Resume a failed upload)
 *
 * ```ts
 * import { Uploads, UploadSource } from "@colloquy/core"
 * import { Effect } from "effect"
 *
 * const source = UploadSource.bytes(new Uint8Array(100_000_000))
 * const attachment = Uploads.upload({ type: "video", source, name: "video.mp4" }).pipe(
 *   Effect.catchTag("UploadFailed", (error) =>
 *     error.saved === undefined ? Effect.fail(error) : Uploads.upload({ saved: error.saved, source })
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
): Effect.Effect<Media, UploadErrors, BotApi | HttpClient.HttpClient> => runUpload(create, request, () => {})

/**
 * Uploads a file like {@link upload}, as a stream of its events: `Started` if the upload is resumable, `Progress` at
 * each percent and at least once per second while bytes are sent, and `Completed` as the last event. Interrupting the
 * stream stops the upload.
 *
 * **Example** (Log the progress)
 *
 * ```ts
 * import { Uploads, UploadSource } from "@colloquy/core"
 * import { Console, Stream } from "effect"
 *
 * const source = UploadSource.bytes(new Uint8Array(100_000_000))
 * const logged = Uploads.events({ type: "video", source, name: "video.mp4" }).pipe(
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
    runUpload(create, request, (event) => Queue.offerUnsafe(queue, event)).pipe(
      Effect.tap((attachment) => Queue.offer(queue, UploadEvent.Completed({ attachment }))),
      Effect.andThen(Queue.end(queue))
    )
  )

/**
 * Runs `use` with the attachment of a file from `UploadCache`; uploads the file first if the cache does not have an
 * attachment.
 *
 * The key of the cache is the content of the file, which is read on each call, with its type, and with its name where
 * users see the name (`file` and `audio`). If the platform rejects a cached attachment, the attachment is removed from
 * the cache, the file is uploaded again, and `use` runs once more.
 *
 * Concurrent calls in one process for the same file share one upload. If the cache fails, a warning is logged and the
 * file is uploaded.
 *
 * **Example** (Send a logo with each greeting)
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
  request: RandomAccessRequest,
  use: (attachment: Media) => Effect.Effect<A, E, R>
): Effect.Effect<A, E | UploadErrors, R | BotApi | HttpClient.HttpClient | UploadCache> =>
  runCached(request, use, upload(request))
