import {
  Chat,
  Messages,
  RetryPolicy,
  StoreError,
  type Upload,
  UploadCache,
  Uploads,
  UploadSource
} from "@colloquy/core"
import { Emulator } from "@colloquy/testing"
import { assert, describe, expectTypeOf, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { codeOf } from "../../../testing/test/support/inspect.ts"
import { png } from "../../../testing/test/support/media.ts"
import {
  addressCount,
  advance,
  bytes,
  dialog,
  failureOf,
  hostRequests,
  methods,
  names,
  sendAttachment,
  types
} from "../../../testing/test/support/uploads.ts"

const layer = Emulator.layerBot()

describe("Uploads.upload", () => {
  it.effect.each(types.flatMap((type) => methods.map((method) => [type, method] as const)))(
    "uploads %s by %s and returns the attachment to send",
    ([type, method]) =>
      Effect.gen(function* () {
        const source = bytes(1000)
        const attachment = yield* Uploads.upload({ type, source, name: names[type], method, partSize: 300 })
        const sent = yield* sendAttachment(attachment)
        assert.strictEqual(sent?.type, type)
        if (sent?.type === "file") assert.deepInclude(sent, { filename: "a.bin", size: 1000 })
        const requests = yield* hostRequests
        assert.deepStrictEqual(
          requests.map(({ headers }) => headers["content-range"]),
          method === "multipart"
            ? [undefined]
            : ["bytes 0-299/1000", "bytes 300-599/1000", "bytes 600-899/1000", "bytes 900-999/1000"]
        )
      }).pipe(Effect.provide(layer))
  )

  it.effect("fails with InvalidRequest for a type that does not exist, and sends nothing", () =>
    Effect.gen(function* () {
      for (const type of ["photo", "constructor", undefined]) {
        const error = yield* Effect.flip(Uploads.upload({ type: type as "image", source: bytes(10) }))
        if (error._tag !== "RequestFailed") return assert.fail(error.message)
        assert.strictEqual(error.reason._tag, "InvalidRequest")
        assert.include(error.message, "`type` must be one of image, video, audio, file")
      }
      assert.lengthOf(yield* Emulator.requests, 0)
    }).pipe(Effect.provide(layer))
  )

  it.effect("uses the address unchanged, and discloses nothing about the bot to the upload host", () =>
    Effect.gen(function* () {
      for (const method of methods) yield* Uploads.upload({ type: "image", source: bytes(1000), name: "a.png", method })
      const created = (yield* Emulator.requests).filter(({ endpoint }) => endpoint === "Uploads.create")
      const urls = created.map(({ answer }) => new URL(JSON.parse(answer!).url as string))
      const requests = yield* hostRequests
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

  it.effect("uses `resumable` for a source with random access from 16 MiB on, and `multipart` otherwise", () =>
    Effect.gen(function* () {
      const size = 2 ** 24
      const contentTypesOf = Effect.fnUntraced(function* (source: UploadSource.UploadSource) {
        const before = (yield* hostRequests).length
        yield* Uploads.upload({ type: "file", source, name: "a.bin" })
        return (yield* hostRequests).slice(before).map(({ headers }) => headers["content-type"]!.split(";")[0])
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

  it.effect("raises the part size so that there are at most 1000 parts", () =>
    Effect.gen(function* () {
      const source = bytes(5003)
      yield* Uploads.upload({ type: "file", source, name: "a.bin", method: "resumable", partSize: 1 })
      assert.lengthOf(yield* hostRequests, Math.ceil(5003 / 6))
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

  it("accepts `resumable` and a saved upload only with random access", () => {
    expectTypeOf(UploadSource.stream(Stream.empty)).not.toExtend<Upload.ResumeRequest["source"]>()
    expectTypeOf(UploadSource.url("https://pictures.example/cat.png")).not.toExtend<Upload.ResumeRequest["source"]>()
    expectTypeOf(UploadSource.bytes(new Uint8Array())).toExtend<Upload.ResumeRequest["source"]>()
    expectTypeOf<{
      readonly type: "file"
      readonly source: UploadSource.UploadSource<"once">
      readonly method: "resumable"
    }>().not.toExtend<Upload.UploadRequest>()
  })

  it.effect("has no time limit while bytes are sent", () =>
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
  ] as const)("fails when %s stalls", ([who, source]) =>
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

describe("Uploads.events", () => {
  const slowStream = (pieces: number) =>
    Stream.range(1, pieces).pipe(
      Stream.mapEffect(() => Effect.delay(Effect.succeed(new Uint8Array(1000)), "100 millis"))
    )

  const progressOf = (events: ReadonlyArray<Upload.UploadEvent>) =>
    events.flatMap((event) => (event._tag === "Progress" ? [event] : []))

  it.effect("emits each percent with the rate, and Completed as the last event", () =>
    Effect.gen(function* () {
      const source = UploadSource.stream(slowStream(200), { size: 200_000 })
      const events = yield* advance(Stream.runCollect(Uploads.events({ type: "file", source, name: "a.bin" })))
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

  it.effect("emits an event per second if the size is unknown", () =>
    Effect.gen(function* () {
      const source = UploadSource.stream(slowStream(50))
      const progress = progressOf(yield* advance(Stream.runCollect(Uploads.events({ type: "file", source }))))
      assert.isAtLeast(progress.length, 5)
      assert.isTrue(progress.every(({ percent, size }) => percent === undefined && size === undefined))
    }).pipe(Effect.provide(layer))
  )

  it.effect("emits Started with the saved upload first, and continues from its progress when it is resumed", () =>
    Effect.gen(function* () {
      const request = { type: "file", source: bytes(1000), name: "a.bin", method: "resumable", partSize: 100 } as const
      yield* Emulator.addFault({ method: "POST", path: "/upload/*", nth: 6, reset: "before" })
      const first = yield* Uploads.events(request).pipe(
        withoutRetries,
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

  it.effect("stops the upload when the stream is interrupted", () =>
    Effect.gen(function* () {
      const source = UploadSource.stream(slowStream(1000))
      const firstEvents = Uploads.events({ type: "file", source }).pipe(Stream.take(3), Stream.runCollect)
      assert.lengthOf(yield* advance(firstEvents), 3)
      const before = yield* Clock.currentTimeMillis
      yield* TestClock.adjust("10 minutes")
      assert.isTrue((yield* hostRequests).every(({ at }) => at <= before))
      assert.isTrue((yield* hostRequests).every(({ status }) => status === undefined))
    }).pipe(Effect.provide(layer))
  )

  it.effect("fails with the error of the upload", () =>
    Effect.gen(function* () {
      const exit = yield* Effect.exit(
        Stream.runCollect(Uploads.events({ type: "image", source: bytes(1), name: "a.pdf" }))
      )
      assert.isTrue(Exit.isFailure(exit))
    }).pipe(Effect.provide(layer))
  )

  const withoutRetries = <A, E, R>(self: Stream.Stream<A, E, R>) =>
    Stream.provideService(self, RetryPolicy.RetryPolicy, RetryPolicy.none)
})

describe("Uploads.cached", () => {
  const logo = { type: "image", source: UploadSource.bytes(png(3, 3)), name: "logo.png" } as const

  const sendTo = (chat_id: Chat.ChatId) => (attachment: Upload.Media) =>
    Messages.send({ chat_id, attachments: [attachment] })

  const cachedLayer = Layer.merge(Emulator.layerBot(), UploadCache.layerMemory())

  it.effect("uploads a file once, by its content", () =>
    Effect.gen(function* () {
      const { chat_id } = yield* dialog
      for (const name of ["logo.png", "other.png", "logo.png"]) {
        yield* advance(Uploads.cached({ ...logo, name }, sendTo(chat_id)))
      }
      assert.strictEqual(yield* addressCount, 1)
      assert.lengthOf(yield* Emulator.messages({ chat_id }), 3)
      yield* advance(Uploads.cached({ ...logo, source: UploadSource.bytes(png(3, 4)) }, sendTo(chat_id)))
      assert.strictEqual(yield* addressCount, 2)
    }).pipe(Effect.provide(cachedLayer))
  )

  it.effect("uploads a file once for each name that users see", () =>
    Effect.gen(function* () {
      const { chat_id } = yield* dialog
      for (const name of ["a.pdf", "b.pdf", "a.pdf"]) {
        yield* advance(Uploads.cached({ type: "file", source: bytes(100), name }, sendTo(chat_id)))
      }
      const seen = (yield* Emulator.messages({ chat_id })).flatMap(({ body }) =>
        (body?.attachments ?? []).map((attachment) => (attachment.type === "file" ? attachment.filename : ""))
      )
      assert.deepStrictEqual(seen, ["a.pdf", "b.pdf", "a.pdf"])
      assert.strictEqual(yield* addressCount, 2)
    }).pipe(Effect.provide(cachedLayer))
  )

  it.effect("uploads a file once for concurrent calls", () =>
    Effect.gen(function* () {
      const { chat_id } = yield* dialog
      const calls = Array.from({ length: 10 }, () => Uploads.cached(logo, sendTo(chat_id)))
      yield* advance(Effect.all(calls, { concurrency: "unbounded" }))
      assert.strictEqual(yield* addressCount, 1)
    }).pipe(Effect.provide(cachedLayer))
  )

  it.effect("uploads the file again if the platform rejects the cached attachment", () =>
    Effect.gen(function* () {
      const cache = yield* UploadCache.UploadCache
      const { chat_id } = yield* dialog
      yield* advance(Uploads.cached(logo, sendTo(chat_id)))
      const [key] = keys
      yield* cache.set(key, JSON.stringify({ type: "image", payload: { token: "expired" } }))
      yield* advance(Uploads.cached(logo, sendTo(chat_id)))
      assert.strictEqual(yield* addressCount, 2)
      yield* cache.set(key, "not JSON at all")
      yield* advance(Uploads.cached(logo, sendTo(chat_id)))
      assert.strictEqual(yield* addressCount, 3)
    }).pipe(Effect.provide(Layer.merge(Emulator.layerBot(), recordingCache)))
  )

  it.effect("uploads the file again after the last message with it was removed", () =>
    Effect.gen(function* () {
      const { chat_id } = yield* dialog
      const send = advance(Uploads.cached(logo, sendTo(chat_id)))
      const sent = [yield* send, yield* send]
      for (const { body } of sent) yield* Messages.remove({ message_id: body!.mid })
      assert.strictEqual(yield* addressCount, 1)
      assert.lengthOf((yield* send).body?.attachments ?? [], 1)
      assert.strictEqual(yield* addressCount, 2)
    }).pipe(Effect.provide(cachedLayer))
  )

  const keys: Array<string> = []

  const recordingCache = Layer.effect(
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

  it.effect("fails with any other error of `use`, and does not upload the file again", () =>
    Effect.gen(function* () {
      const unknownChat = Chat.ChatId.make(1)
      yield* Uploads.cached(logo, () => Effect.void)
      assert.strictEqual(yield* codeOf(advance(Uploads.cached(logo, sendTo(unknownChat)))), "NotFound chat.not.found")
      assert.strictEqual(yield* addressCount, 1)
    }).pipe(Effect.provide(cachedLayer))
  )

  it.effect("uploads the file if the cache fails", () =>
    Effect.gen(function* () {
      const { chat_id } = yield* dialog
      yield* advance(Uploads.cached(logo, sendTo(chat_id)))
      assert.lengthOf(yield* Emulator.messages({ chat_id }), 1)
    }).pipe(
      Effect.provide(
        Layer.merge(Emulator.layerBot(), Layer.succeed(UploadCache.UploadCache, { get: fail, set: fail, remove: fail }))
      )
    )
  )

  const fail = () =>
    Effect.fail(
      new StoreError.StoreError({ store: "uploads", operation: "get", reason: "no route to host", isRetryable: true })
    )
})
