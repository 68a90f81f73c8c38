import { type Upload, Uploads } from "@colloquy/core"
import { Emulator, EmulatorHttp } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { bytes, failureOf, methods, names, sendAttachment } from "../../../../testing/test/support/uploads.ts"

const layer = Emulator.layerBot()

describe("file names", () => {
  it.effect.prop(
    "preserve any name",
    [Schema.NonEmptyString],
    ([name]) =>
      Effect.gen(function* () {
        for (const method of methods) {
          const source = bytes(10)
          const sent = yield* sendAttachment(yield* Uploads.upload({ type: "file", source, name, method }))
          assert.deepInclude(sent, { filename: name.toWellFormed() })
        }
      }).pipe(Effect.provide(layer)),
    { arbitrary: { runs: 40 } }
  )

  it.effect.each(["имя файла.txt", "文件 100%.txt", 'a"b\\c.txt', "ملف.txt", "a%20b.txt", "🙂'()*!.txt", "a;b=c.txt"])(
    "preserve the name %s",
    (name) =>
      Effect.gen(function* () {
        for (const method of methods) {
          const sent = yield* sendAttachment(yield* Uploads.upload({ type: "file", source: bytes(10), name, method }))
          assert.deepInclude(sent, { filename: name })
        }
      }).pipe(Effect.provide(layer))
  )
})

describe("responses of the upload host", () => {
  const uploadWithResponse = Effect.fnUntraced(function* (type: Upload.UploadType, status: number, body: unknown) {
    yield* Emulator.intercept((request, next) =>
      request.path.startsWith("/upload/") ? Effect.succeed(EmulatorHttp.respond(status, body)) : next
    )
    return yield* Uploads.upload({ type, source: bytes(10), name: names[type] })
  })

  it.effect.each([
    ["file", 200, "<html>Busy</html>", "InvalidResponse"],
    ["file", 200, "", "InvalidResponse"],
    ["file", 200, '{"fileId":1}', "InvalidResponse"],
    ["image", 200, '{"photos":{}}', "InvalidResponse"],
    ["image", 200, '{"photos":{"a":{"token":', "InvalidResponse"],
    ["video", 200, "<html>Busy</html>", "InvalidResponse"],
    ["video", 200, "<retval>0</retval>", "Rejected"],
    ["video", 200, '{"retval":0}', "Rejected"],
    ["audio", 200, "4", "Rejected"],
    ["audio", 200, '{"error_code":"4","error_data":"BAD_REQUEST"}', "Rejected"],
    ["image", 415, "", "Rejected"],
    ["file", 413, "<html>Too large</html>", "Rejected"],
    ["file", 302, "", "Rejected"],
    ["file", 403, "", "Rejected"]
  ] as const)("fail the upload with a typed error that has the body: %s %i %s", ([type, status, body, tag]) =>
    Effect.gen(function* () {
      const { message, reason } = yield* failureOf(uploadWithResponse(type, status, body))
      assert.deepInclude(reason, { _tag: tag, status, body })
      assert.include(message, names[type])
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect.each(["<retval>1</retval>", '{"retval":1}', '{"retval":"1"}', "1", " 1\n"])(
    "complete the upload of a video if they state a retval of 1: %s",
    (body) =>
      Effect.gen(function* () {
        assert.strictEqual((yield* uploadWithResponse("video", 200, body)).type, "video")
      }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("fail the upload with a typed error if they are nested too deep", () =>
    Effect.gen(function* () {
      const body = `{"error_code":4,"error_data":${"[".repeat(100_000)}${"]".repeat(100_000)}}`
      const { reason } = yield* failureOf(uploadWithResponse("file", 200, body))
      assert.deepInclude(reason, { _tag: "InvalidResponse", body })
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("provide the code and the description of the error", () =>
    Effect.gen(function* () {
      const body = { error_code: 4, error_data: { reason: "Storage is full" } }
      const { reason } = yield* failureOf(uploadWithResponse("file", 200, body))
      assert.deepInclude(reason, { code: "4", detail: '{"reason":"Storage is full"}' })
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect.each([
    ["image", '{"token":"t"}', { token: "t" }],
    ["image", '{"photos":{"k":{"token":"t","size":1}}}', { photos: { k: { token: "t" } } }],
    ["file", '{"token":"t"}', { token: "t" }]
  ] as const)("provide the token of %s: %s", ([type, body, payload]) =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* uploadWithResponse(type, 200, body), { type, payload } as never)
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect.each(['<?xml version="1.0"?>\n<retval> 1 </retval>', "<retval>1</retval>", '{"token":"other"}'])(
    "confirm a video, whose token comes with its address: %s",
    (body) =>
      Effect.gen(function* () {
        const attachment = yield* uploadWithResponse("video", 200, body)
        const [{ answer }] = yield* Emulator.requests
        assert.deepStrictEqual(attachment, { type: "video", payload: { token: JSON.parse(answer!).token } })
      }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("fail the upload if neither they nor the address have a token", () =>
    Effect.gen(function* () {
      yield* Emulator.addFault({
        endpoint: "Uploads.create",
        body: { url: "https://video.uploads.emulator.test/upload/x" }
      })
      const { reason } = yield* failureOf(uploadWithResponse("video", 200, "<retval>1</retval>"))
      assert.include(reason.message, "neither it nor the upload address has a token")
    }).pipe(Effect.scoped, Effect.provide(layer))
  )
})
