/**
 * Downloads the files of attachments that people send.
 *
 * API: Resources and their fields, Attachment.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type * as ApiError from "../client/ApiError.ts"
import type { BotApi } from "../client/BotApi.ts"
import * as Settings from "../client/Settings.ts"
import type { Attachment } from "../model/Attachment.ts"
import type { MessageId } from "../model/Message.ts"
import type { DownloadFailed } from "./DownloadError.ts"
import * as address from "./internal/download/address.ts"
import * as internal from "./internal/download/open.ts"

/**
 * An attachment that has a file.
 *
 * @category models
 * @since 0.1.0
 */
export type Downloadable = Extract<Attachment, { readonly type: "image" | "video" | "audio" | "file" | "sticker" }>

/**
 * The errors of a download: `DownloadFailed`, or an error of the request for a new address.
 *
 * @category errors
 * @since 0.1.0
 */
export type DownloadErrors = DownloadFailed | ApiError.Common

/**
 * The options of {@link download}.
 *
 * @category models
 * @since 0.1.0
 */
export interface DownloadOptions {
  /**
   * The message with the attachment, or a message that forwards it. The platform is asked for the message again if the
   * address has expired. A video needs no message. Default: none.
   */
  readonly message_id?: MessageId | undefined
  /** Maximum size of the file, in bytes. Default: 50 MiB. */
  readonly maxSize?: number | undefined
  /** Maximum time without a received byte, after which the download is resumed or fails. Default: 30 seconds. */
  readonly stallTimeout?: Duration.Input | undefined
  /** Maximum duration of the whole download. Default: 10 minutes. */
  readonly timeout?: Duration.Input | undefined
}

/**
 * How much of a file was downloaded before. `validator` is the `validator` of {@link Download}.
 *
 * @category models
 * @since 0.1.0
 */
export const Position = Schema.Struct({
  received: Schema.Int,
  size: Schema.optionalKey(Schema.Int),
  validator: Schema.String
})

/**
 * @category models
 * @since 0.1.0
 */
export interface Position extends Schema.Schema.Type<typeof Position> {}

/**
 * The options of {@link open}.
 *
 * @category models
 * @since 0.1.0
 */
export interface OpenOptions extends DownloadOptions {
  /** Where the download continues. Default: at the beginning. */
  readonly from?: Position | undefined
}

/**
 * A file that is open.
 *
 * @category models
 * @since 0.1.0
 */
export interface Download {
  /** The number of bytes before `bytes`: those of the position, or 0 if the file has changed since then. */
  readonly from: number
  /** The size of the whole file in bytes, or `undefined` if the host did not state the size. */
  readonly size: number | undefined
  /** Identifies the content, to continue the download. `undefined` if the host cannot continue a download. */
  readonly validator: string | undefined
  /** The media type that the host stated. */
  readonly contentType: string | undefined
  /** The content, which can be read once. */
  readonly bytes: Stream.Stream<Uint8Array, DownloadErrors, BotApi | HttpClient.HttpClient>
}

const defaultMaxSize = 50 * 2 ** 20

/**
 * Hosts from which files are downloaded although they are not on the public internet, or without `https://`: the host of
 * the emulator, or your own storage. An entry is the name or the address of a host without a port, such as `127.0.0.1` or
 * `[::1]`. `undefined`, the default, is the setting `BOT_PRIVATE_HOSTS`, whose default is no host.
 *
 * **Example** (A test with the emulator on a port)
 *
 * ```ts
 * import { Attachments } from "@colloquy/core"
 * import { Effect } from "effect"
 *
 * const withEmulator = Effect.provideService(Attachments.PrivateHosts, ["127.0.0.1"])
 * ```
 *
 * @category references
 * @since 0.1.0
 */
export const PrivateHosts = Context.Reference<ReadonlyArray<string> | undefined>(
  "@colloquy/core/Attachments/PrivateHosts",
  { defaultValue: () => undefined }
)

const currentPrivateHosts = Effect.flatMap(PrivateHosts, (hosts) =>
  hosts === undefined ? Effect.orElseSucceed(Settings.privateHosts, () => []) : Effect.succeed(hosts)
)

/**
 * Returns a text that identifies the file of an attachment, also in another message: equal for the same file.
 *
 * @category getters
 * @since 0.1.0
 */
export const keyOf: (attachment: Downloadable) => string = address.keyOf

/**
 * Opens the file of an attachment, for its size and its type before its content, or to continue a download. The end of the
 * scope closes the connection. {@link download} describes the rules.
 *
 * **Example** (Only images)
 *
 * ```ts
 * import { type Attachment, Attachments } from "@colloquy/core"
 * import { Effect, Stream } from "effect"
 *
 * const readImage = (attachment: typeof Attachment.FileAttachment.Type) =>
 *   Effect.gen(function* () {
 *     const { bytes, contentType } = yield* Attachments.open(attachment)
 *     return contentType?.startsWith("image/") ? yield* Stream.runCollect(bytes) : undefined
 *   }).pipe(Effect.scoped)
 * ```
 *
 * @category downloads
 * @since 0.1.0
 */
export const open = (
  attachment: Downloadable,
  options: OpenOptions = {}
): Effect.Effect<Download, DownloadErrors, BotApi | HttpClient.HttpClient | Scope.Scope> =>
  Effect.flatMap(currentPrivateHosts, (privateHosts) =>
    internal.open(attachment, options, {
      maxSize: options.maxSize ?? defaultMaxSize,
      stallTimeout: Duration.fromInputUnsafe(options.stallTimeout ?? "30 seconds"),
      privateHosts,
      statedSize: attachment.type === "file" ? (attachment.size ?? undefined) : undefined
    })
  )

/**
 * Downloads the file of an attachment as a stream of bytes. Interrupting the stream closes the connection.
 *
 * - **Size.** The download fails with the reason `TooLarge` as soon as the stated size or the received bytes exceed `maxSize`.
 * - **Addresses.** The address of a file expires. With `message_id`, the platform is asked for a new address; the address of a video
 *   is always asked for, and is that of its largest rendition.
 * - **Hosts.** Requests go to `https://` addresses on the public internet, and stay on one host: a redirect to another host
 *   fails with `Redirected`. {@link PrivateHosts} has the exceptions. The requests carry neither the token of the bot nor trace
 *   headers.
 * - **Failures.** After a transient failure, the download continues where the connection ended, by the `transient` schedule of
 *   `RetryPolicy`, if the host supports ranges and the content is still the same. Otherwise the download fails.
 * - **Journal.** A download is a read: it is not recorded, and runs again with each attempt of an update.
 *
 * Fails with `DownloadFailed`, whose `reason` says why, or with an error of `Messages.get` or `Videos.get`.
 *
 * **Example** (The size of a photo in bytes)
 *
 * ```ts
 * import { Attachments, Handler, Messages } from "@colloquy/core"
 * import { Effect, Stream } from "effect"
 *
 * const weigh = Handler.on("message_created", (update) => {
 *   const body = update.message?.body
 *   const photo = body?.attachments?.find((attachment) => attachment.type === "image")
 *   if (photo === undefined) return undefined
 *   return Attachments.download(photo, { message_id: body?.mid }).pipe(
 *     Stream.runFold(() => 0, (size, bytes) => size + bytes.length),
 *     Effect.flatMap((size) => Messages.reply(update, `Your photo has ${size} bytes`))
 *   )
 * })
 * ```
 *
 * API: Resources and their fields, Attachment.
 *
 * @category downloads
 * @since 0.1.0
 */
export const download = (
  attachment: Downloadable,
  options: DownloadOptions = {}
): Stream.Stream<Uint8Array, DownloadErrors, BotApi | HttpClient.HttpClient> =>
  Stream.unwrap(Effect.map(open(attachment, options), ({ bytes }) => bytes))
