import { type Upload, Uploads, UploadSource } from "@colloquy/core"
import { Emulator } from "@colloquy/testing"
import { assert } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as TestClock from "effect/testing/TestClock"
import { assumes, says } from "../support/fidelity.ts"
import { m4a, moovLast, mp3, mp4, png, variableMp3, wav } from "../support/media.ts"
import { DELETE, GET, invalid, POST, PUT, succeeds } from "../support/http.ts"
import * as Scene from "../support/scene.ts"

type Content = string | Uint8Array<ArrayBuffer>

/** Sends a file to an address, and returns the status and the code of a failure. */
const sendTo = (address: Upload.UploadAddress, name: string, content: Content = "content") =>
  Effect.map(Scene.upload(address, name, content), ({ status, text }) =>
    status === 200 ? "taken" : `${status} ${JSON.parse(text).error_code}`
  )

/** Sends files to the same address. Asserts that only the last one is accepted. */
const refusals = (type: Upload.UploadType, files: ReadonlyArray<readonly [name: string, content?: Content]>) =>
  Effect.flatMap(Uploads.create({ type }), (address) =>
    Effect.forEach(files, ([name, content]) => sendTo(address, name, content))
  )

const takes = (type: Upload.UploadType, names: string) =>
  Effect.forEach(names.split(" "), (extension) =>
    Effect.gen(function* () {
      for (const name of [`a.${extension}`, `a.b.${extension.toUpperCase()}`]) {
        assert.strictEqual(yield* sendTo(yield* Uploads.create({ type }), name), "taken", name)
      }
    })
  )

const mebibyte = 2 ** 20

/** Starts a resumable upload of this total size, in bytes. */
const begin = (type: Upload.UploadType, size: number) =>
  Effect.gen(function* () {
    const { url } = yield* Uploads.create({ type })
    const { status } = yield* HttpClientRequest.post(url).pipe(
      HttpClientRequest.bodyUint8Array(new Uint8Array(10), "application/octet-stream"),
      HttpClientRequest.setHeader("content-range", `bytes 0-9/${size}`),
      HttpClient.execute
    )
    return status
  })

/** Asserts that an upload of the maximum size starts, and that a larger one is rejected. */
const upTo = (type: Upload.UploadType, mebibytes: number) =>
  Effect.gen(function* () {
    assert.strictEqual(yield* begin(type, mebibytes * mebibyte), 201)
    assert.strictEqual(yield* begin(type, mebibytes * mebibyte + 1), 413)
  })

says("Limits", "Image upload: JPG, JPEG, PNG, GIF, TIFF, BMP, HEIC", takes("image", "jpg jpeg png gif tiff bmp heic"))

says("Limits", "Image upload: up to 50 MB", upTo("image", 50))

says(
  "Limits",
  "Image upload: at most 7680 x 7680 px, in addition to the limit of the file size",
  Effect.gen(function* () {
    const tooLarge = "400 upload.dimensions"
    const tried = yield* refusals("image", [
      ["a.png", png(7681, 10)],
      ["a.png", png(10, 7681)],
      ["a.png", png(7680, 7680)]
    ])
    assert.deepStrictEqual(tried, [tooLarge, tooLarge, "taken"])
  })
)

says("Limits", "Video upload: MP4, MOV, MKV, WEBM", takes("video", "mp4 mov mkv webm"))

says("Limits", "Video upload: up to 250 MB", upTo("video", 250))

says("Limits", "Audio upload: MP3, WAV, M4A and others", takes("audio", "mp3 wav m4a ogg"))

says("Limits", "Audio upload: up to 256 MB", upTo("audio", 256))

says(
  "Limits",
  "Audio upload: at most 60 minutes, in addition to the limit of the file size",
  Effect.gen(function* () {
    const files = [
      ["a.wav", wav(3601), wav(3600)],
      ["a.mp3", mp3(3601), mp3(3600)],
      ["b.mp3", variableMp3(137_813), variableMp3(137_812)],
      ["a.m4a", m4a(3601), m4a(3600)],
      ["b.m4a", moovLast(mp4(0, 0, 3601), 300_000), moovLast(mp4(0, 0, 3600), 300_000)]
    ] as const
    for (const [name, rejected, accepted] of files) {
      const tried = yield* refusals("audio", [
        [name, rejected],
        [name, accepted]
      ])
      assert.deepStrictEqual(tried, ["400 upload.duration", "taken"], name)
    }
  })
)

says("Limits", "File upload: TXT, DOC, PDF and other common formats", takes("file", "txt doc pdf zip csv"))

says("Limits", "File upload: up to 4 GB", upTo("file", 4096))

assumes(
  "C",
  "Limits",
  "An extension that the host does not support returns 415, and the address accepts another file",
  Effect.gen(function* () {
    const foreign = [
      ["image", ["a.webp"], ["a.pdf"], ["a.png"]],
      ["video", ["a.avi"], ["a.mp3"], ["a.mp4"]],
      ["audio", ["a.txt"], ["a.mp4"], ["a.mp3"]]
    ] as const
    const not = "415 upload.extension"
    for (const [type, ...files] of foreign) assert.deepStrictEqual(yield* refusals(type, files), [not, not, "taken"])
  })
)

assumes(
  "C",
  "Limits",
  "A .wav is accepted, as documented; a fault refuses it with 415, and the client fails without another attempt",
  Effect.gen(function* () {
    const upload = Uploads.upload({ type: "audio", source: UploadSource.bytes(wav(1)), name: "a.wav" })
    assert.strictEqual((yield* upload).type, "audio")
    yield* Emulator.setFaults([{ method: "POST", path: "/upload/*", status: 415 }])
    const before = (yield* Emulator.requests).length
    const error = yield* Effect.flip(upload)
    assert.isTrue(error._tag === "UploadFailed" && error.reason._tag === "Rejected" && error.reason.status === 415)
    assert.lengthOf(yield* Emulator.requests, before + 2)
  })
)

assumes(
  "B",
  "Message",
  "A file is stored until the last message with it is removed; then its token is rejected with 400",
  Effect.gen(function* () {
    const { dialog, group, message } = yield* Scene.make
    const path = `/messages?chat_id=${group.chat_id}`
    const attachments = [{ type: "image", payload: { token: yield* Scene.uploadImage } }]
    const removed = (answer: { readonly at: (path: string) => unknown }) =>
      DELETE(`/messages?message_id=${String(answer.at("message.body.mid"))}`)
    const first = yield* succeeds(POST(path, { attachments }))
    const second = yield* succeeds(POST(`/messages?chat_id=${dialog.chat_id}`, { attachments }))
    yield* removed(first)
    const link = { type: "forward", mid: second.at("message.body.mid") }
    const forward = yield* succeeds(POST(path, { link }))
    yield* removed(second)
    yield* succeeds(PUT(`/messages?message_id=${Scene.midOf(message)}`, { attachments }))
    yield* removed(forward)
    yield* succeeds(PUT(`/messages?message_id=${Scene.midOf(message)}`, { text: "edited" }))
    yield* succeeds(DELETE(`/messages?message_id=${Scene.midOf(message)}`))
    yield* invalid(POST(path, { attachments }))
  })
)

/** Sends an image to the group, and returns the path of the message and the link of the image. */
const picture = Effect.gen(function* () {
  const { group } = yield* Scene.make
  const { text } = yield* Scene.upload(yield* Uploads.create({ type: "image" }), "a.png", png(20, 10))
  yield* TestClock.adjust("1 minute")
  const attachments = [{ type: "image", payload: JSON.parse(text) }]
  const { at } = yield* succeeds(POST(`/messages?chat_id=${group.chat_id}`, { attachments }))
  return { path: `/messages/${String(at("message.body.mid"))}`, link: String(at(`message.${toLink}`)) }
})

const toLink = "body.attachments.0.payload.url"

const valueAt = (url: string) => Effect.map(HttpClient.get(url), ({ status }) => status)

says(
  "Message",
  "The lifetime of the link to an image is limited, and the link contains its expiry",
  Effect.gen(function* () {
    const { link } = yield* picture
    const response = yield* HttpClient.get(link)
    assert.deepStrictEqual([response.status, response.headers["content-type"]], [200, "image/png"])
    assert.deepStrictEqual(new Uint8Array(yield* response.arrayBuffer), png(20, 10))
    const expires = Number(new URL(link).searchParams.get("expires"))
    yield* TestClock.adjust(expires - (yield* Clock.currentTimeMillis) - 1)
    assert.strictEqual(yield* valueAt(link), 200)
    yield* TestClock.adjust(1)
    assert.notStrictEqual(yield* valueAt(link), 200)
  })
)

says(
  "Message",
  "After a link has expired, the message must be requested again and contains another link",
  Effect.gen(function* () {
    const { link, path } = yield* picture
    yield* TestClock.adjust("1 day")
    assert.strictEqual(yield* valueAt(link), 410)
    assert.strictEqual(yield* valueAt(String((yield* succeeds(GET(path))).at(toLink))), 200)
  })
)

assumes(
  "C",
  "Message",
  "A link to an image expires after a day and returns 410; a link without expires returns 403, and one to an unknown image 404",
  Effect.gen(function* () {
    const { link } = yield* picture
    assert.strictEqual(new URL(link).searchParams.get("expires"), String((yield* Clock.currentTimeMillis) + 86_400_000))
    assert.strictEqual(yield* valueAt(link.replace(/\?.*/, "")), 403)
    assert.strictEqual(yield* valueAt(link.replace(/\d+\?/, "1?")), 404)
    yield* TestClock.adjust("1 day")
    assert.strictEqual(yield* valueAt(link), 410)
  })
)

/** Uploads and attaches a video, and returns its token and the message. */
const video = (content: Content) =>
  Effect.gen(function* () {
    const { group } = yield* Scene.make
    const address = yield* Uploads.create({ type: "video" })
    yield* Scene.upload(address, "a.mp4", content)
    yield* TestClock.adjust("1 minute")
    const attachments = [{ type: "video", payload: { token: address.token } }]
    const { at } = yield* succeeds(POST(`/messages?chat_id=${group.chat_id}`, { attachments }))
    return { path: `/videos/${address.token}`, attached: (key: string) => at(`message.body.attachments.0.${key}`) }
  })

const sizeOf = (valueAt: (key: string) => unknown) => [valueAt("width"), valueAt("height"), valueAt("duration")]

assumes(
  "A",
  "Other operations",
  "A video has the width, the height and the duration of its header, in messages and in GET /videos/{token}",
  Effect.gen(function* () {
    const { attached, path } = yield* video(mp4(640, 360, 95))
    assert.deepStrictEqual(sizeOf(attached), [640, 360, 95])
    assert.deepStrictEqual(sizeOf((yield* succeeds(GET(path))).at), [640, 360, 95])
  })
)

assumes(
  "A",
  "Other operations",
  "The header of a video is read at any position of the file, uploaded as a whole or in parts",
  Effect.gen(function* () {
    const { group } = yield* Scene.make
    const whole = moovLast(mp4(640, 360, 95), 300_000)
    assert.deepStrictEqual(sizeOf((yield* video(whole)).attached), [640, 360, 95])
    for (const first of [10, 30, 45, 300_044, whole.byteLength - 1]) {
      const { token, url } = yield* Uploads.create({ type: "video" })
      const parts = [
        [0, first],
        [first, whole.byteLength]
      ] as const
      for (const [from, to] of parts) {
        yield* HttpClientRequest.post(url).pipe(
          HttpClientRequest.bodyUint8Array(whole.slice(from, to), "application/octet-stream"),
          HttpClientRequest.setHeader("content-range", `bytes ${from}-${to - 1}/${whole.byteLength}`),
          HttpClient.execute
        )
      }
      yield* TestClock.adjust("1 minute")
      const attachments = [{ type: "video", payload: { token } }]
      const { at } = yield* succeeds(POST(`/messages?chat_id=${group.chat_id}`, { attachments }))
      assert.deepStrictEqual(
        sizeOf((key) => at(`message.body.attachments.0.${key}`)),
        [640, 360, 95],
        `in parts from ${first} on`
      )
    }
  })
)

assumes(
  "C",
  "Other operations",
  "A video whose header has no size is 1280 x 720 px and 1 second long in GET /videos/{token}",
  Effect.gen(function* () {
    const { attached, path } = yield* video("no header")
    assert.deepStrictEqual(sizeOf(attached), [undefined, undefined, undefined])
    assert.deepStrictEqual(sizeOf((yield* succeeds(GET(path))).at), [1280, 720, 1])
  })
)
