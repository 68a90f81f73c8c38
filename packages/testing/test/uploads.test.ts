import { AttachmentRequest, type Message, Messages, RetryPolicy, Uploads, Videos } from "@colloquy/core"
import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Deferred from "effect/Deferred"
import * as Fiber from "effect/Fiber"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { codeOf } from "./support/look.ts"
import { Mp4Reader } from "../src/internal/upload/mp4.ts"
import { mp4, png } from "./support/media.ts"
import { upload } from "./support/scene.ts"

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

describe("uploads", () => {
  it.effect("answer each kind in its own shape, on a host of its own", () =>
    Effect.gen(function* () {
      const hosts = new Set<string>()
      const bodies: Record<string, string> = {}
      const names = { image: "a.png", video: "a.mp4", audio: "a.mp3", file: "a.bin" }
      for (const type of ["image", "video", "audio", "file"] as const) {
        const address = yield* Uploads.create({ type })
        hosts.add(new URL(address.url).host)
        assert.strictEqual(typeof address.token, type === "video" || type === "audio" ? "string" : "undefined")
        const { status, text } = yield* upload(address, names[type], "content")
        assert.strictEqual(status, 200)
        bodies[type] = text
      }
      assert.strictEqual(hosts.size, 4)
      assert.strictEqual(bodies["video"], "<retval>1</retval>")
      assert.strictEqual(bodies["audio"], "<retval>1</retval>")
      const [photo] = Object.values<{ readonly token: string }>(JSON.parse(bodies["image"]).photos)
      assert.isString(photo.token)
      const file = JSON.parse(bodies["file"])
      assert.isTrue(Number.isInteger(file.fileId))
      assert.isString(file.token)
    }).pipe(Effect.provide(layer))
  )

  it.effect("name an image's token in its address", () =>
    Effect.gen(function* () {
      const address = yield* Uploads.create({ type: "image" })
      const { text } = yield* upload(address, "a.png", "png")
      const [{ token }] = Object.values<{ readonly token: string }>(JSON.parse(text).photos)
      assert.strictEqual(new URL(address.url).searchParams.get("token"), token)
    }).pipe(Effect.provide(layer))
  )

  it.effect("are not ready until they are processed, which takes longer for larger files", () =>
    Effect.gen(function* () {
      const ready = Effect.fnUntraced(function* (content: string) {
        const { token, url } = yield* Uploads.create({ type: "video" })
        yield* upload({ url }, "video.mp4", content)
        assert.strictEqual(
          yield* codeOf(send(AttachmentRequest.video(token!))),
          "AttachmentNotReady attachment.not.ready"
        )
        let waited = 0
        while ((yield* Effect.result(send(AttachmentRequest.video(token!))))._tag === "Failure") {
          yield* TestClock.adjust(100)
          waited += 100
        }
        return waited
      })
      const short = yield* ready("a")
      assert.isAbove(yield* ready("a".repeat(2 ** 20)), short)
    }).pipe(Effect.provide(layer))
  )

  it.effect("are waited for by the client's policy", () =>
    Effect.gen(function* () {
      const address = yield* Uploads.create({ type: "file" })
      const { token } = JSON.parse((yield* upload(address, "notes.txt", "12345")).text)
      const { chat_id } = yield* dialog
      const sending = yield* Effect.forkChild(
        Messages.send({ chat_id, text: "Here", attachments: [AttachmentRequest.file(token)] })
      )
      yield* TestClock.adjust("1 minute")
      const { body } = yield* Fiber.join(sending)
      assert.deepInclude(body?.attachments?.[0], { type: "file", filename: "notes.txt", size: 5 })
    }).pipe(Effect.provide(layer))
  )

  it.effect("are used again and again by their token", () =>
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

  it.effect("take one file for an address, by POST, in the field `data`", () =>
    Effect.gen(function* () {
      const address = yield* Uploads.create({ type: "file" })
      const form = new FormData()
      form.append("other", new Blob(["a"]), "a.txt")
      const other = yield* HttpClient.execute(HttpClientRequest.bodyFormData(HttpClientRequest.post(address.url), form))
      assert.strictEqual(other.status, 400)
      assert.strictEqual((yield* HttpClient.put(address.url)).status, 405)
      assert.strictEqual((yield* upload(address, "a.txt", "a")).status, 200)
      const second = yield* upload(address, "b.txt", "b")
      assert.strictEqual(second.status, 400)
      assert.hasAllKeys(JSON.parse(second.text), ["error_code", "error_data"])
      const unknown = { url: address.url.replace(/[^/]+$/, "nothing") }
      assert.strictEqual((yield* upload(unknown, "a.txt", "a")).status, 404)
    }).pipe(Effect.provide(layer))
  )

  it.effect("take raw bytes with a file name", () =>
    Effect.gen(function* () {
      const address = yield* Uploads.create({ type: "file" })
      const response = yield* HttpClientRequest.post(address.url).pipe(
        HttpClientRequest.bodyUint8Array(new Uint8Array(7), "application/octet-stream"),
        HttpClientRequest.setHeader("content-disposition", `attachment; filename="${encodeURIComponent("é.txt")}"`),
        HttpClient.execute
      )
      const { token } = JSON.parse(yield* response.text)
      yield* TestClock.adjust("1 minute")
      const [file] = yield* send(AttachmentRequest.file(token))
      assert.deepInclude(file, { filename: "é.txt", size: 7 })
    }).pipe(Effect.provide(layer))
  )

  it.effect("know a form and a file's name however their headers are written", () =>
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
  ])("say what is wrong with a form: %s %#", ([type, body, problem]) =>
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

  it.effect.each(["video", "file"] as const)("take a %s in parts, and tell where to go on", (type) =>
    Effect.gen(function* () {
      const address = yield* Uploads.create({ type })
      const part = Effect.fnUntraced(function* (range: string, length: number) {
        const response = yield* HttpClientRequest.post(address.url).pipe(
          HttpClientRequest.bodyUint8Array(new Uint8Array(length), "application/octet-stream"),
          HttpClientRequest.setHeaders({
            "content-range": range,
            "content-disposition": 'attachment; filename="a.mov"'
          }),
          HttpClient.execute
        )
        return [response.status, yield* response.text] as const
      })
      const progress = Effect.gen(function* () {
        const response = yield* HttpClient.get(address.url)
        return [response.status, yield* response.text] as const
      })
      assert.deepStrictEqual(yield* progress, [204, ""])
      assert.deepStrictEqual(yield* part("bytes 0-3/10", 4), [201, "0-3/10"])
      assert.deepStrictEqual((yield* part("bytes 6-9/10", 4))[0], 416)
      assert.deepStrictEqual((yield* part("bytes 4-7/10", 1))[0], 416)
      assert.deepStrictEqual((yield* part("bytes 4-x/10", 4))[0], 416)
      assert.deepStrictEqual(yield* progress, [200, "0-3/10"])
      assert.deepStrictEqual(yield* part("bytes 4-7/10", 4), [201, "0-7/10"])
      const [status, text] = yield* part("bytes 8-9/10", 2)
      assert.strictEqual(status, 200)
      if (type === "video") assert.strictEqual(text, "0-9/10")
      const token = type === "video" ? address.token! : JSON.parse(text).token
      assert.strictEqual((yield* progress)[0], 400)
      yield* TestClock.adjust("1 minute")
      const [attachment] = yield* send({ type, payload: { token } })
      assert.strictEqual(attachment.type, type)
      if (attachment.type === "file") assert.strictEqual(attachment.size, 10)
    }).pipe(Effect.provide(layer))
  )

  it.effect("of videos tell where they can be played from", () =>
    Effect.gen(function* () {
      const address = yield* Uploads.create({ type: "video" })
      const token = address.token!
      assert.strictEqual(yield* codeOf(Videos.get({ token })), "NotFound not.found")
      yield* upload(address, "video.mp4", "video")
      yield* TestClock.adjust("1 minute")
      const { urls } = yield* Videos.get({ token })
      assert.includeMembers(Object.keys(urls ?? {}), ["mp4_720", "hls"])
    }).pipe(Effect.provide(layer))
  )

  it.effect("read no more of a file than it may have, and hold none of it", () =>
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

  it.effect("take no part that comes to its end after a whole file", () =>
    Effect.gen(function* () {
      const { url } = yield* Uploads.create({ type: "file" })
      const begun = yield* Deferred.make<void>()
      const goOn = yield* Deferred.make<void>()
      const slowly = Stream.concat(
        Stream.make(new Uint8Array(5)),
        Stream.fromEffect(
          Deferred.succeed(begun, undefined).pipe(Effect.andThen(Deferred.await(goOn)), Effect.as(new Uint8Array(5)))
        )
      )
      const part = yield* HttpClientRequest.post(url).pipe(
        HttpClientRequest.bodyStream(slowly, { contentType: "application/octet-stream" }),
        HttpClientRequest.setHeader("content-range", "bytes 0-9/10"),
        HttpClient.execute,
        Effect.forkChild
      )
      yield* Deferred.await(begun)
      assert.strictEqual((yield* upload({ url }, "whole.txt", "content")).status, 200)
      yield* Deferred.succeed(goOn, undefined)
      assert.strictEqual((yield* Fiber.join(part)).status, 400)
    }).pipe(Effect.provide(layer))
  )

  it("keep nothing of a video whose header has no size", () => {
    const reader = new Mp4Reader()
    const header = new Uint8Array(24)
    header.set([0, 0, 0, 16, 0x66, 0x74, 0x79, 0x70])
    header.set(new TextEncoder().encode("moov"), 20)
    reader.write(header)
    reader.write(mp4(640, 360, 95).subarray(32))
    assert.isUndefined(reader.info)
  })

  const imageFrom = (content: Uint8Array<ArrayBuffer>) =>
    Effect.gen(function* () {
      const { text } = yield* upload(yield* Uploads.create({ type: "image" }), "a.png", content)
      yield* TestClock.adjust("1 minute")
      const { chat_id } = yield* dialog
      const attachments = [AttachmentRequest.imageFromPhotos(JSON.parse(text).photos)]
      return yield* Messages.send({ chat_id, attachments })
    })

  const linkIn = ({ body }: Message.Message) => {
    const [image] = body?.attachments ?? []
    return image?.type === "image" ? image.payload.url : ""
  }

  it.effect("have links to pictures that live as long as is told", () =>
    Effect.gen(function* () {
      const link = linkIn(yield* imageFrom(png(1, 1)))
      assert.strictEqual(new URL(link).searchParams.get("expires"), String(60_000 + 5000))
    }).pipe(Effect.provide(Emulator.layerBot({ imageLinkLifetime: "5 seconds" })))
  )

  it.effect("take audio that does not tell its length", () =>
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

  it.effect("of pictures in parts are put together", () =>
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

  it.effect("are processed at the speed that is told", () =>
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
