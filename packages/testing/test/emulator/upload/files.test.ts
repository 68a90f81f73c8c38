import type { Attachment } from "@colloquy/core"
import { Videos } from "@colloquy/core"
import { Emulator, type Person } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as TestClock from "effect/testing/TestClock"
import { mp4, png } from "../../support/media.ts"

const layer = Emulator.layerBot({ linkLifetime: "1 hour" })

const content = Uint8Array.from({ length: 100 }, (_, at) => at)

type Media = Extract<Attachment.Attachment, { readonly type: Person.PersonMedia["type"] }>

const send = (media: Person.PersonMedia) =>
  Effect.gen(function* () {
    const ann = yield* Emulator.user("Ann")
    const { body } = yield* ann.send("", { attachments: [media] })
    return body!.attachments![0] as Media
  })

const get = (attachment: Media, headers: Record<string, string> = {}) =>
  Effect.gen(function* () {
    const response = yield* HttpClient.get(attachment.payload.url!, { headers })
    const bytes = new Uint8Array(yield* response.arrayBuffer)
    return { status: response.status, headers: response.headers, bytes: [...bytes] }
  })

describe("a file that a person sends with its content", () => {
  it.effect("has its size and its properties, and is served until its address expires", () =>
    Effect.gen(function* () {
      const file = yield* send({ type: "file", filename: "a.txt", content })
      assert.deepInclude(file, { filename: "a.txt", size: 100 })
      const image = yield* get(yield* send({ type: "image", content: png(2, 3) }))
      assert.strictEqual(image.headers["content-type"], "image/png")
      const found = yield* get(file)
      assert.deepStrictEqual([found.status, found.bytes], [200, [...content]])
      assert.deepInclude(found.headers, { "content-length": "100", "accept-ranges": "bytes" })
      yield* TestClock.adjust("1 hour")
      assert.strictEqual((yield* get(file)).status, 410)
    }).pipe(Effect.provide(layer))
  )

  it.effect("is served in ranges", () =>
    Effect.gen(function* () {
      const file = yield* send({ type: "audio", content })
      const { etag } = (yield* get(file)).headers
      const part = (headers: Record<string, string>) =>
        Effect.map(get(file, headers), ({ bytes, headers, status }) => [
          status,
          headers["content-range"] ?? "whole",
          bytes.length
        ])
      assert.deepStrictEqual(yield* part({ range: "bytes=40-" }), [206, "bytes 40-99/100", 60])
      assert.deepStrictEqual(yield* part({ range: "bytes=40-49" }), [206, "bytes 40-49/100", 10])
      assert.deepStrictEqual(yield* part({ range: "bytes=90-200" }), [206, "bytes 90-99/100", 10])
      assert.deepStrictEqual(yield* part({ range: "bytes=-10" }), [206, "bytes 90-99/100", 10])
      assert.deepStrictEqual(yield* part({ range: "bytes=40-", "if-range": etag! }), [206, "bytes 40-99/100", 60])
      assert.deepStrictEqual(yield* part({ range: "bytes=40-", "if-range": '"other"' }), [200, "whole", 100])
      assert.deepStrictEqual(yield* part({ range: "bytes=0-1,4-5" }), [200, "whole", 100])
      const [status, range] = yield* part({ range: "bytes=100-" })
      assert.deepStrictEqual([status, range], [416, "bytes */100"])
    }).pipe(Effect.provide(layer))
  )

  it.effect("is served as each rendition of a video, with the properties in its header", () =>
    Effect.gen(function* () {
      const { payload } = yield* send({ type: "video", content: mp4(640, 360, 2) })
      const { duration, height, urls, width } = yield* Videos.get({ token: payload.token })
      assert.deepStrictEqual([width, height, duration], [640, 360, 2])
      assert.deepStrictEqual(Object.keys(urls!), ["mp4_1080", "mp4_720", "mp4_480"])
      for (const url of Object.values(urls!)) assert.strictEqual((yield* HttpClient.get(url!)).status, 200)
    }).pipe(Effect.provide(layer))
  )

  it.effect("is not sent if the platform does not accept the file", () =>
    Effect.gen(function* () {
      const token = "a-large-image"
      const image: Person.PersonMedia = { type: "image", payload: { token }, content: png(7681, 10) }
      const error = yield* Effect.flip(send(image))
      assert.include(error.reason, "image: The image has 7681 x 10 px")
      assert.strictEqual((yield* send({ ...image, content: png(10, 10) })).payload.token, token)
    }).pipe(Effect.provide(layer))
  )
})
