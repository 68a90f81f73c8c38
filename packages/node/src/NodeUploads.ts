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
import { pieceSize, take } from "./internal/upload/pieces.ts"

/**
 * A file by its path. It is called like the file unless told, read in pieces, and closed when the upload ends. An upload
 * of it goes on where it broke, also in a new process, as long as its size and its time of modification stay. The client of
 * `NodeBotHttpClient` uses the memory of a piece again when it has been sent: who keeps pieces on their way there copies them.
 *
 * **Example**
 *
 * ```ts
 * import { Chat, Messages, Uploads } from "@colloquy/core"
 * import { NodeUploads } from "@colloquy/node"
 * import { Effect } from "effect"
 *
 * const send = Effect.gen(function* () {
 *   const attachment = yield* Uploads.upload({ type: "video", source: NodeUploads.fromPath("./film.mp4") })
 *   return yield* Messages.send({ chat_id: Chat.ChatId.make(4242), attachments: [attachment] })
 * })
 * ```
 *
 * @category sources
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
      const piece = (at: number, length: number) =>
        Effect.tryPromise(() =>
          file.read(length === pieceSize ? take() : Buffer.allocUnsafeSlow(length), 0, length, at)
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
                return Effect.flatMap(piece(at, Math.min(pieceSize, to - at)), ({ buffer, bytesRead }) => {
                  at += bytesRead
                  return bytesRead === 0 ? Cause.done() : Effect.succeed([buffer.subarray(0, bytesRead)] as const)
                })
              })
            })
          )
      }
    })
  })
