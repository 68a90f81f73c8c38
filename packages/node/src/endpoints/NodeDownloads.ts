/**
 * Downloads of attachments into files.
 *
 * @since 0.1.0
 */
import * as Attachments from "@colloquy/core/endpoints/Attachments"
import type { BotApi } from "@colloquy/core/client/BotApi"
import * as NodeFileSystem from "@effect/platform-node-shared/NodeFileSystem"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import type * as HttpClient from "effect/http/HttpClient"
import * as Option from "effect/Option"
import type { PlatformError } from "effect/PlatformError"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"

/** The content of the file that is stored beside an incomplete download. */
const Saved = Schema.fromJsonString(Schema.Struct({ key: Schema.String, ...Attachments.Position.fields }))

const decodeSaved = Schema.decodeUnknownOption(Saved)

const encodeSaved = Schema.encodeSync(Saved)

/**
 * Downloads the file of an attachment into a file. The bytes are written to `PATH.part`, which is renamed to `PATH` when the file is
 * complete: a file at `PATH` is always complete, and an existing file is replaced.
 *
 * If the download fails, is interrupted, or the process ends, `PATH.part` and `PATH.part.json` remain. The next call for the same
 * attachment and path continues the file, if the host supports ranges and the content is still the same; otherwise the file is
 * downloaded from the beginning. Both are removed if the file is too large. The size and the `ETag` (or `Last-Modified`) of the file decide. A path is for one download at
 * a time.
 *
 * `Attachments.download` describes the options, the limits and the errors. Fails with `PlatformError` if the file cannot be
 * written.
 *
 * **Example** (Store the files that people send)
 *
 * ```ts
 * import { Handler } from "@colloquy/core"
 * import { NodeDownloads } from "@colloquy/node"
 *
 * const store = Handler.on("message_created", (update) => {
 *   const body = update.message?.body
 *   const file = body?.attachments?.find((attachment) => attachment.type === "file")
 *   if (body == null || file === undefined) return undefined
 *   return NodeDownloads.toFile(file, `./files/${body.mid}`, { message_id: body.mid, maxSize: 2 ** 30 })
 * })
 * ```
 *
 * @category downloads
 * @since 0.1.0
 */
export const toFile = (
  attachment: Attachments.Downloadable,
  path: string,
  options: Attachments.DownloadOptions = {}
): Effect.Effect<void, Attachments.DownloadErrors | PlatformError, BotApi | HttpClient.HttpClient> =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const key = Attachments.keyOf(attachment)
    const part = `${path}.part`
    const saved = `${path}.part.json`
    const removeSaved = files.remove(saved, { force: true })

    /** Where an earlier download of the same attachment has ended. */
    const earlier = Effect.gen(function* () {
      const text = yield* Effect.option(files.readFileString(saved))
      const info = yield* Effect.option(files.stat(part))
      const position = Option.flatMap(text, decodeSaved)
      if (Option.isNone(position) || Option.isNone(info)) return undefined
      const { key: savedKey, ...rest } = position.value
      const received = Number(info.value.size)
      if (savedKey !== key || received === 0 || received > (rest.size ?? Infinity)) return undefined
      return { ...rest, received }
    })

    /** Writes the bytes after the position into the partial file. */
    const writeFrom = Effect.fnUntraced(function* (from: Attachments.Position | undefined) {
      const opened = yield* Attachments.open(attachment, { ...options, from })
      const file = yield* files.open(part, { flag: opened.from === 0 ? "w" : "a" })
      const { size, validator } = opened
      yield* validator === undefined
        ? removeSaved
        : files.writeFileString(
            saved,
            encodeSaved({ key, received: 0, validator, ...(size === undefined ? {} : { size }) })
          )
      yield* Stream.runForEach(opened.bytes, (bytes) => file.writeAll(bytes))
      yield* file.sync
    }, Effect.scoped)

    yield* writeFrom(yield* earlier).pipe(
      Effect.catchIf(
        (error) => error._tag === "DownloadFailed" && error.reason._tag === "Changed",
        () => writeFrom(undefined)
      ),
      Effect.tapError((error) =>
        error._tag === "DownloadFailed" && error.reason._tag === "TooLarge"
          ? Effect.andThen(files.remove(part, { force: true }), removeSaved)
          : Effect.void
      )
    )
    yield* files.rename(part, path)
    yield* removeSaved
  }).pipe(Effect.provide(NodeFileSystem.layer))
