import { RetryPolicy, Upload, Uploads, UploadSource } from "@colloquy/core"
import { Emulator, EmulatorHttp } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import {
  addressCount,
  advance,
  failureOf,
  hostRequests,
  sendAttachment
} from "../../../../testing/test/support/uploads.ts"

const layer = Emulator.layerBot()

const content = Uint8Array.from({ length: 1000 }, (_, at) => at % 251)
const source = UploadSource.bytes(content)

describe("a resumable upload that fails", () => {
  const resumable = { type: "file", source, name: "a.bin", method: "resumable", partSize: 100 } as const

  const ranges = Effect.map(hostRequests, (requests) =>
    requests.map(({ headers, method }) => headers["content-range"]?.slice(6, -5) ?? method)
  )

  it.effect("resumes after the last byte that the host has received", () =>
    Effect.gen(function* () {
      yield* Emulator.addFault({ method: "POST", path: "/upload/*", nth: 3, reset: "before" })
      yield* Emulator.addFault({ method: "POST", path: "/upload/*", nth: 6, reset: "after" })
      const sent = yield* sendAttachment(yield* advance(Uploads.upload(resumable)))
      assert.deepInclude(sent, { size: 1000 })
      assert.strictEqual(yield* addressCount, 1)
      assert.strictEqual(
        (yield* ranges).join(" "),
        "0-99 100-199 200-299 GET 200-299 300-399 400-499 GET 500-599 600-699 700-799 800-899 900-999"
      )
    }).pipe(Effect.provide(layer))
  )

  it.effect("restarts the retry schedule after each part that arrives", () =>
    Effect.gen(function* () {
      yield* Emulator.addFault({ method: "POST", path: "/upload/*", every: 2, reset: "before" })
      yield* advance(Uploads.upload(resumable))
      assert.strictEqual(yield* addressCount, 1)
    }).pipe(Effect.provide(layer))
  )

  it.effect("fails when the retry schedule ends, with the saved upload to resume it in another process", () =>
    Effect.gen(function* () {
      const { saved } = yield* Effect.scoped(
        Effect.gen(function* () {
          yield* Emulator.addFault({ method: "POST", path: "/upload/*", nth: 5, reset: "before" })
          return yield* failureOf(RetryPolicy.override(Uploads.upload(resumable), RetryPolicy.none))
        })
      )
      const Stored = Schema.fromJsonString(Upload.SavedUpload)
      const stored = yield* Schema.encodeEffect(Stored)(saved!)
      const before = (yield* ranges).length
      const again = { saved: yield* Schema.decodeEffect(Stored)(stored), source: UploadSource.bytes(content.slice()) }
      const sent = yield* sendAttachment(yield* Uploads.upload(again))
      assert.deepInclude(sent, { filename: "a.bin", size: 1000 })
      assert.strictEqual((yield* ranges).slice(before).join(" "), "GET 400-499 500-599 600-699 700-799 800-899 900-999")
    }).pipe(Effect.provide(layer))
  )

  it.effect("fails with SourceMismatch and sends nothing if the source is another one", () =>
    Effect.gen(function* () {
      yield* Emulator.addFault({ method: "POST", path: "/upload/*", nth: 5, reset: "before" })
      const { saved } = yield* failureOf(RetryPolicy.override(Uploads.upload(resumable), RetryPolicy.none))
      const before = (yield* Emulator.requests).length
      for (const other of [content.with(500, 0), content.subarray(1)]) {
        const { reason } = yield* failureOf(Uploads.upload({ saved: saved!, source: UploadSource.bytes(other) }))
        assert.strictEqual(reason._tag, "SourceMismatch")
      }
      assert.lengthOf(yield* Emulator.requests, before)
    }).pipe(Effect.provide(layer))
  )

  it.effect(
    "starts over at the same address if the status query returns 204, and at another address for any other response",
    () =>
      Effect.gen(function* () {
        yield* Emulator.addFault({ method: "POST", path: "/upload/*", nth: 1, reset: "before" })
        yield* advance(Uploads.upload(resumable))
        assert.strictEqual(yield* addressCount, 1)
        for (const status of [404, 410, 500, 416]) {
          const before = yield* addressCount
          yield* Effect.scoped(
            Effect.gen(function* () {
              yield* Emulator.addFault({ method: "POST", path: "/upload/*", nth: 4, reset: "before" })
              yield* Emulator.addFault({ method: "GET", path: "/upload/*", status, times: 1 })
              const started = (yield* advance(Stream.runCollect(Uploads.events(resumable)))).filter(
                ({ _tag }) => _tag === "Started"
              )
              assert.lengthOf(started, 2)
            })
          )
          assert.strictEqual((yield* addressCount) - before, 2)
        }
      }).pipe(Effect.provide(layer))
  )

  it.effect.each([416, 500])(
    "requests another address if the host rejects an offset with %i again and again",
    (status) =>
      Effect.gen(function* () {
        yield* Emulator.addFault({ method: "POST", path: "/upload/*", nth: 4, status })
        yield* advance(Uploads.upload(resumable))
        assert.strictEqual(yield* addressCount, 1)
        yield* Emulator.intercept((request, next) =>
          request.path.endsWith(first) && request.headers["content-range"]?.startsWith("bytes 300-") === true
            ? Effect.succeed(EmulatorHttp.respond(status, ""))
            : next
        )
        let first = ""
        const upload = Uploads.events(resumable).pipe(
          Stream.tap((event) =>
            Effect.sync(() => {
              if (event._tag === "Started" && first === "") first = new URL(event.saved.url).pathname
            })
          ),
          Stream.runDrain
        )
        yield* advance(upload)
        assert.strictEqual(yield* addressCount, 3)
      }).pipe(Effect.provide(layer))
  )

  it.effect.each([404, 410])("requests another address if a part and the status query are answered with %i", (status) =>
    Effect.gen(function* () {
      yield* Emulator.addFault({ method: "POST", path: "/upload/*", nth: 4, status })
      yield* Emulator.addFault({ method: "GET", path: "/upload/*", nth: 1, status })
      yield* advance(Uploads.upload(resumable))
      assert.strictEqual(yield* addressCount, 2)
    }).pipe(Effect.provide(layer))
  )

  it.effect("fails after four addresses", () =>
    Effect.gen(function* () {
      yield* Emulator.addFault({ method: "POST", path: "/upload/*", every: 4, reset: "before" })
      yield* Emulator.addFault({ method: "GET", path: "/upload/*", status: 404 })
      const { reason } = yield* failureOf(advance(Uploads.upload(resumable)))
      assert.deepInclude(reason, { _tag: "Rejected", status: 404 })
      assert.strictEqual(yield* addressCount, 4)
    }).pipe(Effect.provide(layer))
  )

  it.effect("completes a video if the host has every byte, although its last response was lost", () =>
    Effect.gen(function* () {
      yield* Emulator.intercept((request, next) =>
        request.method === "GET" && request.path.startsWith("/upload/")
          ? Effect.succeed(EmulatorHttp.respond(200, "0-999/1000"))
          : next
      )
      yield* Emulator.addFault({ method: "POST", path: "/upload/*", nth: 10, reset: "after" })
      const sent = yield* sendAttachment(yield* advance(Uploads.upload({ ...resumable, type: "video", name: "a.mp4" })))
      assert.strictEqual(sent?.type, "video")
      assert.strictEqual(yield* addressCount, 1)
    }).pipe(Effect.provide(layer))
  )
})

describe("a resumable upload whose last response is lost", () => {
  const resumable = { type: "file", source, name: "a.bin", method: "resumable", partSize: 100 } as const

  /** Loses responses to the last part, and answers status queries. */
  const losing = (options: { readonly lost: number; readonly status: string; readonly repeated?: boolean }) =>
    Effect.gen(function* () {
      let left = options.lost
      let completed = EmulatorHttp.respond(200, "")
      yield* Emulator.intercept((request, next) => {
        if (!request.path.startsWith("/upload/")) return next
        if (request.method === "GET") return Effect.succeed(EmulatorHttp.respond(200, options.status))
        if (!request.headers["content-range"]?.startsWith("bytes 900-")) return next
        if (left-- > 0) {
          return Effect.flatMap(next, (response) => {
            completed = response
            return Effect.succeed(EmulatorHttp.respond(503, ""))
          })
        }
        return options.repeated === true ? Effect.succeed(completed) : next
      })
    })

  it.effect("is complete if the status query has the token", () =>
    Effect.gen(function* () {
      yield* losing({ lost: 1, status: JSON.stringify({ fileId: 1, token: "the-token" }) })
      const media = yield* advance(Uploads.upload(resumable))
      assert.deepStrictEqual(media, { type: "file", payload: { token: "the-token" } })
      assert.strictEqual(yield* addressCount, 1)
    }).pipe(Effect.provide(layer))
  )

  it.effect("sends the last part again, if the host has every byte, and says no token", () =>
    Effect.gen(function* () {
      yield* losing({ lost: 1, status: "0-999/1000", repeated: true })
      const sent = yield* sendAttachment(yield* advance(Uploads.upload(resumable)))
      assert.strictEqual(sent?.type, "file")
      assert.strictEqual(yield* addressCount, 1)
    }).pipe(Effect.provide(layer))
  )

  it.effect("fails with the failure of the responses if all addresses fail", () =>
    Effect.gen(function* () {
      yield* losing({ lost: Infinity, status: "0-999/1000" })
      const { reason } = yield* failureOf(advance(Uploads.upload(resumable)))
      assert.deepInclude(reason, { _tag: "Rejected", status: 503 })
      assert.strictEqual(yield* addressCount, 4)
    }).pipe(Effect.provide(layer))
  )
})

describe("a multipart upload that fails", () => {
  it.effect("starts over at another address, unless the source can be read only once", () =>
    Effect.gen(function* () {
      yield* Emulator.addFault({ method: "POST", path: "/upload/*", nth: 1, reset: "after" })
      yield* advance(Uploads.upload({ type: "file", source, name: "a.bin" }))
      assert.strictEqual(yield* addressCount, 2)
      yield* Emulator.addFault({ method: "POST", path: "/upload/*", nth: 1, reset: "before" })
      const once = UploadSource.stream(Stream.make(content))
      const failed = yield* failureOf(Uploads.upload({ type: "file", source: once, name: "a.bin" }))
      assert.strictEqual(failed.reason._tag, "Transport")
      assert.isUndefined(failed.saved)
      assert.isTrue(failed.isRetryable)
    }).pipe(Effect.provide(layer))
  )

  it.effect.each([
    ["the disk is gone", Stream.concat(Stream.make(new Uint8Array(5)), Stream.fail("the disk is gone")), undefined],
    ["ended after 5 of 6 bytes", Stream.make(new Uint8Array(5)), 6],
    ["more than the declared 4 bytes", Stream.make(new Uint8Array(5)), 4]
  ] as const)("fails with SourceFailed if the source fails or has another size: %s", ([detail, stream, size]) =>
    Effect.gen(function* () {
      const source = UploadSource.stream(stream, { size })
      const { reason } = yield* failureOf(Uploads.upload({ type: "file", source }))
      assert.strictEqual(reason._tag, "SourceFailed")
      assert.include(reason.message, detail)
    }).pipe(Effect.provide(layer))
  )
})
