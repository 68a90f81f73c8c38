import { AttachmentRequest, type Message, Messages, RetryPolicy, Uploads, Videos } from "@colloquy/core"
import { Emulator } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { codeOf } from "./support/look.ts"
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

/** The signature and the header of a picture. */
const png = (width: number, height: number): Uint8Array<ArrayBuffer> => {
  const bytes = new Uint8Array(33)
  bytes.set([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52])
  const view = new DataView(bytes.buffer)
  view.setUint32(16, width)
  view.setUint32(20, height)
  bytes.set([8, 6], 24)
  return bytes
}

type Write = (view: DataView, put: (at: number, text: string) => void) => void

const fileOf = (size: number, write: Write): Uint8Array<ArrayBuffer> => {
  const bytes = new Uint8Array(size)
  write(new DataView(bytes.buffer), (at, text) => bytes.set(new TextEncoder().encode(text), at))
  return bytes
}

/** 100 bytes a second. */
const wav = (seconds: number) =>
  fileOf(44 + seconds * 100, (view, put) => {
    put(0, "RIFF")
    put(8, "WAVEfmt ")
    view.setUint32(16, 16, true)
    view.setUint32(28, 100, true)
    put(36, "data")
    view.setUint32(40, seconds * 100, true)
  })

/** 8 kilobits a second, behind a tag of 200 bytes. */
const mp3 = (seconds: number) =>
  fileOf(210 + seconds * 1000, (view, put) => {
    put(0, "ID3")
    view.setUint16(8, 0x0148)
    view.setUint32(210, 0xfff31000)
  })

/** Frames of 1152 samples, 44,100 samples a second. */
const variableMp3 = (frames: number) =>
  fileOf(1000, (view, put) => {
    view.setUint32(0, 0xfffb9000)
    put(36, "Xing")
    view.setUint32(40, 1)
    view.setUint32(44, frames)
  })

const m4a = (seconds: number) =>
  fileOf(200, (view, put) => {
    view.setUint32(0, 24)
    put(4, "ftypM4A ")
    view.setUint32(24, 176)
    put(28, "moov")
    view.setUint32(32, 108)
    put(36, "mvhd")
    view.setUint32(52, 1000)
    view.setUint32(56, seconds * 1000)
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
        yield* upload({ url }, "film.mp4", content)
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
      yield* upload(address, "film.mp4", "film")
      yield* TestClock.adjust("1 minute")
      const { urls } = yield* Videos.get({ token })
      assert.includeMembers(Object.keys(urls ?? {}), ["mp4_720", "hls"])
    }).pipe(Effect.provide(layer))
  )

  it.effect.each([
    ["image", "photo.webp"],
    ["image", "photo.pdf"],
    ["video", "film.avi"],
    ["audio", "song.txt"]
  ] as const)("refuse an extension that their kind does not have: %s %s", ([type, name]) =>
    Effect.gen(function* () {
      const address = yield* Uploads.create({ type })
      const refused = yield* upload(address, name, "content")
      assert.strictEqual(refused.status, 415)
      assert.deepInclude(JSON.parse(refused.text), { error_code: "upload.extension" })
      const fitting = { image: "a.JPEG", video: "a.webm", audio: "a.m4a" }[type]
      assert.strictEqual((yield* upload(address, fitting, "content")).status, 200)
    }).pipe(Effect.provide(layer))
  )

  it.effect.each([
    ["image", 50],
    ["video", 250],
    ["audio", 256],
    ["file", 4096]
  ] as const)("take of a %s up to %i MB", ([type, megabytes]) =>
    Effect.gen(function* () {
      const size = megabytes * 2 ** 20
      const address = yield* Uploads.create({ type })
      const first = (range: string, length: number) =>
        HttpClientRequest.post(address.url).pipe(
          HttpClientRequest.bodyUint8Array(new Uint8Array(length), "application/octet-stream"),
          HttpClientRequest.setHeader("content-range", range),
          HttpClient.execute
        )
      const refused = yield* first(`bytes 0-9/${size + 1}`, 10)
      assert.strictEqual(refused.status, 413)
      assert.hasAllKeys(JSON.parse(yield* refused.text), ["error_code", "error_data"])
      assert.strictEqual((yield* first(`bytes 0-9/${size}`, 10)).status, 201)
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

  it.effect.each([
    [7680, 7680, 200],
    [7681, 10, 400],
    [10, 7681, 400]
  ] as const)("read the sides of a picture: %i x %i px is answered with %i", ([width, height, expected]) =>
    Effect.gen(function* () {
      const address = yield* Uploads.create({ type: "image" })
      const { status, text } = yield* upload(address, "a.png", png(width, height))
      assert.strictEqual(status, expected)
      if (expected === 400) assert.deepInclude(JSON.parse(text), { error_code: "upload.dimensions" })
      assert.strictEqual((yield* upload(address, "b.png", png(1, 1))).status, expected === 400 ? 200 : 400)
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

  const linkIn = ({ body }: Message.Message) => {
    const [image] = body?.attachments ?? []
    return image?.type === "image" ? image.payload.url : ""
  }

  it.effect("of pictures can be looked at until their link expires, and then by a new link", () =>
    Effect.gen(function* () {
      const content = png(20, 10)
      const message = yield* imageFrom(content)
      const link = linkIn(message)
      const look = (url: string) => HttpClient.get(url)
      const response = yield* look(link)
      assert.deepStrictEqual([response.status, response.headers["content-type"]], [200, "image/png"])
      assert.deepStrictEqual(new Uint8Array(yield* response.arrayBuffer), content)
      yield* TestClock.adjust(Number(new URL(link).searchParams.get("expires")) - (yield* Clock.currentTimeMillis) - 1)
      assert.strictEqual((yield* look(link)).status, 200)
      yield* TestClock.adjust(1)
      assert.strictEqual((yield* look(link)).status, 410)
      const again = yield* Messages.get({ message_id: message.body!.mid })
      assert.strictEqual((yield* look(linkIn(again))).status, 200)
      assert.strictEqual((yield* look(link.replace(/\?.*/, ""))).status, 403)
      assert.strictEqual((yield* look(linkIn(again).replace(/\d+\?/, "1?"))).status, 404)
    }).pipe(Effect.provide(layer))
  )

  it.effect("have links to pictures that live as long as is told", () =>
    Effect.gen(function* () {
      const link = linkIn(yield* imageFrom(png(1, 1)))
      assert.strictEqual(new URL(link).searchParams.get("expires"), String(60_000 + 5000))
    }).pipe(Effect.provide(Emulator.layerBot({ imageLinkLifetime: "5 seconds" })))
  )

  it.effect.each([
    ["song.wav", wav(3600), wav(3601)],
    ["song.mp3", mp3(3600), mp3(3601)],
    ["song.mp3", variableMp3(137_812), variableMp3(137_813)],
    ["song.m4a", m4a(3600), m4a(3601)]
  ] as const)("take audio that plays up to an hour: %s", ([name, fitting, long]) =>
    Effect.gen(function* () {
      const address = yield* Uploads.create({ type: "audio" })
      const refused = yield* upload(address, name, long)
      assert.strictEqual(refused.status, 400)
      assert.deepInclude(JSON.parse(refused.text), { error_code: "upload.duration" })
      assert.strictEqual((yield* upload(address, name, fitting)).status, 200)
    }).pipe(Effect.provide(layer))
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
      yield* upload({ url }, "film.mp4", "a".repeat(5000))
      yield* TestClock.adjust(4999)
      assert.strictEqual(
        yield* codeOf(send(AttachmentRequest.video(token!))),
        "AttachmentNotReady attachment.not.ready"
      )
      yield* TestClock.adjust(1)
      assert.strictEqual((yield* send(AttachmentRequest.video(token!))).length, 1)
      const short = yield* Uploads.create({ type: "video" })
      yield* upload({ url: short.url }, "film.mp4", "a")
      yield* TestClock.adjust(1999)
      assert.strictEqual(
        yield* codeOf(send(AttachmentRequest.video(short.token!))),
        "AttachmentNotReady attachment.not.ready"
      )
      yield* TestClock.adjust(1)
      assert.strictEqual((yield* send(AttachmentRequest.video(short.token!))).length, 1)
    }).pipe(Effect.provide(Emulator.layerBot({ processing: { bytesPerSecond: 1000, least: "2 seconds" } })))
  )
})
