import {
  type AttachmentRequest,
  Chat,
  Messages,
  RetryPolicy,
  UploadCache,
  UploadError,
  Upload,
  UploadLimits,
  Uploads,
  UploadSource,
  StoreError
} from "@colloquy/core"
import { Emulator, EmulatorHttp, UploadCacheSuite } from "@colloquy/testing"
import { assert, describe, expectTypeOf, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import * as Tracer from "effect/Tracer"
import { codeOf } from "./support/look.ts"
import { mp3, png, wav } from "./support/media.ts"

const layer = Emulator.layerBot()

const dialog = Effect.gen(function* () {
  const visitor = yield* Emulator.user("visitor")
  return yield* visitor.start()
})

/** Lets time pass until it is over. */
const wait = Effect.fnUntraced(function* <A, E, R>(self: Effect.Effect<A, E, R>) {
  const fiber = yield* Effect.forkChild(self)
  while (fiber.pollUnsafe() === undefined) yield* TestClock.adjust("1 second")
  return yield* Fiber.join(fiber)
})

const sendIt = Effect.fnUntraced(function* (attachment: AttachmentRequest.AttachmentRequest) {
  const { chat_id } = yield* dialog
  const { body } = yield* wait(Messages.send({ chat_id, attachments: [attachment] }))
  return body?.attachments?.[0]
})

const bytes = (size: number) => UploadSource.bytes(Uint8Array.from({ length: size }, (_, at) => (at * 31) % 251))

const toHost = Effect.map(Emulator.requests, (requests) => requests.filter(({ path }) => path.startsWith("/upload/")))

const addresses = Effect.map(
  Emulator.requests,
  (requests) => requests.filter(({ endpoint }) => endpoint === "Uploads.create").length
)

const failureOf = <A, R>(self: Effect.Effect<A, Uploads.UploadErrors, R>) =>
  Effect.flip(self).pipe(
    Effect.map((error) => {
      assert.instanceOf(error, UploadError.UploadFailed)
      return error
    })
  )

const names = { image: "a.png", video: "a.mp4", audio: "a.mp3", file: "a.bin" }
const types = ["image", "video", "audio", "file"] as const
const methods = ["multipart", "resumable"] as const

describe("an upload", () => {
  it.effect.each(types.flatMap((type) => methods.map((method) => [type, method] as const)))(
    "of %s by %s gives the attachment to send",
    ([type, method]) =>
      Effect.gen(function* () {
        const source = bytes(1000)
        const attachment = yield* Uploads.upload({ type, source, name: names[type], method, partSize: 300 })
        const sent = yield* sendIt(attachment)
        assert.strictEqual(sent?.type, type)
        if (sent?.type === "file") assert.deepInclude(sent, { filename: "a.bin", size: 1000 })
        const requests = yield* toHost
        assert.deepStrictEqual(
          requests.map(({ headers }) => headers["content-range"]),
          method === "multipart"
            ? [undefined]
            : ["bytes 0-299/1000", "bytes 300-599/1000", "bytes 600-899/1000", "bytes 900-999/1000"]
        )
      }).pipe(Effect.provide(layer))
  )

  it.effect("tells the host nothing of the bot, and uses the address unchanged", () =>
    Effect.gen(function* () {
      for (const method of methods) yield* Uploads.upload({ type: "image", source: bytes(1000), name: "a.png", method })
      const created = (yield* Emulator.requests).filter(({ endpoint }) => endpoint === "Uploads.create")
      const urls = created.map(({ answer }) => new URL(JSON.parse(answer!).url as string))
      const requests = yield* toHost
      assert.deepStrictEqual(
        requests.map(({ path, query }) => path + query),
        urls.map(({ pathname, search }) => pathname + search)
      )
      for (const request of requests) {
        assert.notProperty(request.headers, "authorization")
        assert.notProperty(request.headers, "traceparent")
        assert.notInclude(JSON.stringify(request), "emulator-token")
      }
    }).pipe(Effect.withSpan("outside"), Effect.provide(layer))
  )

  it.effect.prop(
    "keeps the name of a file, whatever it is",
    [Schema.NonEmptyString],
    ([name]) =>
      Effect.gen(function* () {
        for (const method of methods) {
          const source = bytes(10)
          const sent = yield* sendIt(yield* Uploads.upload({ type: "file", source, name, method }))
          assert.deepInclude(sent, { filename: name.toWellFormed() })
        }
      }).pipe(Effect.provide(layer)),
    { arbitrary: { runs: 40 } }
  )

  it.effect.each(["имя файла.txt", "文件 100%.txt", 'a"b\\c.txt', "ملف.txt", "a%20b.txt", "🙂'()*!.txt", "a;b=c.txt"])(
    "keeps the name %s",
    (name) =>
      Effect.gen(function* () {
        for (const method of methods) {
          const sent = yield* sendIt(yield* Uploads.upload({ type: "file", source: bytes(10), name, method }))
          assert.deepInclude(sent, { filename: name })
        }
      }).pipe(Effect.provide(layer))
  )

  it.effect("goes in parts where the source is large and can be read anywhere", () =>
    Effect.gen(function* () {
      const size = 2 ** 24
      const contentTypesOf = Effect.fnUntraced(function* (source: UploadSource.UploadSource) {
        const before = (yield* toHost).length
        yield* Uploads.upload({ type: "file", source, name: "a.bin" })
        return (yield* toHost).slice(before).map(({ headers }) => headers["content-type"]!.split(";")[0])
      })
      const content = new Uint8Array(size)
      assert.deepStrictEqual(
        yield* contentTypesOf(UploadSource.bytes(content)),
        Array(8).fill("application/octet-stream")
      )
      assert.deepStrictEqual(yield* contentTypesOf(UploadSource.bytes(content.subarray(1))), ["multipart/form-data"])
      assert.deepStrictEqual(yield* contentTypesOf(UploadSource.stream(Stream.succeed(content))), [
        "multipart/form-data"
      ])
      assert.deepStrictEqual(yield* contentTypesOf(UploadSource.bytes(content.subarray(size))), ["multipart/form-data"])
    }).pipe(Effect.provide(layer))
  )

  it.effect("never has more than 1000 parts", () =>
    Effect.gen(function* () {
      const source = bytes(5003)
      yield* Uploads.upload({ type: "file", source, name: "a.bin", method: "resumable", partSize: 1 })
      assert.lengthOf(yield* toHost, Math.ceil(5003 / 6))
      const huge = UploadSource.make({
        name: "huge.bin",
        access: "randomAccess",
        open: Effect.succeed({
          size: 4096 * 2 ** 20,
          read: () => Stream.fail("no bytes"),
          identity: Effect.succeed("huge")
        })
      })
      const { saved } = yield* failureOf(Uploads.upload({ type: "file", source: huge }))
      assert.isAtMost(saved!.size / saved!.partSize, 1000)
    }).pipe(Effect.provide(layer))
  )

  it.effect("takes a web Blob and File, and calls it as the File is called", () =>
    Effect.gen(function* () {
      const file = new File(["some ", "text"], "notes.txt")
      for (const method of methods) {
        const sent = yield* sendIt(
          yield* Uploads.upload({ type: "file", source: UploadSource.blob(file), method, partSize: 4 })
        )
        assert.deepInclude(sent, { filename: "notes.txt", size: 9 })
      }
      const blob = UploadSource.blob(new Blob(["text"]))
      assert.deepInclude(yield* sendIt(yield* Uploads.upload({ type: "file", source: blob })), { filename: "file" })
    }).pipe(Effect.provide(layer))
  )

  it.effect("takes streams of known and unknown size", () =>
    Effect.gen(function* () {
      const content = Stream.make(new Uint8Array(3), new Uint8Array(4))
      for (const source of [UploadSource.stream(content), UploadSource.stream(content, { size: 7 })]) {
        const sent = yield* sendIt(yield* Uploads.upload({ type: "file", source, name: "a.bin" }))
        assert.deepInclude(sent, { size: 7 })
      }
      const [unknown, known] = yield* toHost
      assert.notProperty(unknown.headers, "content-length")
      assert.property(known.headers, "content-length")
    }).pipe(Effect.provide(layer))
  )

  it.effect("streams another address through", () =>
    Effect.gen(function* () {
      const content = png(20, 10)
      const picture = yield* sendIt(
        yield* Uploads.upload({ type: "image", source: UploadSource.bytes(content), name: "a.png" })
      )
      const link = picture?.type === "image" ? picture.payload.url : ""
      const again = yield* sendIt(yield* Uploads.upload({ type: "file", source: UploadSource.url(link) }))
      assert.deepInclude(again, { size: content.length })
      const failed = yield* failureOf(
        Uploads.upload({ type: "file", source: UploadSource.url(link.replace(/\?.*/, "")) })
      )
      assert.strictEqual(failed.reason._tag, "SourceFailed")
      assert.include(failed.message, "status 403")
    }).pipe(Effect.provide(layer))
  )
})

describe("a request for an upload", () => {
  it("goes in parts or on from where it stood only with a source that can be read anywhere", () => {
    expectTypeOf(UploadSource.stream(Stream.empty)).not.toExtend<Upload.ResumeRequest["source"]>()
    expectTypeOf(UploadSource.url("https://pictures.example/cat.png")).not.toExtend<Upload.ResumeRequest["source"]>()
    expectTypeOf(UploadSource.bytes(new Uint8Array())).toExtend<Upload.ResumeRequest["source"]>()
    expectTypeOf<{
      readonly type: "file"
      readonly source: UploadSource.UploadSource<"once">
      readonly method: "resumable"
    }>().not.toExtend<Upload.UploadRequest>()
  })
})

describe("the limits of an upload", () => {
  const limitOf = Effect.fnUntraced(function* (request: Upload.UploadRequest) {
    const { reason } = yield* failureOf(Uploads.upload(request))
    assert.lengthOf(yield* Emulator.requests, 0)
    assert.strictEqual(reason._tag, "LimitExceeded")
    return reason._tag === "LimitExceeded" ? [reason.limit, reason.allowed, reason.found] : []
  })

  const sized = (size: number) => UploadSource.stream(Stream.empty, { size })

  it.effect.each([
    ["image", 50, "50 MB (52428800 bytes)"],
    ["video", 250, "250 MB (262144000 bytes)"],
    ["audio", 256, "256 MB (268435456 bytes)"],
    ["file", 4096, "4 GB (4294967296 bytes)"]
  ] as const)("are its size: %s", ([type, megabytes, allowed]) =>
    Effect.gen(function* () {
      const source = sized(megabytes * 2 ** 20 + 1)
      assert.deepStrictEqual((yield* limitOf({ type, source })).slice(0, 2), ["size", `at most ${allowed}`])
    }).pipe(Effect.provide(layer))
  )

  it.effect.each([
    ["image", "a.webp"],
    ["video", "a.AVI"]
  ] as const)("are its extension: %s %s", ([type, name]) =>
    Effect.gen(function* () {
      const [limit, allowed, found] = yield* limitOf({ type, source: bytes(1), name })
      assert.deepStrictEqual([limit, found], ["extension", name.slice(2)])
      assert.include(allowed, type === "image" ? "jpeg" : "webm")
    }).pipe(Effect.provide(layer))
  )

  it.effect("are the sides of a picture, whatever it is read from", () =>
    Effect.gen(function* () {
      const content = png(7681, 10)
      const sources = [
        UploadSource.bytes(content),
        UploadSource.blob(new Blob([content])),
        UploadSource.stream(Stream.fromIterable(Array.from(content, (byte) => Uint8Array.of(byte))))
      ]
      for (const source of sources) {
        assert.deepStrictEqual(yield* limitOf({ type: "image", source, name: "a.png" }), [
          "dimensions",
          "at most 7680 x 7680 px",
          "7681 x 10 px"
        ])
      }
      assert.strictEqual((yield* limitOf({ type: "image", source: UploadSource.bytes(png(1, 7681)) }))[0], "dimensions")
    }).pipe(Effect.provide(layer))
  )

  it.effect.each([
    ["a.wav", wav],
    ["a.mp3", mp3]
  ] as const)("are the length of audio where its header tells: %s", ([name, make]) =>
    Effect.gen(function* () {
      const long = make(3700)
      for (const source of [UploadSource.bytes(long), UploadSource.stream(Stream.make(long), { size: long.length })]) {
        const [limit, allowed] = yield* limitOf({ type: "audio", source, name })
        assert.deepStrictEqual([limit, allowed], ["duration", "at most 1h"])
      }
      yield* Uploads.upload({ type: "audio", source: UploadSource.bytes(make(3500)), name })
    }).pipe(Effect.provide(layer))
  )

  it.effect("are looked for in no more than the headers", () =>
    Effect.gen(function* () {
      const whole = mp3(200_000)
      let read = 0
      const source = UploadSource.make({
        name: "a.mp3",
        access: "randomAccess",
        open: Effect.succeed({
          size: whole.length,
          identity: Effect.succeed(""),
          read: (from, to) => {
            read += to - from
            return Stream.make(whole.subarray(from, to))
          }
        })
      })
      assert.strictEqual((yield* limitOf({ type: "audio", source }))[0], "duration")
      assert.isBelow(read, 2 ** 20)
    }).pipe(Effect.provide(layer))
  )

  it.effect("let pass what does not tell of itself, and send it as it is", () =>
    Effect.gen(function* () {
      const content = new TextEncoder().encode("neither a picture nor a song")
      for (const source of [UploadSource.bytes(content), UploadSource.stream(Stream.make(content))]) {
        yield* Uploads.upload({ type: "image", source, name: "a.png" })
        yield* Uploads.upload({ type: "audio", source, name: "a.mp3" })
      }
    }).pipe(Effect.provide(layer))
  )

  it.effect("hold for a stream that does not tell its size, as it goes by", () =>
    Effect.gen(function* () {
      const endless = Stream.fromEffectRepeat(Effect.succeed(new Uint8Array(100)))
      const { reason } = yield* failureOf(
        Uploads.upload({ type: "file", source: UploadSource.stream(endless) }).pipe(
          Effect.provideService(UploadLimits.UploadLimits, { ...UploadLimits.defaults, file: { maxSize: 1000 } })
        )
      )
      assert.deepInclude(reason, { _tag: "LimitExceeded", limit: "size" })
    }).pipe(Effect.provide(layer))
  )
})

describe("an upload that breaks", () => {
  const content = Uint8Array.from({ length: 1000 }, (_, at) => at % 251)
  const source = UploadSource.bytes(content)
  const inParts = { type: "file", source, name: "a.bin", method: "resumable", partSize: 100 } as const

  const ranges = Effect.map(toHost, (requests) =>
    requests.map(({ headers, method }) => headers["content-range"]?.slice(6, -5) ?? method)
  )

  it.effect("goes on where it stood", () =>
    Effect.gen(function* () {
      yield* Emulator.addFault({ method: "POST", path: "/upload/*", nth: 3, reset: "before" })
      yield* Emulator.addFault({ method: "POST", path: "/upload/*", nth: 6, reset: "after" })
      const sent = yield* sendIt(yield* wait(Uploads.upload(inParts)))
      assert.deepInclude(sent, { size: 1000 })
      assert.strictEqual(yield* addresses, 1)
      assert.strictEqual(
        (yield* ranges).join(" "),
        "0-99 100-199 200-299 GET 200-299 300-399 400-499 GET 500-599 600-699 700-799 800-899 900-999"
      )
    }).pipe(Effect.provide(layer))
  )

  it.effect("bears more cuts than the policy has attempts, as long as it gets on", () =>
    Effect.gen(function* () {
      yield* Emulator.addFault({ method: "POST", path: "/upload/*", every: 2, reset: "before" })
      yield* wait(Uploads.upload(inParts))
      assert.strictEqual(yield* addresses, 1)
    }).pipe(Effect.provide(layer))
  )

  it.effect("gives up by the policy, and leaves what it takes to go on in a new process", () =>
    Effect.gen(function* () {
      const { saved } = yield* Effect.scoped(
        Effect.gen(function* () {
          yield* Emulator.addFault({ method: "POST", path: "/upload/*", nth: 5, reset: "before" })
          return yield* failureOf(RetryPolicy.override(Uploads.upload(inParts), RetryPolicy.none))
        })
      )
      const Stored = Schema.fromJsonString(Upload.SavedUpload)
      const stored = yield* Schema.encodeEffect(Stored)(saved!)
      const before = (yield* ranges).length
      const again = { saved: yield* Schema.decodeEffect(Stored)(stored), source: UploadSource.bytes(content.slice()) }
      const sent = yield* sendIt(yield* Uploads.upload(again))
      assert.deepInclude(sent, { filename: "a.bin", size: 1000 })
      assert.strictEqual((yield* ranges).slice(before).join(" "), "GET 400-499 500-599 600-699 700-799 800-899 900-999")
    }).pipe(Effect.provide(layer))
  )

  it.effect("does not go on with another source", () =>
    Effect.gen(function* () {
      yield* Emulator.addFault({ method: "POST", path: "/upload/*", nth: 5, reset: "before" })
      const { saved } = yield* failureOf(RetryPolicy.override(Uploads.upload(inParts), RetryPolicy.none))
      const before = (yield* Emulator.requests).length
      for (const other of [content.with(500, 0), content.subarray(1)]) {
        const { reason } = yield* failureOf(Uploads.upload({ saved: saved!, source: UploadSource.bytes(other) }))
        assert.strictEqual(reason._tag, "SourceMismatch")
      }
      assert.lengthOf(yield* Emulator.requests, before)
    }).pipe(Effect.provide(layer))
  )

  it.effect("starts over at its address where the host says 204, and at another one where it says anything else", () =>
    Effect.gen(function* () {
      yield* Emulator.addFault({ method: "POST", path: "/upload/*", nth: 1, reset: "before" })
      yield* wait(Uploads.upload(inParts))
      assert.strictEqual(yield* addresses, 1)
      for (const status of [404, 410, 500, 416]) {
        const before = yield* addresses
        yield* Effect.scoped(
          Effect.gen(function* () {
            yield* Emulator.addFault({ method: "POST", path: "/upload/*", nth: 4, reset: "before" })
            yield* Emulator.addFault({ method: "GET", path: "/upload/*", status, times: 1 })
            const begun = (yield* wait(Stream.runCollect(Uploads.events(inParts)))).filter(
              ({ _tag }) => _tag === "Started"
            )
            assert.lengthOf(begun, 2)
          })
        )
        assert.strictEqual((yield* addresses) - before, 2)
      }
    }).pipe(Effect.provide(layer))
  )

  it.effect.each([416, 500])("starts over where the host keeps answering %i", (status) =>
    Effect.gen(function* () {
      yield* Emulator.addFault({ method: "POST", path: "/upload/*", nth: 4, status })
      yield* wait(Uploads.upload(inParts))
      assert.strictEqual(yield* addresses, 1)
      yield* Emulator.intercept((request, next) =>
        request.path.endsWith(first) && request.headers["content-range"]?.startsWith("bytes 300-") === true
          ? Effect.succeed(EmulatorHttp.respond(status, ""))
          : next
      )
      let first = ""
      const found = Uploads.events(inParts).pipe(
        Stream.tap((event) =>
          Effect.sync(() => {
            if (event._tag === "Started" && first === "") first = new URL(event.saved.url).pathname
          })
        ),
        Stream.runDrain
      )
      yield* wait(found)
      assert.strictEqual(yield* addresses, 3)
    }).pipe(Effect.provide(layer))
  )

  it.effect.each([404, 410])(
    "gets another address where a part is answered with %i, as the status query is",
    (status) =>
      Effect.gen(function* () {
        yield* Emulator.addFault({ method: "POST", path: "/upload/*", nth: 4, status })
        yield* Emulator.addFault({ method: "GET", path: "/upload/*", nth: 1, status })
        yield* wait(Uploads.upload(inParts))
        assert.strictEqual(yield* addresses, 2)
      }).pipe(Effect.provide(layer))
  )

  it.effect("does not start over for ever", () =>
    Effect.gen(function* () {
      yield* Emulator.addFault({ method: "POST", path: "/upload/*", every: 4, reset: "before" })
      yield* Emulator.addFault({ method: "GET", path: "/upload/*", status: 404 })
      const { reason } = yield* failureOf(wait(Uploads.upload(inParts)))
      assert.deepInclude(reason, { _tag: "Rejected", status: 404 })
      assert.strictEqual(yield* addresses, 4)
    }).pipe(Effect.provide(layer))
  )

  it.effect("of a video is complete when the host has every byte, though its answer got lost", () =>
    Effect.gen(function* () {
      yield* Emulator.intercept((request, next) =>
        request.method === "GET" && request.path.startsWith("/upload/")
          ? Effect.succeed(EmulatorHttp.respond(200, "0-999/1000"))
          : next
      )
      yield* Emulator.addFault({ method: "POST", path: "/upload/*", nth: 10, reset: "after" })
      const sent = yield* sendIt(yield* wait(Uploads.upload({ ...inParts, type: "video", name: "a.mp4" })))
      assert.strictEqual(sent?.type, "video")
      assert.strictEqual(yield* addresses, 1)
    }).pipe(Effect.provide(layer))
  )

  it.effect("in one request begins anew at another address, unless its source is read only once", () =>
    Effect.gen(function* () {
      yield* Emulator.addFault({ method: "POST", path: "/upload/*", nth: 1, reset: "after" })
      yield* wait(Uploads.upload({ type: "file", source, name: "a.bin" }))
      assert.strictEqual(yield* addresses, 2)
      yield* Emulator.addFault({ method: "POST", path: "/upload/*", nth: 1, reset: "before" })
      const once = UploadSource.stream(Stream.make(content))
      const failed = yield* failureOf(Uploads.upload({ type: "file", source: once, name: "a.bin" }))
      assert.strictEqual(failed.reason._tag, "Transport")
      assert.isUndefined(failed.saved)
      assert.isTrue(failed.isRetryable)
    }).pipe(Effect.provide(layer))
  )

  it.effect.each([
    [Stream.concat(Stream.make(new Uint8Array(5)), Stream.fail("the disk is gone")), undefined, "the disk is gone"],
    [Stream.make(new Uint8Array(5)), 6, "ended after 5 of 6 bytes"],
    [Stream.make(new Uint8Array(5)), 4, "more than the declared 4 bytes"]
  ] as const)("because of its source says so", ([stream, size, detail]) =>
    Effect.gen(function* () {
      const source = UploadSource.stream(stream, { size })
      const { reason } = yield* failureOf(Uploads.upload({ type: "file", source }))
      assert.strictEqual(reason._tag, "SourceFailed")
      assert.include(reason.message, detail)
    }).pipe(Effect.provide(layer))
  )
})

describe("the answer of the upload host", () => {
  const answered = Effect.fnUntraced(function* (type: Upload.UploadType, status: number, body: unknown) {
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
    ["audio", 200, '{"error_code":"4","error_data":"BAD_REQUEST"}', "Rejected"],
    ["image", 415, "", "Rejected"],
    ["file", 413, "<html>Too large</html>", "Rejected"],
    ["file", 302, "", "Rejected"],
    ["file", 403, "", "Rejected"]
  ] as const)("is a typed error with its body where it is wrong: %s %i %s", ([type, status, body, tag]) =>
    Effect.gen(function* () {
      const { message, reason } = yield* failureOf(answered(type, status, body))
      assert.deepInclude(reason, { _tag: tag, status, body })
      assert.include(message, names[type])
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("gives the words of the host", () =>
    Effect.gen(function* () {
      const body = { error_code: 4, error_data: { why: "No room" } }
      const { reason } = yield* failureOf(answered("file", 200, body))
      assert.deepInclude(reason, { code: "4", detail: '{"why":"No room"}' })
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect.each([
    ["image", '{"token":"t"}', { token: "t" }],
    ["image", '{"photos":{"k":{"token":"t","size":1}}}', { photos: { k: { token: "t" } } }],
    ["file", '{"token":"t"}', { token: "t" }]
  ] as const)("has the token of %s: %s", ([type, body, payload]) =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* answered(type, 200, body), { type, payload } as never)
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect.each(['<?xml version="1.0"?>\n<retval> 1 </retval>', "<retval>1</retval>", '{"token":"other"}'])(
    "leaves the token of a video with its address: %s",
    (body) =>
      Effect.gen(function* () {
        const attachment = yield* answered("video", 200, body)
        const [{ answer }] = yield* Emulator.requests
        assert.deepStrictEqual(attachment, { type: "video", payload: { token: JSON.parse(answer!).token } })
      }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("is an error where neither it nor the upload address has a token", () =>
    Effect.gen(function* () {
      yield* Emulator.addFault({
        endpoint: "Uploads.create",
        body: { url: "https://video.uploads.emulator.test/upload/x" }
      })
      const { reason } = yield* failureOf(answered("video", 200, "<retval>1</retval>"))
      assert.include(reason.message, "neither it nor the upload address has a token")
    }).pipe(Effect.scoped, Effect.provide(layer))
  )
})

describe("the time of an upload", () => {
  it.effect("is as long as it takes, as long as something moves", () =>
    Effect.gen(function* () {
      const slow = Stream.range(1, 48).pipe(
        Stream.mapEffect(() => Effect.delay(Effect.succeed(new Uint8Array(1000)), "5 seconds"))
      )
      const fiber = yield* Effect.forkChild(
        Uploads.upload({
          type: "video",
          source: UploadSource.stream(slow),
          name: "a.mp4",
          stallTimeout: "10 seconds"
        })
      )
      yield* TestClock.adjust("3 minutes")
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust("1 minute")
      assert.strictEqual((yield* Fiber.join(fiber)).type, "video")
    }).pipe(Effect.provide(layer))
  )

  it.effect.each([
    ["the source", UploadSource.stream(Stream.concat(Stream.make(new Uint8Array(10)), Stream.never))],
    ["the host", UploadSource.bytes(new Uint8Array(10))]
  ] as const)("is over when %s does not move", ([who, source]) =>
    Effect.gen(function* () {
      if (who === "the host") {
        yield* Emulator.intercept((request, next) => (request.path.startsWith("/upload/") ? Effect.never : next))
      }
      const upload = Uploads.upload({ type: "file", source, name: "a.bin", stallTimeout: "1 minute" })
      const fiber = yield* Effect.forkChild(Effect.exit(RetryPolicy.override(upload, RetryPolicy.none)))
      yield* TestClock.adjust("59 seconds")
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust("1 second")
      const { reason } = yield* failureOf(Effect.flatten(Fiber.join(fiber)))
      assert.deepInclude(reason, { _tag: "Transport", kind: "Timeout" })
      assert.include(reason.message, "No byte was sent or received for 1m")
    }).pipe(Effect.provide(layer))
  )
})

describe("the events of an upload", () => {
  const slowly = (pieces: number) =>
    Stream.range(1, pieces).pipe(
      Stream.mapEffect(() => Effect.delay(Effect.succeed(new Uint8Array(1000)), "100 millis"))
    )

  const progressOf = (events: ReadonlyArray<Upload.UploadEvent>) =>
    events.flatMap((event) => (event._tag === "Progress" ? [event] : []))

  it.effect("are its progress in percent with its rate, and its result", () =>
    Effect.gen(function* () {
      const source = UploadSource.stream(slowly(200), { size: 200_000 })
      const events = yield* wait(Stream.runCollect(Uploads.events({ type: "file", source, name: "a.bin" })))
      const progress = progressOf(events)
      assert.deepStrictEqual(
        [...new Set(progress.map(({ percent }) => Math.floor(percent!)))],
        Array.from({ length: 101 }, (_, percent) => percent)
      )
      assert.deepInclude(progress.at(-1), { sent: 200_000, size: 200_000, percent: 100 })
      assert.approximately(progress.at(-1)!.bytesPerSecond!, 10_000, 1000)
      assert.strictEqual(events.at(-1)?._tag, "Completed")
    }).pipe(Effect.provide(layer))
  )

  it.effect("come each second where the size is not known", () =>
    Effect.gen(function* () {
      const source = UploadSource.stream(slowly(50))
      const progress = progressOf(yield* wait(Stream.runCollect(Uploads.events({ type: "file", source }))))
      assert.isAtLeast(progress.length, 5)
      assert.isTrue(progress.every(({ percent, size }) => percent === undefined && size === undefined))
    }).pipe(Effect.provide(layer))
  )

  it.effect("of an upload in parts begin with what can be stored, and go on from where it stood", () =>
    Effect.gen(function* () {
      const request = { type: "file", source: bytes(1000), name: "a.bin", method: "resumable", partSize: 100 } as const
      yield* Emulator.addFault({ method: "POST", path: "/upload/*", nth: 6, reset: "before" })
      const first = yield* Uploads.events(request).pipe(
        impatiently,
        Stream.catch(() => Stream.empty),
        Stream.runCollect
      )
      assert.strictEqual(first[0]._tag, "Started")
      const saved = first[0]._tag === "Started" ? first[0].saved : undefined
      const second = yield* Stream.runCollect(Uploads.events({ saved: saved!, source: bytes(1000) }))
      assert.deepInclude(progressOf(second)[0], { sent: 500, percent: 50 })
      assert.strictEqual(second.at(-1)?._tag, "Completed")
    }).pipe(Effect.provide(layer))
  )

  it.effect("stop the upload when nobody listens any more", () =>
    Effect.gen(function* () {
      const source = UploadSource.stream(slowly(1000))
      const some = Uploads.events({ type: "file", source }).pipe(Stream.take(3), Stream.runCollect)
      assert.lengthOf(yield* wait(some), 3)
      const before = yield* Clock.currentTimeMillis
      yield* TestClock.adjust("10 minutes")
      assert.isTrue((yield* toHost).every(({ at }) => at <= before))
      assert.isTrue((yield* toHost).every(({ status }) => status === undefined))
    }).pipe(Effect.provide(layer))
  )

  it.effect("fail as the upload fails", () =>
    Effect.gen(function* () {
      const exit = yield* Effect.exit(
        Stream.runCollect(Uploads.events({ type: "image", source: bytes(1), name: "a.pdf" }))
      )
      assert.isTrue(Exit.isFailure(exit))
    }).pipe(Effect.provide(layer))
  )

  const impatiently = <A, E, R>(self: Stream.Stream<A, E, R>) =>
    Stream.provideService(self, RetryPolicy.RetryPolicy, RetryPolicy.none)
})

describe("sending a fresh upload", () => {
  const watched = () => {
    const spans: Array<Tracer.Span> = []
    const tracer = Tracer.make({
      span: (options) => {
        const span = new Tracer.NativeSpan(options)
        spans.push(span)
        return span
      }
    })
    return { spans, layer: Layer.succeed(Tracer.Tracer, tracer) }
  }

  const slowPlatform = Emulator.layerBot({ processing: { minimum: "7 minutes" } })

  const lasted = ({ status }: Tracer.Span): number =>
    status._tag === "Ended" ? Number((status.endTime - status.startTime) / 1_000_000n) : 0

  it.effect("waits for minutes until it is processed, which a span shows", () =>
    Effect.gen(function* () {
      const { layer, spans } = watched()
      const attachment = yield* Uploads.upload({ type: "video", source: bytes(1000), name: "a.mp4" })
      assert.strictEqual((yield* Effect.provide(sendIt(attachment), layer))?.type, "video")
      const [waits] = spans.filter(({ name }) => name === "Messages.send waits for its files")
      assert.isAtLeast(lasted(waits), 7 * 60_000)
      assert.isAbove(spans.filter(({ name }) => name === "Messages.send").length, 5)
    }).pipe(Effect.provide(slowPlatform))
  )

  it.effect("gives up with the typed error after the time that the policy allows", () =>
    Effect.gen(function* () {
      const attachment = yield* Uploads.upload({ type: "video", source: bytes(1000), name: "a.mp4" })
      const before = yield* Clock.currentTimeMillis
      const { chat_id } = yield* dialog
      const error = yield* Effect.flip(wait(Messages.send({ chat_id, attachments: [attachment] })))
      assert.strictEqual(error._tag, "AttachmentNotReady")
      const minutes = ((yield* Clock.currentTimeMillis) - before) / 60_000
      assert.isTrue(minutes > 58 && minutes < 62, `${minutes}`)
    }).pipe(Effect.provide(Emulator.layerBot({ processing: { minimum: "2 hours" } })))
  )
})

describe("a file that is used often", () => {
  const logo = { type: "image", source: UploadSource.bytes(png(3, 3)), name: "logo.png" } as const

  const sendTo = (chat_id: Chat.ChatId) => (attachment: Upload.Media) =>
    Messages.send({ chat_id, attachments: [attachment] })

  const cachedLayer = Layer.merge(Emulator.layerBot(), UploadCache.layerMemory())

  it.effect("is uploaded once", () =>
    Effect.gen(function* () {
      const { chat_id } = yield* dialog
      for (const name of ["logo.png", "other.png", "logo.png"]) {
        yield* wait(Uploads.cached({ ...logo, name }, sendTo(chat_id)))
      }
      assert.strictEqual(yield* addresses, 1)
      assert.lengthOf(yield* Emulator.messages({ chat_id }), 3)
      yield* wait(Uploads.cached({ ...logo, source: UploadSource.bytes(png(3, 4)) }, sendTo(chat_id)))
      assert.strictEqual(yield* addresses, 2)
    }).pipe(Effect.provide(cachedLayer))
  )

  it.effect("is uploaded under each name that people see", () =>
    Effect.gen(function* () {
      const { chat_id } = yield* dialog
      for (const name of ["a.pdf", "b.pdf", "a.pdf"]) {
        yield* wait(Uploads.cached({ type: "file", source: bytes(100), name }, sendTo(chat_id)))
      }
      const seen = (yield* Emulator.messages({ chat_id })).flatMap(({ body }) =>
        (body?.attachments ?? []).map((attachment) => (attachment.type === "file" ? attachment.filename : ""))
      )
      assert.deepStrictEqual(seen, ["a.pdf", "b.pdf", "a.pdf"])
      assert.strictEqual(yield* addresses, 2)
    }).pipe(Effect.provide(cachedLayer))
  )

  it.effect("is uploaded once by many who want it at the same time", () =>
    Effect.gen(function* () {
      const { chat_id } = yield* dialog
      const all = Array.from({ length: 10 }, () => Uploads.cached(logo, sendTo(chat_id)))
      yield* wait(Effect.all(all, { concurrency: "unbounded" }))
      assert.strictEqual(yield* addresses, 1)
    }).pipe(Effect.provide(cachedLayer))
  )

  it.effect("is uploaded again where the platform refuses what was kept", () =>
    Effect.gen(function* () {
      const cache = yield* UploadCache.UploadCache
      const { chat_id } = yield* dialog
      yield* wait(Uploads.cached(logo, sendTo(chat_id)))
      const [key] = keys
      yield* cache.set(key, JSON.stringify({ type: "image", payload: { token: "long forgotten" } }))
      yield* wait(Uploads.cached(logo, sendTo(chat_id)))
      assert.strictEqual(yield* addresses, 2)
      yield* cache.set(key, "not JSON at all")
      yield* wait(Uploads.cached(logo, sendTo(chat_id)))
      assert.strictEqual(yield* addresses, 3)
    }).pipe(Effect.provide(Layer.merge(Emulator.layerBot(), noting)))
  )

  const keys: Array<string> = []

  const noting = Layer.effect(
    UploadCache.UploadCache,
    UploadCache.UploadCache.use((cache) =>
      Effect.succeed({
        ...cache,
        get: (key: string) => {
          keys.push(key)
          return cache.get(key)
        }
      })
    )
  ).pipe(Layer.provide(UploadCache.layerMemory()))

  it.effect("fails with what else goes wrong, and is not uploaded again for it", () =>
    Effect.gen(function* () {
      const nowhere = Chat.ChatId.make(1)
      yield* Uploads.cached(logo, () => Effect.void)
      assert.strictEqual(yield* codeOf(wait(Uploads.cached(logo, sendTo(nowhere)))), "NotFound chat.not.found")
      assert.strictEqual(yield* addresses, 1)
    }).pipe(Effect.provide(cachedLayer))
  )

  it.effect("is sent though the cache cannot be reached", () =>
    Effect.gen(function* () {
      const { chat_id } = yield* dialog
      yield* wait(Uploads.cached(logo, sendTo(chat_id)))
      assert.lengthOf(yield* Emulator.messages({ chat_id }), 1)
    }).pipe(
      Effect.provide(
        Layer.merge(Emulator.layerBot(), Layer.succeed(UploadCache.UploadCache, { get: down, set: down, remove: down }))
      )
    )
  )

  const down = () =>
    Effect.fail(
      new StoreError.StoreError({ store: "uploads", operation: "get", reason: "no route to host", isRetryable: true })
    )
})

describe("the cache of uploads in memory", () => {
  for (const { effect, name } of UploadCacheSuite.cases) {
    it.effect(name, () => Effect.provide(effect, UploadCache.layerMemory()))
  }

  it.effect("forgets what was not used for longest", () =>
    Effect.gen(function* () {
      const cache = yield* UploadCache.UploadCache
      for (const key of ["a", "b"]) yield* cache.set(key, key)
      yield* cache.get("a")
      yield* cache.set("c", "c")
      const known = yield* Effect.forEach(["a", "b", "c"], cache.get)
      assert.deepStrictEqual(known, [Option.some("a"), Option.none(), Option.some("c")])
    }).pipe(Effect.provide(UploadCache.layerMemory({ capacity: 2 })))
  )
})
