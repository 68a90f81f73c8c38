import { AttachmentRequest, type Message, Messages, RetryPolicy, Uploads } from "@colloquy/core"
import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Deferred from "effect/Deferred"
import * as Fiber from "effect/Fiber"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { codeOf } from "../../support/inspect.ts"
import { png } from "../../support/media.ts"
import { upload } from "../../support/scene.ts"

const layer = Emulator.layerBot()

const dialog = Effect.gen(function* () {
  const visitor = yield* Emulator.user("visitor")
  return yield* visitor.start()
})

const send = Effect.fnUntraced(function* (...attachments: ReadonlyArray<AttachmentRequest.AttachmentRequest>) {
  const { chat_id } = yield* dialog
  const message = yield* RetryPolicy.override(Messages.send({ chat_id, attachments }), RetryPolicy.none)
  return message.body?.attachments ?? []
})

describe("upload host", () => {
  it.effect("accepts a token many times, but only for its type", () =>
    Effect.gen(function* () {
      const address = yield* Uploads.create({ type: "image" })
      const { photos } = JSON.parse((yield* upload(address, "a.png", "png")).text)
      yield* TestClock.adjust("1 minute")
      const [image] = yield* send(AttachmentRequest.imageFromPhotos(photos))
      assert.strictEqual(image.type, "image")
      if (image.type !== "image") return
      assert.isTrue(image.payload.photo_id > 2n ** 53n)
      const [again] = yield* send(AttachmentRequest.image(image.payload.token))
      assert.isTrue(again.type === "image" && again.payload.photo_id === image.payload.photo_id)
      const [video] = [AttachmentRequest.video(image.payload.token)]
      assert.strictEqual(yield* codeOf(send(video)), "RequestFailed")
      assert.strictEqual(yield* codeOf(send(AttachmentRequest.file("unknown"))), "RequestFailed")
    }).pipe(Effect.provide(layer))
  )

  it.effect("rejects other methods with 405, a second file with 400 and an unknown address with 404", () =>
    Effect.gen(function* () {
      const address = yield* Uploads.create({ type: "file" })
      assert.strictEqual((yield* HttpClient.put(address.url)).status, 405)
      assert.strictEqual((yield* upload(address, "a.txt", "a")).status, 200)
      const second = yield* upload(address, "b.txt", "b")
      assert.strictEqual(second.status, 400)
      assert.hasAllKeys(JSON.parse(second.text), ["error_code", "error_data"])
      const unknown = { url: address.url.replace(/[^/]+$/, "nothing") }
      assert.strictEqual((yield* upload(unknown, "a.txt", "a")).status, 404)
    }).pipe(Effect.provide(layer))
  )

  it.effect("reads headers in any case, and names with or without quotes", () =>
    Effect.gen(function* () {
      const nameOf = Effect.fnUntraced(function* (headers: Record<string, string>, body: string) {
        const { url } = yield* Uploads.create({ type: "file" })
        const response = yield* HttpClientRequest.post(url).pipe(
          HttpClientRequest.bodyText(body, headers["content-type"]),
          HttpClientRequest.setHeaders(headers),
          HttpClient.execute
        )
        const { token } = JSON.parse(yield* response.text)
        yield* TestClock.adjust("1 minute")
        const [file] = yield* send(AttachmentRequest.file(token))
        return file.type === "file" && [file.filename, file.size]
      })
      const part = 'Content-Disposition: form-data; name="data"; filename="a.txt"\r\n\r\nabc\r\n'
      const form = `--Limit\r\n${part}--Limit--\r\n`
      const type = { "content-type": "Multipart/Form-Data; boundary=Limit" }
      assert.deepStrictEqual(yield* nameOf(type, form), ["a.txt", 3])
      const raw = { "content-type": "text/plain", "content-disposition": "attachment; FileName=b.txt; size=3" }
      assert.deepStrictEqual(yield* nameOf(raw, "abc"), ["b.txt", 3])
    }).pipe(Effect.provide(layer))
  )

  const disposition = 'content-disposition: form-data; name="data"; filename="a.txt"'

  const form = (...headers: ReadonlyArray<string>) => `--b\r\n${headers.join("\r\n")}\r\n\r\nnotes\r\n`

  it.effect.each([
    ["multipart/form-data", `${form(disposition)}--b--\r\n`, "The form's content-type has no boundary"],
    ["multipart/form-data; boundary=b", form(disposition), "The form ends before its last boundary"],
    [
      "multipart/form-data; boundary=b",
      `${form("content-disposition: form-data")}--b--\r\n`,
      "A part of the form has no content-disposition with a name"
    ],
    [
      "multipart/form-data; boundary=b",
      `${form(disposition, ...Array.from({ length: 200 }, (_, index) => `x-${index}: 1`))}--b--\r\n`,
      "A part of the form has too many headers"
    ],
    [
      "multipart/form-data; boundary=b",
      `${form(disposition, `x: ${"a".repeat(20_000)}`)}--b--\r\n`,
      "A part of the form has headers that are too large"
    ],
    [
      "multipart/form-data; boundary=b",
      `${form('content-disposition: form-data; name="note"', "", "a".repeat(11 * 2 ** 20))}--b--\r\n`,
      "A field of the form is too large"
    ]
  ])("rejects an invalid form with a description: %s %#", ([type, body, problem]) =>
    Effect.gen(function* () {
      const { url } = yield* Uploads.create({ type: "file" })
      const request = HttpClientRequest.bodyText(HttpClientRequest.post(url), body, type)
      const response = yield* HttpClient.execute(request)
      assert.deepStrictEqual(
        [response.status, yield* response.json],
        [400, { error_code: "upload.form", error_data: problem }]
      )
    }).pipe(Effect.provide(layer))
  )

  it.effect("rejects a part with a malformed range or another length, and a status query after the last part", () =>
    Effect.gen(function* () {
      const address = yield* Uploads.create({ type: "file" })
      const part = (range: string, length: number) =>
        HttpClientRequest.post(address.url).pipe(
          HttpClientRequest.bodyUint8Array(new Uint8Array(length), "application/octet-stream"),
          HttpClientRequest.setHeader("content-range", range),
          HttpClient.execute,
          Effect.map(({ status }) => status)
        )
      assert.strictEqual(yield* part("bytes 0-3/10", 4), 201)
      assert.strictEqual(yield* part("bytes 4-7/10", 1), 416)
      assert.strictEqual(yield* part("bytes 4-x/10", 4), 416)
      assert.strictEqual(yield* part("bytes 4-9/10", 6), 200)
      assert.strictEqual((yield* HttpClient.get(address.url)).status, 400)
    }).pipe(Effect.provide(layer))
  )

  it.effect("stops reading a file above its size limit", () =>
    Effect.gen(function* () {
      const { url } = yield* Uploads.create({ type: "video" })
      const chunk = new Uint8Array(2 ** 20)
      let sent = 0
      const endless = Stream.fromEffectRepeat(Effect.sync(() => (sent++, chunk)))
      const response = yield* HttpClientRequest.post(url).pipe(
        HttpClientRequest.bodyStream(endless, { contentType: "application/octet-stream" }),
        HttpClient.execute
      )
      assert.strictEqual(response.status, 413)
      assert.isAtMost(sent, 251)
    }).pipe(Effect.provide(layer))
  )

  it.effect("rejects a part that ends after a whole file was received", () =>
    Effect.gen(function* () {
      const { url } = yield* Uploads.create({ type: "file" })
      const started = yield* Deferred.make<void>()
      const proceed = yield* Deferred.make<void>()
      const slowContent = Stream.concat(
        Stream.make(new Uint8Array(5)),
        Stream.fromEffect(
          Deferred.succeed(started, undefined).pipe(
            Effect.andThen(Deferred.await(proceed)),
            Effect.as(new Uint8Array(5))
          )
        )
      )
      const part = yield* HttpClientRequest.post(url).pipe(
        HttpClientRequest.bodyStream(slowContent, { contentType: "application/octet-stream" }),
        HttpClientRequest.setHeader("content-range", "bytes 0-9/10"),
        HttpClient.execute,
        Effect.forkChild
      )
      yield* Deferred.await(started)
      assert.strictEqual((yield* upload({ url }, "whole.txt", "content")).status, 200)
      yield* Deferred.succeed(proceed, undefined)
      assert.strictEqual((yield* Fiber.join(part)).status, 400)
    }).pipe(Effect.provide(layer))
  )

  const imageFrom = (content: Uint8Array<ArrayBuffer>) =>
    Effect.gen(function* () {
      const { text } = yield* upload(yield* Uploads.create({ type: "image" }), "a.png", content)
      yield* TestClock.adjust("1 minute")
      const { chat_id } = yield* dialog
      const attachments = [AttachmentRequest.imageFromPhotos(JSON.parse(text).photos)]
      return yield* Messages.send({ chat_id, attachments })
    })

  const urlOf = ({ body }: Message.Message) => {
    const [image] = body?.attachments ?? []
    return image?.type === "image" ? image.payload.url : ""
  }

  it.effect("creates image URLs that expire after `linkLifetime`", () =>
    Effect.gen(function* () {
      const url = urlOf(yield* imageFrom(png(1, 1)))
      assert.strictEqual(new URL(url).searchParams.get("expires"), String(60_000 + 5000))
    }).pipe(Effect.provide(Emulator.layerBot({ linkLifetime: "5 seconds" })))
  )

  it.effect("accepts audio whose header does not state its duration", () =>
    Effect.gen(function* () {
      const contents = [
        "RIFF....WAVE",
        "....ftypM4A ",
        "ID3",
        "\u0000".repeat(100),
        "RIFF....WAVEfmt \u0010\u0000\u0000\u0000"
      ]
      for (const content of contents) {
        assert.strictEqual((yield* upload(yield* Uploads.create({ type: "audio" }), "a.mp3", content)).status, 200)
      }
    }).pipe(Effect.provide(layer))
  )

  it.effect("checks the limits of an image that was sent in parts", () =>
    Effect.gen(function* () {
      const { url } = yield* Uploads.create({ type: "image" })
      const content = png(7681, 10)
      const part = (from: number, to: number) =>
        HttpClientRequest.post(url).pipe(
          HttpClientRequest.bodyUint8Array(content.slice(from, to), "application/octet-stream"),
          HttpClientRequest.setHeader("content-range", `bytes ${from}-${to - 1}/${content.length}`),
          HttpClient.execute,
          Effect.map(({ status }) => status)
        )
      assert.deepStrictEqual([yield* part(0, 10), yield* part(10, content.length)], [201, 400])
      assert.strictEqual((yield* HttpClient.get(url)).status, 204)
    }).pipe(Effect.provide(layer))
  )

  it.effect("processes a file at the speed of the option `processing`", () =>
    Effect.gen(function* () {
      const { token, url } = yield* Uploads.create({ type: "video" })
      yield* upload({ url }, "video.mp4", "a".repeat(5000))
      yield* TestClock.adjust(4999)
      assert.strictEqual(
        yield* codeOf(send(AttachmentRequest.video(token!))),
        "AttachmentNotReady attachment.not.ready"
      )
      yield* TestClock.adjust(1)
      assert.strictEqual((yield* send(AttachmentRequest.video(token!))).length, 1)
      const short = yield* Uploads.create({ type: "video" })
      yield* upload({ url: short.url }, "video.mp4", "a")
      yield* TestClock.adjust(1999)
      assert.strictEqual(
        yield* codeOf(send(AttachmentRequest.video(short.token!))),
        "AttachmentNotReady attachment.not.ready"
      )
      yield* TestClock.adjust(1)
      assert.strictEqual((yield* send(AttachmentRequest.video(short.token!))).length, 1)
    }).pipe(Effect.provide(Emulator.layerBot({ processing: { bytesPerSecond: 1000, minimum: "2 seconds" } })))
  )
})
