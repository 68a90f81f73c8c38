import { Attachments, Me, RetryPolicy } from "@colloquy/core"
import { NodeBot, NodeDownloads } from "@colloquy/node"
import { Emulator, EmulatorServer } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import { randomBytes } from "node:crypto"
import dns from "node:dns"
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http"
import { join } from "node:path"
import * as Servers from "../support/servers.ts"
import { megabyte, tempFolder } from "../support/uploads.ts"

const content = randomBytes(3 * megabyte + 123)

const bot = NodeBot.layer({ token: "secret-token", baseUrl: "https://api.example" })

/** Runs with a bot that may download from the local servers of the tests, without retries. */
const onLocalhost = <A, E, R>(self: Effect.Effect<A, E, R>) =>
  self.pipe(
    Effect.provideService(Attachments.PrivateHosts, ["localhost"]),
    Effect.provideService(RetryPolicy.RetryPolicy, RetryPolicy.none),
    Effect.provide(bot)
  )

const atOnce = { ...RetryPolicy.none, transient: Schedule.recurs(3) }

const fileAt = (url: string, token = "token"): Attachments.Downloadable => ({ type: "audio", payload: { url, token } })

const reasonOf = <A, E, R>(self: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(self), (error) => {
    const failed = error as unknown as Attachments.DownloadErrors
    assert(failed._tag === "DownloadFailed", String(error))
    return failed.reason
  })

interface Host {
  etag: string | undefined
  content: Buffer
  /** Breaks each response after so many bytes of the body. */
  cutAfter: number | undefined
  readonly requests: Array<IncomingMessage>
}

/** A host that serves ranges, and breaks connections. */
const rangeHost = (): Host & { readonly listener: RequestListener } => {
  const host: Host = { etag: '"1"', content, cutAfter: undefined, requests: [] }
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    host.requests.push(request)
    const { "if-range": ifRange, range } = request.headers
    const size = host.content.byteLength
    const isRange = range !== undefined && ifRange === host.etag
    const from = isRange ? Number(/^bytes=(\d+)-$/.exec(range)![1]) : 0
    response.writeHead(isRange ? 206 : 200, {
      "content-length": size - from,
      "accept-ranges": "bytes",
      ...(host.etag === undefined ? {} : { etag: host.etag }),
      ...(isRange ? { "content-range": `bytes ${from}-${size - 1}/${size}` } : {})
    })
    if (host.cutAfter === undefined) return void response.end(host.content.subarray(from))
    response.write(host.content.subarray(from, from + host.cutAfter), () =>
      setImmediate(() => request.socket.destroy())
    )
  }
  return Object.assign(host, { listener })
}

const download = (attachment: Attachments.Downloadable, options?: Attachments.DownloadOptions) =>
  Effect.map(Stream.runCollect(Attachments.download(attachment, options)), (chunks) => Buffer.concat([...chunks]))

describe("NodeDownloads.toFile", () => {
  it.live("continues a partial file in the next call, and renames the file at the end", () =>
    Effect.gen(function* () {
      const host = rangeHost()
      const url = yield* Servers.serve(host.listener)
      const path = join(yield* tempFolder, "photo.jpg")
      const attempt = NodeDownloads.toFile(fileAt(url), path)
      host.cutAfter = megabyte
      assert.deepInclude(yield* reasonOf(attempt), { _tag: "Transport", kind: "Reset" })
      assert.isFalse(existsSync(path))
      assert.deepStrictEqual(readFileSync(`${path}.part`), content.subarray(0, megabyte))
      host.cutAfter = undefined
      yield* attempt
      assert.deepStrictEqual(readFileSync(path), content)
      assert.deepStrictEqual(readdirSync(join(path, "..")), ["photo.jpg"])
      assert.deepStrictEqual(
        host.requests.map(({ headers }) => headers.range),
        [undefined, `bytes=${megabyte}-`]
      )
      assert.isTrue(host.requests.every(({ headers }) => headers.authorization === undefined))
    }).pipe(Effect.scoped, onLocalhost)
  )

  it.live("starts over if the file, the attachment or the validator has changed since the last call", () =>
    Effect.gen(function* () {
      const changes: ReadonlyArray<(host: Host) => string> = [
        (host) => {
          host.etag = '"2"'
          host.content = randomBytes(content.byteLength)
          return "token"
        },
        (host) => {
          host.content = randomBytes(2 * megabyte)
          return "token"
        },
        (host) => {
          host.content = randomBytes(content.byteLength)
          return "other-token"
        },
        (host) => {
          host.etag = undefined
          return "token"
        }
      ]
      for (const change of changes) {
        const host = rangeHost()
        const url = yield* Servers.serve(host.listener)
        const path = join(yield* tempFolder, "a")
        host.cutAfter = megabyte
        yield* Effect.flip(NodeDownloads.toFile(fileAt(url), path))
        host.cutAfter = undefined
        const token = change(host)
        yield* NodeDownloads.toFile(fileAt(url, token), path)
        assert.isTrue(readFileSync(path).equals(host.content))
      }
    }).pipe(Effect.scoped, onLocalhost)
  )

  it.live("starts over if the file changes while it is downloaded", () =>
    Effect.gen(function* () {
      const host = rangeHost()
      const url = yield* Servers.serve((request, response) => {
        if (host.requests.length === 1) {
          host.etag = '"2"'
          host.content = randomBytes(megabyte)
          host.cutAfter = undefined
        }
        host.listener(request, response)
      })
      host.cutAfter = megabyte
      const path = join(yield* tempFolder, "a")
      yield* Effect.provideService(NodeDownloads.toFile(fileAt(url), path), RetryPolicy.RetryPolicy, atOnce)
      assert.isTrue(readFileSync(path).equals(host.content))
      assert.lengthOf(host.content, megabyte)
    }).pipe(Effect.scoped, onLocalhost)
  )

  it.live("renames a partial file that is complete, without a request", () =>
    Effect.gen(function* () {
      const host = rangeHost()
      const url = yield* Servers.serve(host.listener)
      const path = join(yield* tempFolder, "a")
      // A folder has the name, so the file cannot be renamed.
      mkdirSync(path)
      writeFileSync(join(path, "full"), "")
      const error = yield* Effect.flip(NodeDownloads.toFile(fileAt(url), path))
      assert.strictEqual(error._tag, "PlatformError")
      rmSync(path, { recursive: true })
      yield* NodeDownloads.toFile(fileAt(url), path)
      assert.deepStrictEqual(readFileSync(path), content)
      assert.lengthOf(host.requests, 1)
    }).pipe(Effect.scoped, onLocalhost)
  )

  it.live("leaves nothing of a file that is too large", () =>
    Effect.gen(function* () {
      const url = yield* Servers.serve((_, response) => {
        response.writeHead(200)
        const send = (): void => {
          while (response.write(Buffer.alloc(65_536))) continue
          response.once("drain", send)
        }
        send()
      })
      const folder = yield* tempFolder
      const reason = yield* reasonOf(NodeDownloads.toFile(fileAt(url), join(folder, "a"), { maxSize: megabyte }))
      assert.deepInclude(reason, { _tag: "TooLarge", maxSize: megabyte })
      assert.deepStrictEqual(readdirSync(folder), [])
    }).pipe(Effect.scoped, onLocalhost)
  )
})

describe("a download on Node", () => {
  it.live("continues on a cut connection", () =>
    Effect.gen(function* () {
      const host = rangeHost()
      host.cutAfter = megabyte
      const url = yield* Servers.serve(host.listener)
      const received = yield* Effect.provideService(download(fileAt(url)), RetryPolicy.RetryPolicy, atOnce)
      assert.deepStrictEqual(received, content)
      assert.lengthOf(host.requests, 4)
    }).pipe(Effect.scoped, onLocalhost)
  )

  it.live("fails if the host states a length that is too long or too short", () =>
    Effect.gen(function* () {
      const lying = (length: number) =>
        Effect.flatMap(
          Servers.serve((_, response) => {
            response.socket!.end(
              `HTTP/1.1 200 OK\r\ncontent-length: ${length}\r\nconnection: close\r\n\r\n${"x".repeat(1000)}`
            )
          }),
          (url) => download(fileAt(url))
        )
      assert.deepInclude(yield* reasonOf(lying(1001)), { _tag: "Transport", kind: "Reset" })
      // HTTP ends the body at the stated length: the rest belongs to no response.
      const short = yield* Effect.exit(lying(999))
      assert.isTrue(Exit.isFailure(short) || short.value.byteLength === 999)
      assert.deepInclude(yield* reasonOf(lying(999_999_999_999)), { _tag: "TooLarge", size: 999_999_999_999 })
    }).pipe(Effect.scoped, onLocalhost)
  )

  it.live("closes the connection if the stream is interrupted, ends early, or is not read", () =>
    Effect.gen(function* () {
      const closed = yield* Effect.forEach([0, 1, 2], () => Deferred.make<void>())
      const started = yield* Deferred.make<void>()
      let count = 0
      const url = yield* Servers.serve((_, response) => {
        const at = count++
        response.on("close", () => Deferred.doneUnsafe(closed[at], Exit.void))
        response.writeHead(200).write("x".repeat(1000))
      })
      const fiber = yield* Attachments.download(fileAt(url)).pipe(
        Stream.tap(() => Deferred.succeed(started, undefined)),
        Stream.runDrain,
        Effect.forkChild
      )
      yield* Deferred.await(started)
      yield* Fiber.interrupt(fiber)
      yield* Deferred.await(closed[0])
      yield* Stream.runDrain(Stream.take(Attachments.download(fileAt(url)), 1))
      yield* Deferred.await(closed[1])
      yield* Effect.scoped(Attachments.open(fileAt(url)))
      yield* Deferred.await(closed[2])
    }).pipe(Effect.scoped, onLocalhost)
  )

  it.live.each([
    [["127.0.0.1"]],
    [["8.8.8.8", "10.0.0.1"]],
    [["::ffff:127.0.0.1"]],
    [["fe80::1%eth0"]],
    [["::1", "127.0.0.1"]],
    [["64:ff9b::7f00:1"]]
  ])("opens no connection to a name whose addresses are %s", ([addresses]) =>
    Effect.gen(function* () {
      const connections: Array<unknown> = []
      const origin = yield* Servers.serve((request, response) => {
        connections.push(request)
        response.end()
      })
      const { port } = new URL(origin)
      yield* Effect.acquireRelease(
        Effect.sync(() => {
          const { lookup } = dns
          Object.assign(dns, {
            lookup: (_: string, options: dns.LookupAllOptions, done: (error: null, found: unknown) => void) => {
              const found = addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }))
              done(null, options.all ? found : found[0].address)
            }
          })
          return lookup
        }),
        (lookup) => Effect.sync(() => Object.assign(dns, { lookup }))
      )
      const reason = yield* reasonOf(download(fileAt(`https://files.attacker.example:${port}/a`)))
      assert.deepInclude(reason, { _tag: "AddressRefused", problem: "Private", host: "files.attacker.example" })
      assert.lengthOf(connections, 0)
    }).pipe(Effect.scoped, onLocalhost)
  )

  it.live("downloads from the emulator on a port only if its host is named", () =>
    Effect.gen(function* () {
      const { url } = yield* EmulatorServer.EmulatorServer
      const ann = yield* Emulator.user("Ann")
      yield* Effect.gen(function* () {
        // The addresses of files have the host by which the bot has reached the emulator.
        yield* Me.get()
        const { body } = yield* ann.send("", { attachments: [{ type: "image", content }] })
        const photo = body!.attachments![0] as Attachments.Downloadable
        assert.deepInclude(yield* reasonOf(download(photo)), { _tag: "AddressRefused", problem: "Insecure" })
        const found = yield* download(photo, { message_id: body!.mid }).pipe(
          Effect.provideService(Attachments.PrivateHosts, [new URL(url).hostname])
        )
        assert.deepStrictEqual(found, content)
      }).pipe(Effect.provide(NodeBot.layer({ token: "token", baseUrl: url })))
    }).pipe(Effect.provide(EmulatorServer.layer().pipe(Layer.provideMerge(Emulator.layer({ token: "token" })))))
  )
})
