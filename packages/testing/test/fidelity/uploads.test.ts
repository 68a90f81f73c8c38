import type { Upload } from "@colloquy/core"
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as TestClock from "effect/testing/TestClock"
import { assumes, says } from "../support/fidelity.ts"
import { GET, invalid, POST, failsWith, succeeds } from "../support/http.ts"
import * as Scene from "../support/scene.ts"

const names = { image: "a.png", file: "a.txt", video: "a.mp4", audio: "a.mp3" }
const types = ["image", "video", "audio", "file"] as const

const opened = (type: Upload.UploadType) => succeeds(POST(`/uploads?type=${type}`))

/** Uploads a file as documented, and returns the token to attach. */
const uploaded = (type: Upload.UploadType) =>
  Effect.gen(function* () {
    const { at } = yield* opened(type)
    const { text } = yield* Scene.upload({ url: String(at("url")) }, names[type], "content")
    if (type === "video" || type === "audio") return String(at("token"))
    const json = JSON.parse(text)
    return String(type === "file" ? json.token : Object.values<{ token: string }>(json.photos)[0].token)
  })

const attach = (chat_id: number, type: string, token: string) =>
  POST(`/messages?chat_id=${chat_id}`, { attachments: [{ type, payload: { token } }] })

says(
  "POST /uploads",
  "type is required: image, video, audio or file",
  Effect.gen(function* () {
    for (const type of types) yield* opened(type)
    for (const query of ["", "?type=", "?type=photo", "?type=sticker", "?type=Image"]) {
      yield* invalid(POST(`/uploads${query}`))
    }
  })
)

says(
  "POST /uploads",
  "The host in url depends on the type: there are separate hosts for file, image, video and audio",
  Effect.gen(function* () {
    const hosts = yield* Effect.forEach(types, (type) =>
      Effect.map(opened(type), ({ at }) => new URL(String(at("url"))).host)
    )
    assert.strictEqual(new Set(hosts).size, 4)
  })
)

says(
  "POST /uploads",
  "For video and audio the response contains the token and the url",
  Effect.gen(function* () {
    for (const type of ["video", "audio"] as const) assert.isString((yield* opened(type)).at("token"))
    for (const type of ["image", "file"] as const) assert.isTrue((yield* opened(type)).at("token") == null)
  })
)

says(
  "POST /uploads",
  "For image the token is in the response of the upload and also in the url",
  Effect.gen(function* () {
    const { at } = yield* opened("image")
    const url = String(at("url"))
    const { text } = yield* Scene.upload({ url }, "a.png", "content")
    const [{ token }] = Object.values<{ token: string }>(JSON.parse(text).photos)
    assert.include([...new URL(url).searchParams.values()], token)
  })
)

says(
  "POST /uploads",
  "A message attaches an uploaded file by its type and token",
  Effect.gen(function* () {
    const { group } = yield* Scene.make
    for (const type of types) {
      const token = yield* uploaded(type)
      yield* TestClock.adjust("1 minute")
      const { at } = yield* succeeds(attach(group.chat_id, type, token))
      assert.strictEqual(at("message.body.attachments.0.type"), type)
      assert.strictEqual(at("message.body.attachments.0.payload.token"), token)
    }
  })
)

assumes(
  "A",
  "POST /uploads",
  "Video and audio attachments are returned with url and token, files also with filename and size",
  Effect.gen(function* () {
    const { group } = yield* Scene.make
    for (const type of ["video", "audio", "file"] as const) {
      const token = yield* uploaded(type)
      yield* TestClock.adjust("1 minute")
      const { at } = yield* attach(group.chat_id, type, token)
      assert.isString(at("message.body.attachments.0.payload.url"))
      if (type !== "file") continue
      assert.strictEqual(at("message.body.attachments.0.filename"), "a.txt")
      assert.strictEqual(at("message.body.attachments.0.size"), 7)
    }
  })
)

says(
  "States and transitions",
  "Attaching a token before the uploaded file is processed returns attachment.not.ready",
  Effect.gen(function* () {
    const { group } = yield* Scene.make
    const token = yield* uploaded("file")
    const { at } = yield* failsWith(attach(group.chat_id, "file", token), 400, "attachment.not.ready")
    assert.include(String(at("message")), "errors.process.attachment.file.not.processed")
    yield* TestClock.adjust("1 minute")
    yield* succeeds(attach(group.chat_id, "file", token))
  })
)

assumes(
  "A",
  "Errors",
  "attachment.not.ready has the status 400; for a video the message contains errors.process.attachment.video.not.processed",
  Effect.gen(function* () {
    const { group } = yield* Scene.make
    const token = yield* uploaded("video")
    const { at } = yield* failsWith(attach(group.chat_id, "video", token), 400, "attachment.not.ready")
    assert.strictEqual(at("message"), "Key: errors.process.attachment.video.not.processed")
  })
)

says(
  "POST /uploads",
  "The token of a video that is not uploaded yet cannot be attached",
  Effect.gen(function* () {
    const { group } = yield* Scene.make
    const { at } = yield* opened("video")
    yield* TestClock.adjust("1 hour")
    yield* failsWith(attach(group.chat_id, "video", String(at("token"))), 400, "attachment.not.ready")
  })
)

assumes(
  "A",
  "Other operations",
  "GET /videos/{token} returns the token and the urls of a processed video",
  Effect.gen(function* () {
    const token = yield* uploaded("video")
    yield* failsWith(GET(`/videos/${token}`), 404, "not.found")
    yield* TestClock.adjust("1 minute")
    const { at } = yield* succeeds(GET(`/videos/${token}`))
    assert.strictEqual(at("token"), token)
    assert.isString(at("urls.mp4_720"))
    assert.isString(at("urls.hls"))
    yield* failsWith(GET("/videos/none"), 404, "not.found")
  })
)

says(
  "POST /uploads",
  "The file is sent by POST in the form field data, without a token",
  Effect.gen(function* () {
    const { at } = yield* opened("file")
    const url = String(at("url"))
    const form = new FormData()
    form.append("file", new Blob(["content"]), "a.txt")
    const other = yield* HttpClient.execute(HttpClientRequest.bodyFormData(HttpClientRequest.post(url), form))
    assert.strictEqual(other.status, 400)
    assert.strictEqual((yield* Scene.upload({ url }, "a.txt", "content")).status, 200)
  })
)

says(
  "POST /uploads",
  "A url accepts one file; another file requires another url",
  Effect.gen(function* () {
    for (const type of types) {
      const url = String((yield* opened(type)).at("url"))
      assert.strictEqual((yield* Scene.upload({ url }, names[type], "a")).status, 200)
      assert.notStrictEqual((yield* Scene.upload({ url }, names[type], "b")).status, 200)
      const next = String((yield* opened(type)).at("url"))
      assert.notStrictEqual(next, url)
      assert.strictEqual((yield* Scene.upload({ url: next }, names[type], "b")).status, 200)
    }
  })
)

says(
  "POST /uploads",
  "A form with two files is rejected",
  Effect.gen(function* () {
    const url = String((yield* opened("file")).at("url"))
    const form = new FormData()
    for (const name of ["a.txt", "b.txt"]) form.append("data", new Blob(["content"]), name)
    const { status } = yield* HttpClientRequest.post(url).pipe(HttpClientRequest.bodyFormData(form), HttpClient.execute)
    assert.strictEqual(status, 400)
    assert.strictEqual((yield* Scene.upload({ url }, "a.txt", "content")).status, 200)
  })
)

assumes(
  "C",
  "POST /uploads",
  "A form uploads its file in the field data; for audio and video also in the field file",
  Effect.gen(function* () {
    for (const type of types) {
      const url = String((yield* opened(type)).at("url"))
      const form = new FormData()
      form.append("file", new Blob(["content"]), names[type])
      const post = HttpClientRequest.post(url).pipe(HttpClientRequest.bodyFormData(form), HttpClient.execute)
      assert.strictEqual((yield* post).status, type === "audio" || type === "video" ? 200 : 400, type)
    }
  })
)

says(
  "POST /uploads",
  "The returned url must be used unchanged: with a missing or another token it is invalid",
  Effect.gen(function* () {
    const url = String((yield* opened("image")).at("url"))
    for (const other of [url.replace(/\?.*/, ""), `${url}0`]) {
      assert.strictEqual((yield* Scene.upload({ url: other }, "a.png", "content")).status, 404)
    }
    assert.strictEqual((yield* Scene.upload({ url }, "a.png", "content")).status, 200)
  })
)

says(
  "Upload result",
  "The lifetime of the upload address is unlimited",
  Effect.gen(function* () {
    const { at } = yield* opened("file")
    yield* TestClock.adjust("400 days")
    assert.strictEqual((yield* Scene.upload({ url: String(at("url")) }, "a.txt", "content")).status, 200)
  })
)

says(
  "POST /uploads",
  "The response to the upload of a video or audio contains retval",
  Effect.gen(function* () {
    for (const type of ["video", "audio"] as const) {
      const { at } = yield* opened(type)
      const { text } = yield* Scene.upload({ url: String(at("url")) }, names[type], "content")
      assert.match(text, /<retval>1<\/retval>$/)
      const url = String((yield* opened(type)).at("url"))
      yield* part(url, "bytes 0-3/10", 4, names[type])
      assert.match((yield* part(url, "bytes 4-9/10", 6, names[type])).text, /<retval>1<\/retval>$/)
    }
  })
)

assumes(
  "A",
  "POST /uploads",
  "The response to the upload of an image is {photos: {key: {token}}}",
  Effect.gen(function* () {
    const { at } = yield* opened("image")
    const { text } = yield* Scene.upload({ url: String(at("url")) }, "a.png", "content")
    const json = JSON.parse(text)
    assert.hasAllKeys(json, ["photos"])
    for (const photo of Object.values<object>(json.photos)) assert.hasAllKeys(photo, ["token"])
  })
)

assumes(
  "B",
  "POST /uploads",
  "The response to the upload of a file is {fileId, token}",
  Effect.gen(function* () {
    const { at } = yield* opened("file")
    const { text } = yield* Scene.upload({ url: String(at("url")) }, "a.txt", "content")
    const json = JSON.parse(text)
    assert.hasAllKeys(json, ["fileId", "token"])
    assert.isTrue(Number.isInteger(json.fileId))
  })
)

const part = (url: string, range: string, length: number, name = "a.mov") =>
  Effect.gen(function* () {
    const response = yield* HttpClientRequest.post(url).pipe(
      HttpClientRequest.bodyUint8Array(new Uint8Array(length), "application/octet-stream"),
      HttpClientRequest.setHeaders({
        "content-range": range,
        "content-disposition": `attachment; filename="${encodeURIComponent(name)}"`
      }),
      HttpClient.execute
    )
    return { status: response.status, text: yield* response.text }
  })

const progress = (url: string) =>
  Effect.flatMap(HttpClient.get(url), (response) =>
    Effect.map(response.text, (text) => ({ status: response.status, text }))
  )

says(
  "POST /uploads",
  "A resumable upload is sent in parts and resumes after the last uploaded part",
  Effect.gen(function* () {
    const { group } = yield* Scene.make
    const { at } = yield* opened("video")
    const url = String(at("url"))
    yield* part(url, "bytes 0-3/10", 4)
    yield* TestClock.adjust("1 day")
    yield* part(url, "bytes 4-9/10", 6)
    yield* TestClock.adjust("1 minute")
    yield* succeeds(attach(group.chat_id, "video", String(at("token"))))
  })
)

assumes(
  "C",
  "POST /uploads",
  "A resumable upload can have more than 1000 parts",
  Effect.gen(function* () {
    const { group } = yield* Scene.make
    const { at } = yield* opened("video")
    const [count, length] = [1100, 16]
    const statuses = yield* Effect.forEach(Array.from({ length: count }), (_, index) => {
      const first = index * length
      const range = `bytes ${first}-${first + length - 1}/${count * length}`
      return Effect.map(part(String(at("url")), range, length), ({ status }) => status)
    })
    assert.deepStrictEqual([new Set(statuses.slice(0, -1)), statuses.at(-1)], [new Set([201]), 200])
    yield* TestClock.adjust("1 minute")
    yield* succeeds(attach(group.chat_id, "video", String(at("token"))))
  })
)

assumes(
  "C",
  "POST /uploads",
  "A part returns 201 with `0-<last>/<size>`, the last part 200; for a video it also returns the retval, for a file its JSON",
  Effect.gen(function* () {
    const video = String((yield* opened("video")).at("url"))
    assert.deepStrictEqual(yield* part(video, "bytes 0-3/10", 4), { status: 201, text: "0-3/10" })
    assert.deepStrictEqual(yield* part(video, "bytes 4-9/10", 6), { status: 200, text: "0-9/10\n<retval>1</retval>" })
    const file = String((yield* opened("file")).at("url"))
    assert.strictEqual((yield* part(file, "bytes 0-3/10", 4, "a.txt")).status, 201)
    const { status, text } = yield* part(file, "bytes 4-9/10", 6, "a.txt")
    assert.strictEqual(status, 200)
    assert.hasAllKeys(JSON.parse(text), ["fileId", "token"])
  })
)

assumes(
  "C",
  "POST /uploads",
  "GET on the url returns the progress: 200 with `0-<last>/<size>`, or 204 to start again; a part at another position returns 416",
  Effect.gen(function* () {
    const url = String((yield* opened("file")).at("url"))
    assert.deepStrictEqual(yield* progress(url), { status: 204, text: "" })
    yield* part(url, "bytes 0-3/10", 4, "a.txt")
    assert.deepStrictEqual(yield* progress(url), { status: 200, text: "0-3/10" })
    assert.strictEqual((yield* part(url, "bytes 6-9/10", 4, "a.txt")).status, 416)
    assert.strictEqual((yield* part(url, "bytes 4-9/10", 2, "a.txt")).status, 416)
  })
)

assumes(
  "B",
  "POST /uploads",
  "File names that are not ASCII are percent-encoded, and are returned decoded",
  Effect.gen(function* () {
    const { group } = yield* Scene.make
    const url = String((yield* opened("file")).at("url"))
    const { text } = yield* part(url, "bytes 0-3/4", 4, "отчёт.txt")
    yield* TestClock.adjust("1 minute")
    const { at } = yield* attach(group.chat_id, "file", JSON.parse(text).token)
    assert.strictEqual(at("message.body.attachments.0.filename"), "отчёт.txt")
  })
)

assumes(
  "B",
  "POST /uploads",
  "A form and a part use the same format for the file name",
  Effect.gen(function* () {
    const { group } = yield* Scene.make
    const names = {
      'filename="%D0%B4%20b.txt"': "д b.txt",
      "filename*=UTF-8''%D0%B4.txt": "д.txt",
      "filename=c.txt": "c.txt"
    }
    for (const [parameter, name] of Object.entries(names)) {
      const form = `--b\r\ncontent-disposition: form-data; name="data"; ${parameter}\r\n\r\ncontent\r\n--b--\r\n`
      const requests = [
        HttpClientRequest.bodyText(form, "multipart/form-data; boundary=b"),
        (request: HttpClientRequest.HttpClientRequest) =>
          request.pipe(
            HttpClientRequest.bodyText("content", "application/octet-stream"),
            HttpClientRequest.setHeader("content-disposition", `attachment; ${parameter}`)
          )
      ]
      for (const request of requests) {
        const url = String((yield* opened("file")).at("url"))
        const response = yield* HttpClient.execute(request(HttpClientRequest.post(url)))
        yield* TestClock.adjust("1 minute")
        const { at } = yield* attach(group.chat_id, "file", JSON.parse(yield* response.text).token)
        assert.strictEqual(at("message.body.attachments.0.filename"), name)
      }
    }
  })
)

says(
  "States and transitions",
  "Larger files take longer to process",
  Effect.gen(function* () {
    const { group } = yield* Scene.make
    const ready = (size: number) =>
      Effect.gen(function* () {
        const { at } = yield* opened("video")
        yield* part(String(at("url")), `bytes 0-${size - 1}/${size}`, size)
        let waited = 0
        while ((yield* attach(group.chat_id, "video", String(at("token")))).status !== 200) {
          yield* TestClock.adjust("100 millis")
          waited += 100
        }
        return waited
      })
    assert.isAbove(yield* ready(4 * 2 ** 20), yield* ready(10))
  })
)
