import { Upload, Uploads, UploadSource } from "@colloquy/core"
import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { mp3, png, wav } from "../../../testing/test/support/media.ts"
import { bytes, failureOf } from "../../../testing/test/support/uploads.ts"

const layer = Emulator.layerBot()

describe("UploadLimits", () => {
  const limitOf = Effect.fnUntraced(function* (request: Upload.UploadRequest) {
    const { reason } = yield* failureOf(Uploads.upload(request))
    assert.lengthOf(yield* Emulator.requests, 0)
    assert.strictEqual(reason._tag, "LimitExceeded")
    return reason._tag === "LimitExceeded" ? [reason.limit, reason.allowed, reason.found] : []
  })

  const sized = (size: number) => UploadSource.stream(Stream.empty, { size })

  it.effect.each([
    ["image", 50, "50 MiB (52428800 bytes)"],
    ["video", 250, "250 MiB (262144000 bytes)"],
    ["audio", 256, "256 MiB (268435456 bytes)"],
    ["file", 4096, "4 GiB (4294967296 bytes)"]
  ] as const)("rejects a file above the size limit of its type: %s", ([type, megabytes, allowed]) =>
    Effect.gen(function* () {
      const source = sized(megabytes * 2 ** 20 + 1)
      assert.deepStrictEqual((yield* limitOf({ type, source })).slice(0, 2), ["size", `at most ${allowed}`])
    }).pipe(Effect.provide(layer))
  )

  it.effect.each([
    ["image", "a.webp"],
    ["video", "a.AVI"]
  ] as const)("rejects an extension that the type does not allow: %s %s", ([type, name]) =>
    Effect.gen(function* () {
      const [limit, allowed, found] = yield* limitOf({ type, source: bytes(1), name })
      assert.deepStrictEqual([limit, found], ["extension", name.slice(2)])
      assert.include(allowed, type === "image" ? "jpeg" : "webm")
    }).pipe(Effect.provide(layer))
  )

  it.effect("rejects an image that is too wide or too high, from any source", () =>
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
  ] as const)("rejects audio that is too long if its header states the duration: %s", ([name, make]) =>
    Effect.gen(function* () {
      const long = make(3700)
      for (const source of [UploadSource.bytes(long), UploadSource.stream(Stream.make(long), { size: long.length })]) {
        const [limit, allowed] = yield* limitOf({ type: "audio", source, name })
        assert.deepStrictEqual([limit, allowed], ["duration", "at most 1h"])
      }
      yield* Uploads.upload({ type: "audio", source: UploadSource.bytes(make(3500)), name })
    }).pipe(Effect.provide(layer))
  )

  it.effect("reads only the header of an audio file", () =>
    Effect.gen(function* () {
      const content = mp3(200_000)
      let read = 0
      const source = UploadSource.make({
        name: "a.mp3",
        access: "randomAccess",
        open: Effect.succeed({
          size: content.length,
          identity: Effect.succeed(""),
          read: (from, to) => {
            read += to - from
            return Stream.make(content.subarray(from, to))
          }
        })
      })
      assert.strictEqual((yield* limitOf({ type: "audio", source }))[0], "duration")
      assert.isBelow(read, 2 ** 20)
    }).pipe(Effect.provide(layer))
  )

  it.effect("allows a file that cannot be parsed, and sends it unchanged", () =>
    Effect.gen(function* () {
      const content = new TextEncoder().encode("neither an image nor audio")
      for (const source of [UploadSource.bytes(content), UploadSource.stream(Stream.make(content))]) {
        yield* Uploads.upload({ type: "image", source, name: "a.png" })
        yield* Uploads.upload({ type: "audio", source, name: "a.mp3" })
      }
    }).pipe(Effect.provide(layer))
  )

  it.effect("checks the size of a stream of unknown size while it is sent", () =>
    Effect.gen(function* () {
      const endless = Stream.fromEffectRepeat(Effect.succeed(new Uint8Array(100)))
      const { reason } = yield* failureOf(
        Uploads.upload({ type: "file", source: UploadSource.stream(endless) }).pipe(
          Effect.updateService(Upload.UploadLimits, (limits) => ({ ...limits, file: { maxSize: 1000 } }))
        )
      )
      assert.deepInclude(reason, { _tag: "LimitExceeded", limit: "size" })
    }).pipe(Effect.provide(layer))
  )
})
