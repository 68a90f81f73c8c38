import { Emulator, EmulatorServer } from "@colloquy/testing"
import { assert, describe, it, layer } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { connect, type Socket } from "node:net"
import { makeServer } from "../../../src/emulator/internal/http/nodeServer.ts"
import { liveTest, startJsonLimited } from "../../support/command.ts"
import { lastBody, requestHead, openConnection } from "../../support/sockets.ts"

const server = EmulatorServer.layer().pipe(Layer.provideMerge(Emulator.layer()))

const addresses = EmulatorServer.EmulatorServer.use(Effect.succeed)

/** Lets every request wait, and reports its arrival and its interruption. */
const neverAnswer = Effect.gen(function* () {
  const arrived = yield* Deferred.make<void>()
  const interrupted = yield* Deferred.make<void>()
  yield* Emulator.intercept(() =>
    Deferred.succeed(arrived, undefined).pipe(
      Effect.andThen(Effect.never),
      Effect.onInterrupt(() => Deferred.succeed(interrupted, undefined))
    )
  )
  return {
    arrived: Deferred.await(arrived),
    interrupted: Deferred.await(interrupted)
  }
})

const codeOf = (response: string) => (lastBody(response) as { readonly code?: string }).code

layer(server, { excludeTestServices: true })("NodeServer", (it) => {
  it.effect("interrupts the requests of a connection when it is closed", () =>
    Effect.gen(function* () {
      const { arrived, interrupted } = yield* neverAnswer
      const { socket } = yield* openConnection((yield* addresses).url)
      socket.write(requestHead("GET /me HTTP/1.1"))
      yield* arrived
      socket.destroy()
      yield* interrupted
    }).pipe(Effect.scoped)
  )

  it.effect("accepts a request without the header Host", () =>
    Effect.gen(function* () {
      const { received, socket } = yield* openConnection((yield* addresses).url)
      socket.write(requestHead("GET /me HTTP/1.1", "connection: close"))
      assert.match(yield* received, /^HTTP\/1\.1 200 /)
    })
  )

  it.effect("keeps the headers of each request, and equal ones once", () =>
    Effect.gen(function* () {
      const { received, socket } = yield* openConnection((yield* addresses).url)
      const given = [["x-a: 1"], ["x-a: 1"], ["x-a: 2"], [], ["x-a: 2", "x-b: 3"], ["x-b: 3"]]
      for (const headers of given) socket.write(requestHead("GET /me HTTP/1.1", ...headers))
      socket.write(requestHead("GET /me HTTP/1.1", "connection: close"))
      yield* received
      const kept = (yield* Emulator.requests).slice(-7, -1).map(({ headers }) => headers)
      const lines = kept.map((headers) =>
        ["x-a", "x-b"].flatMap((name) => (headers[name] ? [`${name}: ${headers[name]}`] : []))
      )
      assert.deepStrictEqual(lines, given)
      assert.strictEqual(kept[0], kept[1])
    })
  )

  it.effect.each([
    [
      "has an unknown expectation",
      requestHead("GET /me HTTP/1.1", "expect: foo", "connection: close"),
      417,
      "proto.payload"
    ],
    ["uses the method CONNECT", requestHead("CONNECT a:443 HTTP/1.1"), 405, "method.not.allowed"],
    ["is not HTTP", "no HTTP\r\n\r\n", 400, "proto.payload"]
  ] as const)("answers a request that %s with the error format of its host", ([_, request, status, code]) =>
    Effect.gen(function* () {
      const { uploads, url } = yield* addresses
      const ask = (url: string) =>
        Effect.flatMap(openConnection(url), ({ received, socket }) => {
          socket.write(request)
          return received
        })
      const response = yield* ask(url)
      assert.match(response, new RegExp(`^HTTP/1\\.1 ${status} `))
      assert.strictEqual(codeOf(response), code)
      const ofHost = yield* ask(uploads.file)
      assert.match(ofHost, new RegExp(`^HTTP/1\\.1 ${status} `))
      assert.deepStrictEqual(Object.keys(lastBody(ofHost) as object), ["error_code", "error_data"])
    })
  )

  it.effect("answers 413 to a client that reads only after it has sent its whole body", () =>
    Effect.gen(function* () {
      const { received, socket } = yield* openConnection((yield* addresses).url)
      const size = 40 * 2 ** 20
      socket.pause()
      socket.write(requestHead("POST /messages?user_id=1 HTTP/1.1", `content-length: ${size}`))
      yield* Effect.callback<void>((resume) => {
        socket.write(Buffer.alloc(size, 32), () => resume(Effect.void))
      })
      socket.resume()
      assert.match(yield* received, /^HTTP\/1\.1 413 [^]*proto\.payload/)
    })
  )

  it.effect("sends only one response if the body becomes invalid after the response", () =>
    Effect.gen(function* () {
      const { received, socket } = yield* openConnection((yield* addresses).url)
      socket.write(requestHead("POST /nothing HTTP/1.1", "transfer-encoding: chunked"))
      yield* Effect.callback<void>((resume) => void socket.once("data", () => resume(Effect.void)))
      socket.write("no size\r\n")
      assert.lengthOf((yield* received).match(/HTTP\/1\.1 /g) ?? [], 1)
    })
  )

  it.effect("answers 413 and stops reading if a body does not end", () =>
    Effect.gen(function* () {
      const { received, socket } = yield* openConnection((yield* addresses).url)
      const chunk = `100000\r\n${"a".repeat(2 ** 20)}\r\n`
      let sent = 0
      socket.write(requestHead("PATCH /me/commands HTTP/1.1", "transfer-encoding: chunked"))
      const push = () => {
        while (socket.writable && socket.write(chunk)) sent++
        sent++
      }
      socket.on("drain", push)
      push()
      assert.match(yield* received, /^HTTP\/1\.1 413 /)
      socket.destroy()
      assert.isBelow(sent, 100)
    })
  )
})

const allowed = (response: string) => [
  /^HTTP\/1\.1 (\d+)/.exec(response)?.[1],
  /\r\nallow: ([^\r]*)/i.exec(response)?.[1]
]

layer(server, { excludeTestServices: true })("NodeServer", (it) => {
  const ask = (url: string, line: string) =>
    Effect.flatMap(openConnection(url), ({ received, socket }) => {
      socket.write(requestHead(`${line} HTTP/1.1`, "connection: close"))
      return received
    })

  const opened = Effect.gen(function* () {
    const { uploads, url } = yield* addresses
    const address = (lastBody(yield* ask(url, "POST /uploads?type=file")) as { readonly url: string }).url
    assert.isTrue(address.startsWith(`${uploads.file}/`))
    return { host: uploads.file, path: address.slice(uploads.file.length) }
  })

  it.effect("answers OPTIONS * with all methods of the host", () =>
    Effect.gen(function* () {
      const { uploads, url } = yield* addresses
      const [status, methods] = allowed(yield* ask(url, "OPTIONS *"))
      assert.strictEqual(status, "204")
      const all = ["DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"]
      assert.deepStrictEqual(methods?.split(", ").toSorted(), all)
      assert.deepStrictEqual(allowed(yield* ask(uploads.file, "OPTIONS *")), ["204", "GET, HEAD, POST, OPTIONS"])
    })
  )

  it.effect("lists the methods of an upload address and of an image in the header Allow", () =>
    Effect.gen(function* () {
      const { host, path } = yield* opened
      const methods = "GET, HEAD, POST, OPTIONS"
      assert.deepStrictEqual(allowed(yield* ask(host, `OPTIONS ${path}`)), ["204", methods])
      assert.deepStrictEqual(allowed(yield* ask(host, `PUT ${path}`)), ["405", methods])
      const { uploads } = yield* addresses
      assert.deepStrictEqual(allowed(yield* ask(uploads.image, "OPTIONS /images/1")), ["204", "GET, HEAD, OPTIONS"])
      assert.deepStrictEqual(allowed(yield* ask(uploads.image, "PUT /images/1")), ["405", "GET, HEAD, OPTIONS"])
    })
  )

  it.effect("answers HEAD with the headers of GET and without a body", () =>
    Effect.gen(function* () {
      const { host, path } = yield* opened
      const { uploads, url } = yield* addresses
      const headOf = (response: string) => response.slice(0, response.indexOf("\r\n\r\n")).replace(/date: .*/i, "")
      const targets = [
        [url, "/_emulator/health"],
        [host, path],
        [host, "/nothing"],
        [uploads.image, "/images/1?expires=9999999999999"]
      ] as const
      for (const [at, target] of targets) {
        const ofGet = yield* ask(at, `GET ${target}`)
        const ofHead = yield* ask(at, `HEAD ${target}`)
        assert.strictEqual(headOf(ofHead), headOf(ofGet))
        assert.match(ofHead, /\r\n\r\n$/)
      }
    })
  )
})

describe("makeServer", () => {
  it("sets no time limit for the body of an upload, and 10 seconds for the head", () => {
    const [api, host] = [makeServer("api"), makeServer("file")]
    assert.deepStrictEqual([host.requestTimeout, host.headersTimeout], [0, 10_000])
    assert.deepStrictEqual([api.requestTimeout, api.headersTimeout], [300_000, 10_000])
  })
})

describe("colloquy-emulator with a limit of open files", () => {
  /** Opens connections on which nothing is sent. They are opened in batches, so that the system does not drop any. */
  const openIdle = Effect.fnUntraced(function* (url: string, count: number) {
    const { hostname, port } = new URL(url)
    const sockets: Array<Socket> = []
    yield* Effect.addFinalizer(() => Effect.sync(() => sockets.forEach((socket) => socket.destroy())))
    const open = Effect.callback<void>((resume) => {
      const socket = connect(Number(port), hostname, () => resume(Effect.void))
      sockets.push(socket.on("error", () => resume(Effect.void)).resume())
    })
    yield* Effect.replicateEffect(open, count, { concurrency: 100, discard: true })
    return sockets
  })

  liveTest(
    "answers bots while 1,100 idle connections are open to the API and to an upload host",
    Effect.gen(function* () {
      const { asBot, uploads, url } = yield* startJsonLimited(1024)
      const idle = [...(yield* openIdle(url, 1100)), ...(yield* openIdle(uploads.image, 1100))]
      for (let i = 0; i < 20; i++) assert.strictEqual((yield* asBot("GET", "/me")).status, 200)
      const { url: address } = (yield* asBot("POST", "/uploads?type=image")).body as { readonly url: string }
      assert.isTrue(address.startsWith(uploads.image))
      const { received, socket } = yield* openConnection(address)
      socket.write(requestHead(`OPTIONS ${address.slice(uploads.image.length)} HTTP/1.1`, "connection: close"))
      assert.match(yield* received, /^HTTP\/1\.1 204 /)
      yield* Effect.callback<void>((resume) => {
        const check = () => {
          const closed = idle.filter((socket) => socket.closed).length
          if (closed >= 2200 - 512 - 64) resume(Effect.void)
        }
        idle.forEach((socket) => socket.on("close", check))
        check()
      })
    })
  )
})
