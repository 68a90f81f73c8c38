/**
 * Files as sources of uploads.
 *
 * @since 0.1.0
 */
import * as UploadSource from "@colloquy/core/UploadSource"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { open } from "node:fs/promises"
import { basename } from "node:path"
import { acquire, chunkSize } from "./internal/upload/chunkPool.ts"

/**
 * Creates a source from the path of a file. The file is opened when the upload starts, read in chunks of 256 KiB, and closed
 * when the upload ends. Its name is the last part of the path.
 *
 * The upload can be resumed, also in another process, as long as the size and the modification time of the file stay the
 * same. A file that cannot be opened or read fails the upload with the reason `SourceFailed`.
 *
 * The client of `NodeBotHttpClient` reuses the memory of a chunk after it is sent. Code that keeps chunks on their way to
 * that client must copy them.
 *
 * **Example** (Upload and send a video)
 *
 * ```ts
 * import { Chat, Messages, Uploads } from "@colloquy/core"
 * import { NodeUploads } from "@colloquy/node"
 * import { Effect } from "effect"
 *
 * const send = Effect.gen(function* () {
 *   const attachment = yield* Uploads.upload({ type: "video", source: NodeUploads.fromPath("./video.mp4") })
 *   return yield* Messages.send({ chat_id: Chat.ChatId.make(4242), attachments: [attachment] })
 * })
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromPath = (path: string): UploadSource.UploadSource<"randomAccess"> =>
  UploadSource.make({
    name: basename(path),
    access: "randomAccess",
    open: Effect.gen(function* () {
      const file = yield* Effect.acquireRelease(
        Effect.tryPromise(() => open(path)),
        (file) => Effect.promise(() => file.close())
      )
      const { mtimeMs, size } = yield* Effect.tryPromise(() => file.stat())
      const readChunk = (at: number, length: number) =>
        Effect.tryPromise(() =>
          file.read(length === chunkSize ? acquire() : Buffer.allocUnsafeSlow(length), 0, length, at)
        )
      return {
        size,
        identity: Effect.succeed(`${size} ${mtimeMs}`),
        read: (from, to) =>
          Stream.fromPull(
            Effect.sync(() => {
              let at = from
              return Effect.suspend(() => {
                if (at >= to) return Cause.done()
                return Effect.flatMap(readChunk(at, Math.min(chunkSize, to - at)), ({ buffer, bytesRead }) => {
                  at += bytesRead
                  return bytesRead === 0 ? Cause.done() : Effect.succeed([buffer.subarray(0, bytesRead)] as const)
                })
              })
            })
          )
      }
    })
  })
