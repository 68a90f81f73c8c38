import { Uploads, UploadSource } from "@colloquy/core"
import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { png } from "../../../testing/test/support/media.ts"
import { failureOf, hostRequests, methods, sendAttachment } from "../../../testing/test/support/uploads.ts"

const layer = Emulator.layerBot()

describe("UploadSource", () => {
  it.effect("uploads a web Blob, and a File under its name", () =>
    Effect.gen(function* () {
      const file = new File(["some ", "text"], "notes.txt")
      for (const method of methods) {
        const sent = yield* sendAttachment(
          yield* Uploads.upload({ type: "file", source: UploadSource.blob(file), method, partSize: 4 })
        )
        assert.deepInclude(sent, { filename: "notes.txt", size: 9 })
      }
      const blob = UploadSource.blob(new Blob(["text"]))
      assert.deepInclude(yield* sendAttachment(yield* Uploads.upload({ type: "file", source: blob })), {
        filename: "file"
      })
    }).pipe(Effect.provide(layer))
  )

  it.effect("uploads streams of known and unknown size", () =>
    Effect.gen(function* () {
      const content = Stream.make(new Uint8Array(3), new Uint8Array(4))
      for (const source of [UploadSource.stream(content), UploadSource.stream(content, { size: 7 })]) {
        const sent = yield* sendAttachment(yield* Uploads.upload({ type: "file", source, name: "a.bin" }))
        assert.deepInclude(sent, { size: 7 })
      }
      const [unknown, known] = yield* hostRequests
      assert.notProperty(unknown.headers, "content-length")
      assert.property(known.headers, "content-length")
    }).pipe(Effect.provide(layer))
  )

  it.effect("uploads the file at a URL, and fails if the server does not respond with 200", () =>
    Effect.gen(function* () {
      const content = png(20, 10)
      const image = yield* sendAttachment(
        yield* Uploads.upload({ type: "image", source: UploadSource.bytes(content), name: "a.png" })
      )
      const link = image?.type === "image" ? image.payload.url : ""
      const sent = yield* sendAttachment(yield* Uploads.upload({ type: "file", source: UploadSource.url(link) }))
      assert.deepInclude(sent, { size: content.length })
      const failed = yield* failureOf(
        Uploads.upload({ type: "file", source: UploadSource.url(link.replace(/\?.*/, "")) })
      )
      assert.strictEqual(failed.reason._tag, "SourceFailed")
      assert.include(failed.message, "status 403")
    }).pipe(Effect.provide(layer))
  )
})
