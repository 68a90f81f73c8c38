import { type AttachmentRequest, Messages, UploadError, type Uploads, UploadSource } from "@colloquy/core"
import { Emulator } from "@colloquy/testing"
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"

/** A file name that each type accepts. */
export const names = { image: "a.png", video: "a.mp4", audio: "a.mp3", file: "a.bin" }

export const types = ["image", "video", "audio", "file"] as const

export const methods = ["multipart", "resumable"] as const

export const dialog = Effect.gen(function* () {
  const visitor = yield* Emulator.user("visitor")
  return yield* visitor.start()
})

/** Runs an effect and advances the clock until it is done. */
export const advance = Effect.fnUntraced(function* <A, E, R>(self: Effect.Effect<A, E, R>) {
  const fiber = yield* Effect.forkChild(self)
  while (fiber.pollUnsafe() === undefined) yield* TestClock.adjust("1 second")
  return yield* Fiber.join(fiber)
})

/** Sends an attachment and returns the attachment of the message. */
export const sendAttachment = Effect.fnUntraced(function* (attachment: AttachmentRequest.AttachmentRequest) {
  const { chat_id } = yield* dialog
  const { body } = yield* advance(Messages.send({ chat_id, attachments: [attachment] }))
  return body?.attachments?.[0]
})

export const bytes = (size: number) => UploadSource.bytes(Uint8Array.from({ length: size }, (_, at) => (at * 31) % 251))

/** Returns the requests to the upload hosts. */
export const hostRequests = Effect.map(Emulator.requests, (requests) =>
  requests.filter(({ path }) => path.startsWith("/upload/"))
)

/** Returns the number of upload addresses that were requested. */
export const addressCount = Effect.map(
  Emulator.requests,
  (requests) => requests.filter(({ endpoint }) => endpoint === "Uploads.create").length
)

/** Returns the `UploadFailed` that an upload fails with. */
export const failureOf = <A, R>(self: Effect.Effect<A, Uploads.UploadErrors, R>) =>
  Effect.flip(self).pipe(
    Effect.map((error) => {
      assert.instanceOf(error, UploadError.UploadFailed)
      return error
    })
  )
