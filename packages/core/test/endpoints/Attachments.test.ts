import { Attachments, type Message, RetryPolicy } from "../../src/index.ts"
import { Emulator, EmulatorHttp, type Person } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"

const content = Uint8Array.from({ length: 1000 }, (_, at) => at % 251)

const layer = Emulator.layerBot({ linkLifetime: "1 hour" })

type Sent = readonly [attachment: Attachments.Downloadable, message: Message.MessageId]

/** Returns the file in a message of a person, as the bot received the file. */
const send = (media: Partial<Person.PersonMedia> = {}, person?: Person.Person) =>
  Effect.gen(function* () {
    const sender = person ?? (yield* Emulator.user("Ann"))
    const { body } = yield* sender.send("Look", { attachments: [{ type: "file", content, ...media }] })
    return [body!.attachments![0] as Attachments.Downloadable, body!.mid] as Sent
  })

const read = (attachment: Attachments.Downloadable, options?: Attachments.DownloadOptions) =>
  Effect.map(Stream.runCollect(Attachments.download(attachment, options)), (chunks) =>
    Uint8Array.from(chunks.flatMap((chunk) => [...chunk]))
  )

const reasonOf = <A, E extends Attachments.DownloadErrors, R>(self: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(self), (error) => {
    assert(error._tag === "DownloadFailed", String(error))
    return error.reason
  })

const downloads = Effect.map(Emulator.requests, (requests) =>
  requests.filter(({ path }) => path.startsWith("/files/") || path.startsWith("/images/"))
)

const at = (url: string): Attachments.Downloadable => ({
  type: "file",
  payload: { url, token: "token" },
  filename: "a.bin",
  size: 1000
})

/** Answers each download with the responses in turn; the last one stays. */
const answers = (...responses: ReadonlyArray<EmulatorHttp.Response>) => {
  let next = 0
  return Emulator.intercept((request, handle) =>
    request.path.startsWith("/files/") ? Effect.sync(() => responses[Math.min(next++, responses.length - 1)]) : handle
  )
}

const bytes = (status: number, body: Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) => ({
  ...EmulatorHttp.respond(status, "", headers),
  bytes: body
})

describe("Attachments.download", () => {
  it.effect.each(["image", "video", "audio", "file"] as const)("downloads the content of a sent %s", (type) =>
    Effect.gen(function* () {
      const [attachment] = yield* send({ type })
      assert.deepStrictEqual(yield* read(attachment), content)
      const [request] = yield* downloads
      assert.isUndefined(request.headers["authorization"])
      assert.isUndefined(request.headers["traceparent"])
    }).pipe(Effect.provide(layer))
  )

  it.effect("downloads the largest rendition of a video", () =>
    Effect.gen(function* () {
      const [video] = yield* send({ type: "video" })
      yield* read(video)
      assert.deepStrictEqual(
        (yield* downloads).map(({ path }) => path.replace(/\d{10,}/, "ID")),
        ["/files/ID/mp4_1080"]
      )
    }).pipe(Effect.provide(layer))
  )

  it.effect("asks the platform for a new address if the address has expired", () =>
    Effect.gen(function* () {
      for (const type of ["image", "audio", "file"] as const) {
        const [attachment, message_id] = yield* send({ type })
        yield* TestClock.adjust("2 hours")
        assert.deepStrictEqual(yield* read(attachment, { message_id }), content)
        assert.deepInclude(yield* reasonOf(read(attachment)), { _tag: "Expired", status: 410, isRenewed: false })
      }
    }).pipe(Effect.provide(layer))
  )

  it.effect("asks for the address in a forwarded message", () =>
    Effect.gen(function* () {
      const ann = yield* Emulator.user("Ann")
      const [attachment, mid] = yield* send({}, ann)
      const chat = yield* Emulator.chat({ members: [ann] })
      const forwarded = yield* ann.send(chat, "", { link: { type: "forward", mid } })
      yield* TestClock.adjust("2 hours")
      assert.deepStrictEqual(yield* read(attachment, { message_id: forwarded.body!.mid }), content)
    }).pipe(Effect.provide(layer))
  )

  it.effect("fails if the new address does not work either, or the message was deleted", () =>
    Effect.gen(function* () {
      const [attachment, message_id] = yield* send()
      yield* answers(EmulatorHttp.respond(403, ""))
      const reason = yield* reasonOf(read(attachment, { message_id }))
      assert.deepInclude(reason, { _tag: "Expired", status: 403, isRenewed: true })
      assert.lengthOf(yield* downloads, 2)
      assert.deepInclude(yield* reasonOf(read(attachment, { message_id: "mid.0" as never })), {
        _tag: "Expired",
        isRenewed: true
      })
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("fails before the request if the platform states a size above the maximum", () =>
    Effect.gen(function* () {
      const [file] = yield* send()
      assert.deepInclude(yield* reasonOf(read(file, { maxSize: 999 })), { _tag: "TooLarge", maxSize: 999, size: 1000 })
      assert.lengthOf(yield* downloads, 0)
      assert.lengthOf(yield* read(file, { maxSize: 1000 }), 1000)
    }).pipe(Effect.provide(layer))
  )

  it.effect("fails if the host states a size above the maximum, before the content is read", () =>
    Effect.gen(function* () {
      const [image] = yield* send({ type: "image" })
      assert.deepInclude(yield* reasonOf(read(image, { maxSize: 999 })), { _tag: "TooLarge", maxSize: 999, size: 1000 })
    }).pipe(Effect.provide(layer))
  )

  it.effect("stops reading an endless body at the maximum", () =>
    Effect.gen(function* () {
      const [audio] = yield* send({ type: "audio" })
      let sent = 0
      yield* Emulator.intercept((request, handle) =>
        request.path.startsWith("/files/")
          ? Effect.succeed({
              ...EmulatorHttp.respond(200, ""),
              stream: Stream.forever(Stream.sync(() => (sent++, "x".repeat(1000))))
            })
          : handle
      )
      assert.deepInclude(yield* reasonOf(read(audio, { maxSize: 100_000 })), { _tag: "TooLarge", maxSize: 100_000 })
      assert.isBelow(sent, 200)
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect.each([
    ["http://files.example.org/a", "Insecure"],
    ["ftp://files.example.org/a", "Insecure"],
    ["file:///etc/passwd", "Insecure"],
    ["not a url", "Malformed"],
    ["https://ann:secret@files.example.org/a", "Credentials"],
    ["https://127.0.0.1/a", "Private"],
    ["https://2130706433/a", "Private"],
    ["https://[::ffff:a00:1]/a", "Private"],
    ["https://169.254.169.254/latest/meta-data", "Private"],
    ["https://localhost/a", "Private"]
  ] as const)("sends no request to %s", ([url, problem]) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(read(at(url)))
      assert(error._tag === "DownloadFailed")
      assert.deepInclude(error.reason, { _tag: "AddressRefused", problem })
      assert.isFalse(error.isRetryable)
      assert.notInclude(error.message, "secret")
      assert.lengthOf(yield* Emulator.requests, 0)
    }).pipe(Effect.provide(layer))
  )

  it.effect("sends requests to the hosts of the setting BOT_PRIVATE_HOSTS", () =>
    Effect.gen(function* () {
      const file = at("http://127.0.0.1:8080/files/a")
      const withHosts = (hosts: string) =>
        Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromUnknown({ BOT_PRIVATE_HOSTS: hosts }))
      const refused = yield* reasonOf(read(file)).pipe(withHosts("localhost"))
      assert.deepInclude(refused, { _tag: "AddressRefused", problem: "Insecure" })
      const sent = yield* reasonOf(Effect.provideService(read(file), RetryPolicy.RetryPolicy, RetryPolicy.none)).pipe(
        withHosts("localhost, 127.0.0.1")
      )
      // The emulator without a port is not there.
      assert.deepInclude(sent, { _tag: "Transport", kind: "Unresolved" })
    }).pipe(Effect.provide(layer))
  )

  it.effect("follows redirects on the same host only", () =>
    Effect.gen(function* () {
      const [file] = yield* send()
      const to = (location: string) => EmulatorHttp.respond(302, "", { location })
      const asked: Array<string> = []
      yield* Emulator.intercept((request, handle) =>
        Effect.suspend(() => {
          if (!request.path.startsWith("/files/")) return handle
          asked.push(request.path)
          switch (request.path) {
            case "/files/other":
              return Effect.succeed(to("https://evil.example/a"))
            case "/files/scheme":
              return Effect.succeed(to("http://file.uploads.emulator.test/files/a"))
            case "/files/metadata":
              return Effect.succeed(to("//169.254.169.254/a"))
            case "/files/loop":
              return Effect.succeed(to("/files/loop"))
            case "/files/same":
              return Effect.succeed(to(file.payload.url!))
            default:
              return handle
          }
        })
      )
      const origin = "https://file.uploads.emulator.test"
      assert.deepStrictEqual(yield* read(at(`${origin}/files/same`)), content)
      for (const [path, to] of [
        ["other", "evil.example"],
        ["scheme", "file.uploads.emulator.test"],
        ["metadata", "169.254.169.254"]
      ]) {
        asked.length = 0
        assert.deepInclude(yield* reasonOf(read(at(`${origin}/files/${path}`))), { _tag: "Redirected", to })
        assert.deepStrictEqual(asked, [`/files/${path}`])
      }
      assert.deepInclude(yield* reasonOf(read(at(`${origin}/files/loop`))), { _tag: "Redirected" })
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("continues where the connection ended, and returns each byte once", () =>
    Effect.gen(function* () {
      const [file] = yield* send()
      yield* Emulator.setFaults([
        { path: "/files/*", truncate: 300, reset: "after", times: 1 },
        { path: "/files/*", truncate: 200, reset: "after", nth: 2 }
      ])
      const atOnce = { ...RetryPolicy.none, transient: Schedule.recurs(1) }
      assert.deepStrictEqual(yield* Effect.provideService(read(file), RetryPolicy.RetryPolicy, atOnce), content)
      assert.deepStrictEqual(
        (yield* downloads).map(({ headers, status }) => [headers["range"], status]),
        [
          [undefined, 200],
          ["bytes=300-", 206],
          ["bytes=500-", 206]
        ]
      )
    }).pipe(Effect.provide(layer))
  )

  it.effect("fails with Changed if the file has changed between two parts", () =>
    Effect.gen(function* () {
      const [file] = yield* send()
      const etag = (tag: string) => ({ etag: tag, "accept-ranges": "bytes" })
      const cut = { ...bytes(200, content.slice(0, 300), etag('"1"')), promised: 1000 }
      const rest = (tag: string, range: string) => ({
        ...bytes(206, content.slice(300), { ...etag(tag), "content-range": range })
      })
      for (const second of [
        bytes(200, content, etag('"2"')),
        rest('"2"', "bytes 300-999/1000"),
        rest('"1"', "bytes 200-999/1000"),
        rest('"1"', "bytes 300-1000/1001"),
        rest('"1"', "nonsense"),
        EmulatorHttp.respond(416, "")
      ]) {
        const reason = yield* reasonOf(read(file)).pipe(
          Effect.provideService(RetryPolicy.RetryPolicy, { ...RetryPolicy.none, transient: Schedule.recurs(1) }),
          (self) => Effect.scoped(Effect.andThen(answers(cut, second), self))
        )
        assert.strictEqual(reason._tag, "Changed")
      }
    }).pipe(Effect.provide(layer))
  )

  it.effect("does not continue a file without a validator: the cut connection is the reason", () =>
    Effect.gen(function* () {
      const [file] = yield* send()
      yield* answers({ ...bytes(200, content.slice(0, 300), { "accept-ranges": "bytes" }), promised: 1000 })
      const error = yield* Effect.flip(read(file))
      assert(error._tag === "DownloadFailed")
      assert.deepInclude(error.reason, { _tag: "Transport", kind: "Reset" })
      assert.strictEqual(error.received, 300)
      assert.isTrue(error.isRetryable)
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("fails with WrongLength if the body has another length than stated", () =>
    Effect.gen(function* () {
      const [file] = yield* send()
      const lying = (length: number) =>
        Effect.scoped(
          Effect.gen(function* () {
            // Without a length in the response, the size of the attachment counts.
            yield* Emulator.intercept((request, handle) =>
              request.path.startsWith("/files/")
                ? Effect.succeed({ ...EmulatorHttp.respond(200, ""), stream: Stream.succeed("x".repeat(length)) })
                : handle
            )
            return yield* reasonOf(Effect.provideService(read(file), RetryPolicy.RetryPolicy, RetryPolicy.none))
          })
        )
      assert.deepInclude(yield* lying(999), { _tag: "WrongLength", received: 999, size: 1000 })
      assert.deepInclude(yield* lying(1001), { _tag: "WrongLength", received: 1001, size: 1000 })
    }).pipe(Effect.provide(layer))
  )

  it.effect("retries failures of the host by RetryPolicy, and no refusals", () =>
    Effect.gen(function* () {
      const [file] = yield* send()
      yield* Emulator.setFaults([{ path: "/files/*", status: 503, times: 2 }])
      const fiber = yield* Effect.forkChild(read(file))
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(yield* Fiber.join(fiber), content)
      yield* Emulator.setFaults([{ path: "/files/*", status: 400 }])
      assert.deepInclude(yield* reasonOf(read(file)), { _tag: "Rejected", status: 400 })
      assert.lengthOf(yield* downloads, 4)
    }).pipe(Effect.provide(layer))
  )

  it.effect("fails with a time-out if no byte arrives", () =>
    Effect.gen(function* () {
      const [file] = yield* send()
      yield* Emulator.setFaults([{ path: "/files/*", delay: 1_000_000 }])
      const failing = reasonOf(read(file, { stallTimeout: "5 seconds" })).pipe(
        Effect.provideService(RetryPolicy.RetryPolicy, RetryPolicy.none)
      )
      const fiber = yield* Effect.forkChild(failing)
      yield* TestClock.adjust("6 seconds")
      assert.deepInclude(yield* Fiber.join(fiber), { _tag: "Transport", kind: "Timeout" })
    }).pipe(Effect.provide(layer))
  )

  it.effect("fails after its time-out although bytes keep arriving", () =>
    Effect.gen(function* () {
      const [audio] = yield* send({ type: "audio" })
      yield* Emulator.intercept((request, handle) =>
        request.path.startsWith("/files/")
          ? Effect.succeed({
              ...EmulatorHttp.respond(200, ""),
              stream: Stream.forever(Stream.fromEffect(Effect.as(Effect.sleep("1 second"), "x")))
            })
          : handle
      )
      const fiber = yield* Effect.forkChild(Effect.flip(read(audio, { timeout: "1 minute" })))
      yield* TestClock.adjust("61 seconds")
      const error = yield* Fiber.join(fiber)
      assert(error._tag === "DownloadFailed")
      assert.deepInclude(error.reason, {
        _tag: "Transport",
        kind: "Timeout",
        detail: "The download took longer than 1m"
      })
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("fails with NoAddress if the platform has no address of the file", () =>
    Effect.gen(function* () {
      const attachment: Attachments.Downloadable = { type: "audio", payload: { token: "none" } }
      assert.strictEqual((yield* reasonOf(read(attachment)))._tag, "NoAddress")
    }).pipe(Effect.provide(layer))
  )

  it.live("does not let fetch follow a redirect", () =>
    Effect.gen(function* () {
      const redirect: Array<string | undefined> = []
      const fetch: typeof globalThis.fetch = (_, init) => {
        redirect.push(init?.redirect)
        return Promise.resolve(new Response(null, { status: 302, headers: { location: "https://evil.example/" } }))
      }
      const reason = yield* reasonOf(read(at("https://files.example.org/a"))).pipe(
        Effect.provide(FetchHttpClient.layer.pipe(Layer.provide(Layer.succeed(FetchHttpClient.Fetch, fetch)))),
        Effect.provideService(FetchHttpClient.Fetch, fetch)
      )
      assert.deepInclude(reason, { _tag: "Redirected", to: "evil.example" })
      assert.deepStrictEqual(redirect, ["manual"])
    }).pipe(Effect.provide(layer))
  )

  it.live("stops the request if the stream is interrupted", () =>
    Effect.gen(function* () {
      const aborted = yield* Deferred.make<void>()
      const started = yield* Deferred.make<void>()
      const fetch: typeof globalThis.fetch = (_, init) => {
        init?.signal?.addEventListener("abort", () => Deferred.doneUnsafe(aborted, Exit.void))
        return Promise.resolve(
          new Response(
            new ReadableStream({
              start: (controller) => controller.enqueue(new Uint8Array(10)),
              pull: () => {
                Deferred.doneUnsafe(started, Exit.void)
              }
            })
          )
        )
      }
      const fiber = yield* Effect.forkChild(
        read({ type: "audio", payload: { token: "a", url: "https://files.example.org/a" } }).pipe(
          Effect.provide(FetchHttpClient.layer),
          Effect.provideService(FetchHttpClient.Fetch, fetch)
        )
      )
      yield* Deferred.await(started)
      yield* Fiber.interrupt(fiber)
      yield* Deferred.await(aborted)
      const exit = yield* Fiber.await(fiber)
      assert.isTrue(Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause))
    }).pipe(Effect.provide(layer))
  )
})

describe("Attachments.open", () => {
  it.effect("returns the size and the type before the content, and continues at a position", () =>
    Effect.gen(function* () {
      const [file] = yield* send()
      const first = yield* Attachments.open(file)
      assert.deepInclude(first, { from: 0, size: 1000, contentType: "application/octet-stream" })
      const from = { received: 400, size: 1000, validator: first.validator! }
      const rest = yield* Attachments.open(file, { from })
      assert.strictEqual(rest.from, 400)
      const chunks = yield* Stream.runCollect(rest.bytes)
      assert.deepStrictEqual(Uint8Array.from(chunks.flatMap((chunk) => [...chunk])), content.slice(400))
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("starts at the beginning if the file has changed since the position", () =>
    Effect.gen(function* () {
      const [file] = yield* send()
      for (const from of [
        { received: 400, size: 1000, validator: '"other"' },
        { received: 400, size: 999, validator: (yield* Attachments.open(file)).validator! },
        { received: 5000, validator: (yield* Attachments.open(file)).validator! }
      ]) {
        const opened = yield* Attachments.open(file, { from })
        assert.strictEqual(opened.from, 0)
        const chunks = yield* Stream.runCollect(opened.bytes)
        assert.lengthOf(
          chunks.flatMap((chunk) => [...chunk]),
          1000
        )
      }
    }).pipe(Effect.scoped, Effect.provide(layer))
  )
})
