import { RetryPolicy, UploadError, Uploads, UploadSource } from "@colloquy/core"
import { NodeBot, NodeBotHttpClient, NodeUploads } from "@colloquy/node"
import { Emulator, EmulatorServer } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { randomBytes } from "node:crypto"
import { closeSync, openSync, writeSync } from "node:fs"
import { utimes } from "node:fs/promises"
import type { IncomingMessage } from "node:http"
import { join } from "node:path"
import * as Certificates from "../support/certificates.ts"
import * as Servers from "../support/servers.ts"
import {
  digestHost,
  digestOf,
  makeSparseFile,
  megabyte,
  readWithPauses,
  tempFolder,
  writeTempFile
} from "../support/uploads.ts"

const emulator = EmulatorServer.layer().pipe(Layer.provideMerge(Emulator.layer({ token: "token" })))

const onEmulator = <A, E, R>(self: Effect.Effect<A, E, R>) =>
  Effect.flatMap(EmulatorServer.EmulatorServer, ({ url }) =>
    Effect.provide(self, NodeBot.layer({ token: "token", baseUrl: url }))
  ).pipe(Effect.provide(emulator))

const methods = ["multipart", "resumable"] as const

describe("NodeUploads.fromPath", () => {
  it.live.each(methods)("uploads a file under its name, by %s", (method) =>
    Effect.gen(function* () {
      const source = NodeUploads.fromPath(yield* makeSparseFile(64 * megabyte, "Отчёт «100%».bin"))
      yield* onEmulator(
        Effect.gen(function* () {
          yield* Uploads.upload({ type: "file", source, method })
          const requests = (yield* Emulator.requests).filter(({ path }) => path.startsWith("/upload/"))
          assert.lengthOf(requests, method === "multipart" ? 1 : 32)
          assert.isTrue(requests.every(({ headers }) => headers["authorization"] === undefined))
        })
      )
    })
  )

  it.live.each(methods)("uploads files unchanged, concurrently and to a slow reader, by %s", (method) =>
    Effect.gen(function* () {
      const baseUrl = yield* Servers.serve(digestHost(readWithPauses))
      const contents = Array.from({ length: 4 }, (_, at) => randomBytes(12 * megabyte + at * 12_345))
      const uploads = contents.map((content) =>
        Effect.gen(function* () {
          const source = NodeUploads.fromPath(yield* writeTempFile(content))
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

  it.live("uploads a file unchanged over TLS with an extra CA, through a proxy", () =>
    Effect.gen(function* () {
      const root = yield* Certificates.makeRoot("Test Root")
      const leaf = yield* Certificates.makeLeaf(root)
      const baseUrl = yield* Servers.serveTls(leaf, [], digestHost(readWithPauses))
      const proxy = yield* Servers.serveProxy()
      const content = randomBytes(10 * megabyte)
      const source = NodeUploads.fromPath(yield* writeTempFile(content))
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

  it.live("resumes after a lost connection", () =>
    Effect.gen(function* () {
      const source = NodeUploads.fromPath(yield* makeSparseFile(20 * megabyte))
      yield* onEmulator(
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

  it.live("resumes only while the size and the modification time are the same", () =>
    Effect.gen(function* () {
      const path = yield* makeSparseFile(3 * megabyte)
      const source = NodeUploads.fromPath(path)
      yield* onEmulator(
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

  it.live.each(methods)("fails if the file is rewritten in place while it is sent, by %s", (method) =>
    Effect.gen(function* () {
      const path = yield* makeSparseFile(64 * megabyte)
      let requests = 0
      const host = digestHost(() => {
        if (requests++ > 0) return
        const file = openSync(path, "r+")
        writeSync(file, "other")
        closeSync(file)
      })
      const baseUrl = yield* Servers.serve(host)
      const upload = Uploads.upload({ type: "file", source: NodeUploads.fromPath(path), method })
      const error = yield* Effect.flip(Effect.provide(upload, NodeBot.layer({ token: "token", baseUrl })))
      assert.include(error.message, `the file ${path} was changed while it was read`)
    })
  )

  it.live("closes the connection when the upload is interrupted", () =>
    Effect.gen(function* () {
      const arrived = yield* Deferred.make<void>()
      const closed = yield* Deferred.make<void>()
      const digest = digestHost()
      const baseUrl = yield* Servers.serve((request, response) => {
        if (request.url?.startsWith("/uploads")) return digest(request, response)
        // The server notices the closed connection only while it reads.
        request.on("data", () => Deferred.doneUnsafe(arrived, Effect.void))
        response.on("close", () => Deferred.doneUnsafe(closed, Effect.void))
      })
      const source = NodeUploads.fromPath(yield* makeSparseFile(64 * megabyte))
      const uploading = yield* Uploads.upload({ type: "file", source, method: "multipart" }).pipe(
        Effect.provide(NodeBot.layer({ token: "token", baseUrl })),
        Effect.forkChild
      )
      yield* Deferred.await(arrived)
      yield* Fiber.interrupt(uploading)
      yield* Deferred.await(closed)
    })
  )

  it.live("fails with the path of a file that does not exist", () =>
    Effect.gen(function* () {
      const path = join(yield* tempFolder, "nothing.mp4")
      const error = yield* onEmulator(
        Effect.flip(Uploads.upload({ type: "video", source: NodeUploads.fromPath(path) }))
      )
      assert.strictEqual(error._tag, "UploadFailed")
      assert.include(error.message, path)
    })
  )
})

describe("time-outs of NodeBotHttpClient", () => {
  const slowStream = (chunks: number) =>
    UploadSource.stream(
      Stream.range(1, chunks).pipe(
        Stream.mapEffect(() => Effect.delay(Effect.succeed(new Uint8Array(100_000)), "50 millis"))
      )
    )

  it.live("do not apply the call time-out to an upload", () =>
    Effect.gen(function* () {
      const baseUrl = yield* Servers.serve(digestHost())
      const bot = NodeBot.layer({ token: "token", baseUrl, callTimeout: "200 millis" })
      const upload = Uploads.upload({ type: "file", source: slowStream(20) })
      assert.strictEqual((yield* Effect.provide(upload, bot)).type, "file")
    })
  )

  it.live("end an upload whose host stops responding", () =>
    Effect.gen(function* () {
      const digest = digestHost()
      const baseUrl = yield* Servers.serve((request, response) => {
        if (request.url?.startsWith("/uploads")) digest(request, response)
      })
      const error = yield* Uploads.upload({ type: "file", source: slowStream(1), stallTimeout: "300 millis" }).pipe(
        Effect.provide(NodeBot.layer({ token: "token", baseUrl })),
        Effect.flip
      )
      assert.instanceOf(error, UploadError.UploadFailed)
      assert.deepInclude(error.reason, { _tag: "Transport", kind: "Timeout" })
    })
  )
})

describe("UploadSource.url", () => {
  it.live("streams the file with its size, under the last segment of its path", () =>
    Effect.gen(function* () {
      const content = randomBytes(3 * megabyte)
      const there = yield* Servers.serve((_, response) => {
        response.writeHead(200, { "content-length": content.length }).end(content)
      })
      const url = yield* Servers.serve((request, response) => {
        response.writeHead(302, { location: `${there}${request.url}` }).end()
      })
      const baseUrl = yield* Servers.serve(digestHost())
      const source = UploadSource.url(`${url}/videos/%D1%84.mp4?size=large`)
      assert.strictEqual(source.name, "ф.mp4")
      const attachment = yield* Effect.provide(
        Uploads.upload({ type: "file", source }),
        NodeBot.layer({ token: "token", baseUrl })
      )
      assert.deepStrictEqual(attachment.payload, { token: digestOf(content) })
    })
  )

  it.live("discloses nothing about the bot to the server", () =>
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
