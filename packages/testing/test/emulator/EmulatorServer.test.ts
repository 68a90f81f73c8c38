import {
  AttachmentRequest,
  BotApi,
  Messages,
  RateLimiter,
  RetryPolicy,
  Updates,
  UploadSource,
  Uploads
} from "@colloquy/core"
import { Emulator, EmulatorHttp, EmulatorServer } from "@colloquy/testing"
import { assert, layer } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { connect } from "node:net"
import { mp4 } from "../support/media.ts"
import { upload } from "../support/scene.ts"
import { httpClient } from "../support/httpClient.ts"

const bot = Layer.unwrap(
  EmulatorServer.EmulatorServer.use(({ url }) =>
    Effect.succeed(BotApi.layer({ token: Redacted.make("emulator-token"), baseUrl: url }))
  )
).pipe(
  Layer.provide(RateLimiter.layerMemory()),
  Layer.provideMerge(httpClient),
  Layer.provideMerge(EmulatorServer.layer()),
  Layer.provideMerge(Emulator.layer())
)

/** Sends each text after the response to the one before on a new connection, and returns the responses. */
const exchange = (...texts: ReadonlyArray<string>) =>
  Effect.flatMap(EmulatorServer.EmulatorServer, ({ url }) =>
    Effect.callback<ReadonlyArray<string>>((resume) => {
      const { hostname, port } = new URL(url)
      const responses: Array<string> = []
      const socket = connect(Number(port), hostname, () => socket.write(texts[0]))
      socket.on("data", (data) => {
        responses.push(String(data))
        if (responses.length < texts.length) socket.write(texts[responses.length])
        else socket.destroy()
      })
      socket.on("close", () => resume(Effect.succeed(responses)))
    })
  )

const head = (line: string, ...headers: ReadonlyArray<string>) =>
  [`${line} HTTP/1.1`, "host: a", "authorization: emulator-token", ...headers, "", ""].join("\r\n")

const lengthIn = (answer: string) => /content-length: (\d+)/i.exec(answer)?.[1]

layer(bot, { excludeTestServices: true })("EmulatorServer", (it) => {
  it.effect("answers requests over HTTP, and a waiting poll when an update arrives", () =>
    Effect.gen(function* () {
      const visitor = yield* Emulator.user("visitor")
      const polling = yield* Effect.forkChild(Updates.list({ timeout: 90 }))
      yield* visitor.start()
      assert.strictEqual((yield* Fiber.join(polling)).updates.length, 1)
      const message = yield* Messages.send({ user_id: visitor.user_id, text: "hi" })
      assert.isTrue(message.body!.seq > 2n ** 53n)
      assert.strictEqual((yield* visitor.reply).body?.text, "hi")
    })
  )

  it.effect("accepts uploads on a separate port for each type", () =>
    Effect.gen(function* () {
      const { uploads, url } = yield* EmulatorServer.EmulatorServer
      assert.strictEqual(new Set([url, ...Object.values(uploads)]).size, 5)
      const address = yield* Uploads.create({ type: "image" })
      assert.isTrue(address.url.startsWith(`${uploads.image}/`))
      const { status, text } = yield* upload(address, "a.png", "png")
      assert.strictEqual(status, 200)
      assert.hasAllKeys(JSON.parse(text), ["photos"])
    })
  )

  it.effect("answers 413 to a body of unknown length that is too large, and stops reading it", () =>
    Effect.gen(function* () {
      const { url } = yield* EmulatorServer.EmulatorServer
      const { hostname, port } = new URL(url)
      const answer = yield* Effect.callback<string>((resume) => {
        const socket = connect(Number(port), hostname)
        const chunk = `10000\r\n${"a".repeat(2 ** 16)}\r\n`
        const head = ["PATCH /me/commands HTTP/1.1", "host: a", "authorization: emulator-token"]
        let answered = ""
        socket.write(`${head.join("\r\n")}\r\ntransfer-encoding: chunked\r\n\r\n`)
        const push = () => {
          while (answered === "" && socket.writable && socket.write(chunk)) {}
        }
        socket.on("drain", push)
        socket.on("data", (data) => {
          answered += String(data)
        })
        socket.on("error", () => {})
        socket.on("close", () => resume(Effect.succeed(answered)))
        push()
      })
      assert.match(answer, /^HTTP\/1\.1 413 /)
      assert.match(answer, /connection: close/i)
      assert.include(answer, '"code":"proto.payload"')
    })
  )

  it.effect.each([
    ["no HTTP\r\n\r\n", 400],
    [`GET /me HTTP/1.1\r\nhost: x\r\nlong: ${"a".repeat(20_000)}\r\n\r\n`, 431]
  ] as const)("answers an unreadable request with the error format of the platform: %#", ([sent, status]) =>
    Effect.gen(function* () {
      const { url } = yield* EmulatorServer.EmulatorServer
      const { hostname, port } = new URL(url)
      const answer = yield* Effect.callback<string>((resume) => {
        let answered = ""
        const socket = connect(Number(port), hostname, () => socket.write(sent))
        socket.on("data", (data) => {
          answered += String(data)
        })
        socket.on("error", () => {})
        socket.on("close", () => resume(Effect.succeed(answered)))
      })
      assert.isTrue(answer.startsWith(`HTTP/1.1 ${status} `), answer)
      const { code, message } = JSON.parse(answer.slice(answer.indexOf("\r\n\r\n")))
      assert.strictEqual(code, "proto.payload")
      assert.match(message, /^The request cannot be read: /)
    })
  )

  it.effect("answers 100 to a request that expects it, unless it rejects the request", () =>
    Effect.gen(function* () {
      const headers = ["expect: 100-continue", "content-length: 15"]
      const [informed, answer] = yield* exchange(head("PATCH /me/commands", ...headers), `{"commands":[]}`)
      assert.match(informed, /^HTTP\/1\.1 100 /)
      assert.match(answer, /^HTTP\/1\.1 200 /)
      const [refused] = yield* exchange(head("PATCH /nothing", ...headers))
      assert.match(refused, /^HTTP\/1\.1 404 [^]*connection: close/i)
    })
  )

  it.effect("answers HEAD with the content-length of GET", () =>
    Effect.gen(function* () {
      const [ofHead, ofGet] = yield* exchange(head("HEAD /me"), head("GET /me"))
      assert.isDefined(lengthIn(ofGet))
      assert.strictEqual(lengthIn(ofHead), lengthIn(ofGet))
    })
  )

  it.effect("accepts an absolute URL as the request target", () =>
    Effect.gen(function* () {
      const [answer] = yield* exchange(head("GET http://elsewhere.example/me?v=1"))
      assert.match(answer, /^HTTP\/1\.1 200 /)
    })
  )

  it.effect("answers 500 if a response cannot be sent, and answers the next request", () =>
    Effect.gen(function* () {
      const broken = Emulator.intercept(() => Effect.succeed(EmulatorHttp.respond(200, "", { "x-bad": "a\nb" })))
      const [answer] = yield* Effect.scoped(Effect.andThen(broken, exchange(head("GET /me"))))
      assert.match(answer, /^HTTP\/1\.1 500 [^]*internal\.error/)
      assert.match((yield* exchange(head("GET /me")))[0], /^HTTP\/1\.1 200 /)
    })
  )

  it.effect("stores an image that arrives in many chunks unchanged", () =>
    Effect.gen(function* () {
      const visitor = yield* Emulator.user("visitor")
      const { chat_id } = yield* visitor.start()
      const content = Array.from({ length: 100_000 }, (_, index) => `line ${index}`).join("\n")
      const { photos } = JSON.parse((yield* upload(yield* Uploads.create({ type: "image" }), "a.png", content)).text)
      const { body } = yield* Messages.send({ chat_id, attachments: [AttachmentRequest.imageFromPhotos(photos)] })
      const [image] = body?.attachments ?? []
      const link = image?.type === "image" ? image.payload.url : ""
      assert.isTrue((yield* (yield* HttpClient.get(link)).text) === content)
    })
  )

  it.effect("serves uploaded images on the port for images", () =>
    Effect.gen(function* () {
      const { uploads } = yield* EmulatorServer.EmulatorServer
      const visitor = yield* Emulator.user("visitor")
      const { chat_id } = yield* visitor.start()
      const address = yield* Uploads.create({ type: "image" })
      const { photos } = JSON.parse((yield* upload(address, "a.png", "a picture")).text)
      const { body } = yield* Messages.send({ chat_id, attachments: [AttachmentRequest.imageFromPhotos(photos)] })
      const [image] = body?.attachments ?? []
      const link = image?.type === "image" ? image.payload.url : ""
      assert.isTrue(link.startsWith(`${uploads.image}/`))
      assert.strictEqual(yield* (yield* HttpClient.get(link)).text, "a picture")
    })
  )

  it.effect("reads a video whose header arrives in many chunks", () =>
    Effect.gen(function* () {
      const visitor = yield* Emulator.user("visitor")
      const { chat_id } = yield* visitor.start()
      const short = mp4(640, 360, 95)
      const content = new Uint8Array(short.byteLength + 2 ** 20)
      content.set(short.subarray(0, 348))
      new DataView(content.buffer).setUint32(24, 324 + 2 ** 20)
      for (const method of ["multipart", "resumable"] as const) {
        const source = UploadSource.bytes(content)
        const sent = yield* Uploads.upload({ type: "video", source, name: "a.mp4", method, partSize: 2 ** 18 })
        const { body } = yield* Messages.send({ chat_id, attachments: [sent] })
        assert.deepInclude(body?.attachments?.[0], { width: 640, height: 360, duration: 95 }, method)
      }
    })
  )

  it.effect("returns image URLs with the host name of the poll, whatever request came before", () =>
    Effect.gen(function* () {
      const { uploads, url } = yield* EmulatorServer.EmulatorServer
      const visitor = yield* Emulator.user("visitor")
      yield* visitor.start()
      const { updates: before, marker } = yield* Updates.list({ timeout: 0, limit: 1000 })
      assert.isNotEmpty(before)
      yield* visitor.send("", { attachments: [{ type: "image" }] })
      const emulator = yield* Emulator.Emulator
      const elsewhere = { kind: "api", uploads: { ...uploads, image: "http://elsewhere" } } as const
      const body = { text: Effect.succeed(""), bytes: Stream.empty }
      const headers = { authorization: "emulator-token" }
      yield* emulator.handle({ method: "GET", path: "/me", query: "", headers, body, listener: elsewhere })
      const { updates } = yield* Updates.list({ timeout: 0, marker: marker! })
      assert.include(
        JSON.stringify(updates, (_, value) => (typeof value === "bigint" ? String(value) : value)),
        uploads.image
      )
      assert.isTrue(url.startsWith("http://127.0.0.1:"))
    })
  )

  it.effect("resets the connection if an interceptor fails with connectionReset", () =>
    Effect.gen(function* () {
      yield* Emulator.intercept(() => EmulatorHttp.connectionReset)
      const failure = yield* Effect.flip(RetryPolicy.override(Uploads.create({ type: "file" }), RetryPolicy.none))
      const reason = failure._tag === "RequestFailed" ? failure.reason : undefined
      assert.deepInclude(reason, { _tag: "Transport", kind: "Reset" })
    })
  )

  it.effect("stops at once while a bot is polling", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const context = yield* Layer.buildWithScope(Layer.fresh(bot), scope)
      const arrived = yield* Deferred.make<void>()
      yield* Emulator.intercept((_, next) => Effect.andThen(Deferred.succeed(arrived, undefined), next)).pipe(
        Effect.provide(context)
      )
      const polling = yield* Effect.forkChild(Effect.provide(Effect.exit(Updates.list({ timeout: 90 })), context))
      yield* Deferred.await(arrived)
      yield* Scope.close(scope, Exit.void).pipe(Effect.timeout("1 minute"))
      yield* Fiber.interrupt(polling)
    })
  )
})
