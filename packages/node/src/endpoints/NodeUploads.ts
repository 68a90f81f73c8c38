/**
 * Files as sources of uploads.
 *
 * @since 0.1.0
 */
import { SourceFailed } from "@colloquy/core/endpoints/UploadError"
import * as UploadSource from "@colloquy/core/endpoints/UploadSource"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type * as Pull from "effect/Pull"
import * as Stream from "effect/Stream"
import { open } from "node:fs/promises"
import { basename } from "node:path"
import { acquire, chunkSize } from "../base/internal/chunkPool.ts"

type Chunk = Pull.Pull<readonly [Uint8Array], unknown>

/**
 * Creates a source from the path of a file. The file is opened when the upload starts, read in chunks of 256 KiB, and closed
 * when the upload ends. Its name is the last part of the path.
 *
 * The upload can be resumed, also in another process, as long as the size and the modification time of the file stay the
 * same. A file that cannot be opened or read, or whose size or modification time changes while it is sent, fails the upload with the
 * reason `SourceFailed`.
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
      const stat = Effect.tryPromise(() => file.stat())
      const { mtimeMs, size } = yield* stat
      const checkUnchanged = Effect.flatMap(stat, (now) =>
        now.size === size && now.mtimeMs === mtimeMs
          ? Effect.void
          : new SourceFailed({ detail: `the file ${path} was changed while it was read` })
      )
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
                return Effect.flatMap(readChunk(at, Math.min(chunkSize, to - at)), ({ buffer, bytesRead }): Chunk => {
                  at += bytesRead
                  if (bytesRead === 0) return Cause.done()
                  // The check comes before the last chunk of a range, so that the host never has all of a changed file.
                  const checked = at < to && at < size ? Effect.void : checkUnchanged
                  return Effect.as(checked, [buffer.subarray(0, bytesRead)] as const)
                })
              })
            })
          )
      }
    })
  })
