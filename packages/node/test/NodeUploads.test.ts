import { RetryPolicy, UploadError, Uploads, UploadSource } from "@colloquy/core"
import { NodeBot, NodeBotHttpClient, NodeUploads } from "@colloquy/node"
import { Emulator, EmulatorServer } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { createHash, randomBytes } from "node:crypto"
import { mkdtemp, rm, truncate, utimes, writeFile } from "node:fs/promises"
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Certificates from "./support/certificates.ts"
import * as Servers from "./support/servers.ts"

const megabyte = 2 ** 20

const folder = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "uploads-"))),
  (path) => Effect.promise(() => rm(path, { recursive: true }))
)

const fileWith = Effect.fnUntraced(function* (content: Uint8Array, name = "film.mp4") {
  const path = join(yield* folder, name)
  yield* Effect.promise(() => writeFile(path, content))
  return path
})

/** A file that takes no room on the disk. */
const sparse = Effect.fnUntraced(function* (size: number, name?: string) {
  const path = yield* fileWith(new Uint8Array(), name)
  yield* Effect.promise(() => truncate(path, size))
  return path
})

const platform = EmulatorServer.layer().pipe(Layer.provideMerge(Emulator.layer({ token: "token" })))

const onPlatform = <A, E, R>(self: Effect.Effect<A, E, R>) =>
  Effect.flatMap(EmulatorServer.EmulatorServer, ({ url }) =>
    Effect.provide(self, NodeBot.layer({ token: "token", baseUrl: url }))
  ).pipe(Effect.provide(platform))

const digestOf = (content: Uint8Array) => createHash("sha256").update(content).digest("hex")

/** An upload host that answers with the digest of what came, and the address of its uploads, whatever is asked. */
const digesting = (pace: (request: IncomingMessage) => void = () => {}): RequestListener => {
  const hashes = new Map<string, ReturnType<typeof createHash>>()
  let last = 0
  return (request: IncomingMessage, response: ServerResponse) => {
    const { headers, url = "" } = request
    if (url.startsWith("/uploads")) {
      const scheme = "encrypted" in request.socket ? "https" : "http"
      return void response.end(JSON.stringify({ url: `${scheme}://${headers.host}/upload/${++last}` }))
    }
    const hash = hashes.get(url) ?? createHash("sha256")
    hashes.set(url, hash)
    const [, to, size] = /^bytes \d+-(\d+)\/(\d+)$/.exec(headers["content-range"] ?? "") ?? []
    const boundary = /boundary=(.*)$/.exec(headers["content-type"] ?? "")?.[1]
    const pieces: Array<Buffer> = []
    pace(request)
    request.on("data", (piece: Buffer) => pieces.push(Buffer.from(piece)))
    request.on("end", () => {
      const body = Buffer.concat(pieces)
      const from = boundary === undefined ? 0 : body.indexOf("\r\n\r\n") + 4
      const end = boundary === undefined ? body.length : body.lastIndexOf(`\r\n--${boundary}--`)
      hash.update(body.subarray(from, end))
      if (to !== undefined && Number(to) + 1 < Number(size)) response.writeHead(201).end(`0-${to}/${size}`)
      else response.end(JSON.stringify({ token: hash.digest("hex") }))
    })
  }
}

/** Reads in fits and starts, so that the sender's socket cannot pass on what it was given. */
const haltingly = (request: IncomingMessage) => {
  let pause = 300
  request.on("data", () => {
    request.pause()
    setTimeout(() => request.resume(), pause)
    pause = 1
  })
}

const methods = ["multipart", "resumable"] as const

describe("a file by its path", () => {
  it.live.each(methods)("arrives under its name, by %s", (method) =>
    Effect.gen(function* () {
      const source = NodeUploads.fromPath(yield* sparse(64 * megabyte, "Отчёт «100%».bin"))
      yield* onPlatform(
        Effect.gen(function* () {
          yield* Uploads.upload({ type: "file", source, method })
          const requests = (yield* Emulator.requests).filter(({ path }) => path.startsWith("/upload/"))
          assert.lengthOf(requests, method === "multipart" ? 1 : 32)
          assert.isTrue(requests.every(({ headers }) => headers["authorization"] === undefined))
        })
      )
    })
  )

  it.live.each(methods)("arrives as it is, many at once and read in fits and starts, by %s", (method) =>
    Effect.gen(function* () {
      const baseUrl = yield* Servers.serve(digesting(haltingly))
      const contents = Array.from({ length: 4 }, (_, at) => randomBytes(12 * megabyte + at * 12_345))
      const uploads = contents.map((content) =>
        Effect.gen(function* () {
          const source = NodeUploads.fromPath(yield* fileWith(content))
          const attachment = yield* Uploads.upload({ type: "file", source, method, partSize: 11 * megabyte + 17 })
          assert.deepStrictEqual(attachment.payload, { token: digestOf(content) })
        })
      )
      yield* Effect.provide(
        Effect.all(uploads, { concurrency: "unbounded" }),
        NodeBot.layer({ token: "token", baseUrl })
      )
    })
  )

  it.live("arrives as it is over TLS with an extra root, through a proxy", () =>
    Effect.gen(function* () {
      const root = yield* Certificates.makeRoot("Test Root")
      const leaf = yield* Certificates.makeLeaf(root)
      const baseUrl = yield* Servers.serveTls(leaf, [], digesting(haltingly))
      const proxy = yield* Servers.serveProxy()
      const content = randomBytes(10 * megabyte)
      const source = NodeUploads.fromPath(yield* fileWith(content))
      const bot = NodeBot.layer({
        token: "token",
        baseUrl,
        extraCa: root.pem,
        proxy: `http://${proxy.address}`
      })
      for (const method of methods) {
        const attachment = yield* Effect.provide(Uploads.upload({ type: "file", source, method }), bot)
        assert.deepStrictEqual(attachment.payload, { token: digestOf(content) })
      }
      assert.isAtLeast(proxy.tunnels.length, 2)
      assert.lengthOf(proxy.plainRequests, 0)
    })
  )

  it.live("goes on where the connection broke", () =>
    Effect.gen(function* () {
      const source = NodeUploads.fromPath(yield* sparse(20 * megabyte))
      yield* onPlatform(
        Effect.gen(function* () {
          yield* Emulator.addFault({ method: "POST", path: "/upload/*", nth: 4, reset: "before" })
          yield* Uploads.upload({ type: "file", source })
          const requests = yield* Emulator.requests
          assert.lengthOf(
            requests.filter(({ path }) => path === "/uploads"),
            1
          )
          assert.lengthOf(
            requests.filter(({ method }) => method === "GET"),
            1
          )
        })
      )
    })
  )

  it.live("goes on only as long as it stays as it is", () =>
    Effect.gen(function* () {
      const path = yield* sparse(3 * megabyte)
      const source = NodeUploads.fromPath(path)
      yield* onPlatform(
        Effect.gen(function* () {
          yield* Emulator.addFault({ method: "POST", path: "/upload/*", nth: 2, reset: "before" })
          const broken = Uploads.upload({ type: "file", source, method: "resumable", partSize: megabyte })
          const error = yield* Effect.flip(RetryPolicy.override(broken, RetryPolicy.none))
          assert.instanceOf(error, UploadError.UploadFailed)
          const saved = error.saved!
          yield* Uploads.upload({ saved, source: NodeUploads.fromPath(path) })
          yield* Effect.promise(() => utimes(path, 1, 1))
          const changed = yield* Effect.flip(Uploads.upload({ saved, source: NodeUploads.fromPath(path) }))
          assert.strictEqual((changed as UploadError.UploadFailed).reason._tag, "SourceMismatch")
        })
      )
    })
  )

  it.live("closes its connection when its upload is interrupted", () =>
    Effect.gen(function* () {
      const arrived = yield* Deferred.make<void>()
      const closed = yield* Deferred.make<void>()
      const digest = digesting()
      const baseUrl = yield* Servers.serve((request, response) => {
        if (request.url?.startsWith("/uploads")) return digest(request, response)
        // It reads on, without an answer: who does not read does not see that the other side has gone.
        request.on("data", () => Deferred.doneUnsafe(arrived, Effect.void))
        response.on("close", () => Deferred.doneUnsafe(closed, Effect.void))
      })
      const source = NodeUploads.fromPath(yield* sparse(64 * megabyte))
      const uploading = yield* Uploads.upload({ type: "file", source, method: "multipart" }).pipe(
        Effect.provide(NodeBot.layer({ token: "token", baseUrl })),
        Effect.forkChild
      )
      yield* Deferred.await(arrived)
      yield* Fiber.interrupt(uploading)
      yield* Deferred.await(closed)
    })
  )

  it.live("that is not there is an error of the source, with its path", () =>
    Effect.gen(function* () {
      const path = join(yield* folder, "nothing.mp4")
      const error = yield* onPlatform(
        Effect.flip(Uploads.upload({ type: "video", source: NodeUploads.fromPath(path) }))
      )
      assert.strictEqual(error._tag, "UploadFailed")
      assert.include(error.message, path)
    })
  )
})

describe("the time-outs of the client", () => {
  const slowly = (pieces: number) =>
    UploadSource.stream(
      Stream.range(1, pieces).pipe(
        Stream.mapEffect(() => Effect.delay(Effect.succeed(new Uint8Array(100_000)), "50 millis"))
      )
    )

  it.live("do not cut an upload that takes longer than a call may", () =>
    Effect.gen(function* () {
      const baseUrl = yield* Servers.serve(digesting())
      const bot = NodeBot.layer({ token: "token", baseUrl, callTimeout: "200 millis" })
      const upload = Uploads.upload({ type: "file", source: slowly(20) })
      assert.strictEqual((yield* Effect.provide(upload, bot)).type, "file")
    })
  )

  it.live("end an upload whose host falls silent", () =>
    Effect.gen(function* () {
      const digest = digesting()
      const baseUrl = yield* Servers.serve((request, response) => {
        if (request.url?.startsWith("/uploads")) digest(request, response)
      })
      const error = yield* Uploads.upload({ type: "file", source: slowly(1), stallTimeout: "300 millis" }).pipe(
        Effect.provide(NodeBot.layer({ token: "token", baseUrl })),
        Effect.flip
      )
      assert.instanceOf(error, UploadError.UploadFailed)
      assert.deepInclude(error.reason, { _tag: "Transport", kind: "Timeout" })
    })
  )
})

describe("another address", () => {
  it.live("is streamed through with its size, and called like its last part", () =>
    Effect.gen(function* () {
      const content = randomBytes(3 * megabyte)
      const there = yield* Servers.serve((_, response) => {
        response.writeHead(200, { "content-length": content.length }).end(content)
      })
      const url = yield* Servers.serve((request, response) => {
        response.writeHead(302, { location: `${there}${request.url}` }).end()
      })
      const baseUrl = yield* Servers.serve(digesting())
      const source = UploadSource.url(`${url}/films/%D1%84.mp4?size=large`)
      assert.strictEqual(source.name, "ф.mp4")
      const attachment = yield* Effect.provide(
        Uploads.upload({ type: "file", source }),
        NodeBot.layer({ token: "token", baseUrl })
      )
      assert.deepStrictEqual(attachment.payload, { token: digestOf(content) })
    })
  )

  it.live("gets nothing of the bot", () =>
    Effect.gen(function* () {
      const seen: Array<IncomingMessage["headers"]> = []
      const url = yield* Servers.serve((request, response) => {
        seen.push(request.headers)
        response.end("content")
      })
      const { open } = UploadSource.url(url)
      yield* Effect.scoped(open).pipe(Effect.withSpan("outside"), Effect.provide(NodeBotHttpClient.layer()))
      assert.notProperty(seen[0], "authorization")
      assert.notProperty(seen[0], "traceparent")
    })
  )
})

describe("the memory of pieces", () => {
  it.live("belongs to whoever keeps it, with any other client", () =>
    Effect.gen(function* () {
      const content = randomBytes(4 * megabyte)
      const kept: Array<Uint8Array> = []
      const opened = yield* NodeUploads.fromPath(yield* fileWith(content)).open
      yield* Stream.runForEach(opened.read(0, content.length), (piece) => Effect.sync(() => kept.push(piece)))
      assert.strictEqual(digestOf(Buffer.concat(kept)), digestOf(content))
    }).pipe(Effect.provide(NodeBotHttpClient.layer()))
  )

  it.live("of a user's own stream is not touched", () =>
    Effect.gen(function* () {
      const baseUrl = yield* Servers.serve(digesting())
      const own = Buffer.alloc(2 ** 18, 7)
      const source = UploadSource.stream(Stream.make(own, own, own))
      const content = randomBytes(4 * megabyte)
      const file = NodeUploads.fromPath(yield* fileWith(content))
      const bot = NodeBot.layer({ token: "token", baseUrl })
      yield* Effect.provide(
        Effect.andThen(Uploads.upload({ type: "file", source }), Uploads.upload({ type: "file", source: file })),
        bot
      )
      assert.isTrue(own.every((byte) => byte === 7))
    })
  )
})
