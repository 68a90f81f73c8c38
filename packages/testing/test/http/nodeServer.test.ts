import { Emulator, EmulatorServer } from "@colloquy/testing"
import { assert, describe, it, layer } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { connect } from "node:net"
import { makeServer } from "../../src/internal/http/nodeServer.ts"
import { live, openLimited } from "../support/command.ts"
import { bodyIn, headOf, talkTo } from "../support/sockets.ts"

const server = EmulatorServer.layer().pipe(Layer.provideMerge(Emulator.layer()))

const addresses = EmulatorServer.EmulatorServer.use(Effect.succeed)

/** No answer comes. */
const held = Effect.gen(function* () {
  const arrived = yield* Deferred.make<void>()
  const left = yield* Deferred.make<void>()
  yield* Emulator.intercept(() =>
    Deferred.succeed(arrived, undefined).pipe(
      Effect.andThen(Effect.never),
      Effect.onInterrupt(() => Deferred.succeed(left, undefined))
    )
  )
  return {
    arrived: Deferred.await(arrived),
    left: Deferred.await(left)
  }
})

const codeIn = (answer: string) => (bodyIn(answer) as { readonly code?: string }).code

layer(server, { excludeTestServices: true })("a connection", (it) => {
  it.effect("that is gone interrupts what it had asked for", () =>
    Effect.gen(function* () {
      const { arrived, left } = yield* held
      const { socket } = yield* talkTo((yield* addresses).url)
      socket.write(headOf("GET /me HTTP/1.1"))
      yield* arrived
      socket.destroy()
      yield* left
    }).pipe(Effect.scoped)
  )

  it.effect("is served without Host", () =>
    Effect.gen(function* () {
      const { answer, socket } = yield* talkTo((yield* addresses).url)
      socket.write(headOf("GET /me HTTP/1.1", "connection: close"))
      assert.match(yield* answer, /^HTTP\/1\.1 200 /)
    })
  )

  it.effect.each([
    ["expects what cannot be", headOf("GET /me HTTP/1.1", "expect: foo", "connection: close"), 417, "proto.payload"],
    ["takes the server for a proxy", headOf("CONNECT a:443 HTTP/1.1"), 405, "method.not.allowed"],
    ["is no HTTP", "no HTTP\r\n\r\n", 400, "proto.payload"]
  ] as const)("that %s is answered in the shape of its host", ([_, request, status, code]) =>
    Effect.gen(function* () {
      const { uploads, url } = yield* addresses
      const ask = (url: string) =>
        Effect.flatMap(talkTo(url), ({ answer, socket }) => {
          socket.write(request)
          return answer
        })
      const answer = yield* ask(url)
      assert.match(answer, new RegExp(`^HTTP/1\\.1 ${status} `))
      assert.strictEqual(codeIn(answer), code)
      const ofHost = yield* ask(uploads.file)
      assert.match(ofHost, new RegExp(`^HTTP/1\\.1 ${status} `))
      assert.deepStrictEqual(Object.keys(bodyIn(ofHost) as object), ["error_code", "error_data"])
    })
  )

  it.effect("that writes all of a body first gets to know that it is too large", () =>
    Effect.gen(function* () {
      const { answer, socket } = yield* talkTo((yield* addresses).url)
      const size = 40 * 2 ** 20
      socket.pause()
      socket.write(headOf("POST /messages?user_id=1 HTTP/1.1", `content-length: ${size}`))
      yield* Effect.callback<void>((resume) => {
        socket.write(Buffer.alloc(size, 32), () => resume(Effect.void))
      })
      socket.resume()
      assert.match(yield* answer, /^HTTP\/1\.1 413 [^]*proto\.payload/)
    })
  )

  it.effect("on which a body breaks after its answer gets no second one", () =>
    Effect.gen(function* () {
      const { answer, socket } = yield* talkTo((yield* addresses).url)
      socket.write(headOf("POST /nothing HTTP/1.1", "transfer-encoding: chunked"))
      yield* Effect.callback<void>((resume) => void socket.once("data", () => resume(Effect.void)))
      socket.write("no size\r\n")
      assert.lengthOf((yield* answer).match(/HTTP\/1\.1 /g) ?? [], 1)
    })
  )

  it.effect("that never ends a body is broken off", () =>
    Effect.gen(function* () {
      const { answer, socket } = yield* talkTo((yield* addresses).url)
      const chunk = `100000\r\n${"a".repeat(2 ** 20)}\r\n`
      let sent = 0
      socket.write(headOf("PATCH /me/commands HTTP/1.1", "transfer-encoding: chunked"))
      const push = () => {
        while (socket.writable && socket.write(chunk)) sent++
        sent++
      }
      socket.on("drain", push)
      push()
      assert.match(yield* answer, /^HTTP\/1\.1 413 /)
      socket.destroy()
      assert.isBelow(sent, 100)
    })
  )
})

const allowed = (answer: string) => [/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1], /\r\nallow: ([^\r]*)/i.exec(answer)?.[1]]

layer(server, { excludeTestServices: true })("every host", (it) => {
  const ask = (url: string, line: string) =>
    Effect.flatMap(talkTo(url), ({ answer, socket }) => {
      socket.write(headOf(`${line} HTTP/1.1`, "connection: close"))
      return answer
    })

  const opened = Effect.gen(function* () {
    const { uploads, url } = yield* addresses
    const address = (bodyIn(yield* ask(url, "POST /uploads?type=file")) as { readonly url: string }).url
    assert.isTrue(address.startsWith(`${uploads.file}/`))
    return { host: uploads.file, path: address.slice(uploads.file.length) }
  })

  it.effect("says what may be asked of it as a whole", () =>
    Effect.gen(function* () {
      const { uploads, url } = yield* addresses
      const [status, methods] = allowed(yield* ask(url, "OPTIONS *"))
      assert.strictEqual(status, "204")
      const all = ["DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"]
      assert.deepStrictEqual(methods?.split(", ").toSorted(), all)
      assert.deepStrictEqual(allowed(yield* ask(uploads.file, "OPTIONS *")), ["204", "GET, HEAD, POST, OPTIONS"])
    })
  )

  it.effect("says what may be asked of an upload address and of a picture", () =>
    Effect.gen(function* () {
      const { host, path } = yield* opened
      const ways = "GET, HEAD, POST, OPTIONS"
      assert.deepStrictEqual(allowed(yield* ask(host, `OPTIONS ${path}`)), ["204", ways])
      assert.deepStrictEqual(allowed(yield* ask(host, `PUT ${path}`)), ["405", ways])
      const { uploads } = yield* addresses
      assert.deepStrictEqual(allowed(yield* ask(uploads.image, "OPTIONS /images/1")), ["204", "GET, HEAD, OPTIONS"])
      assert.deepStrictEqual(allowed(yield* ask(uploads.image, "PUT /images/1")), ["405", "GET, HEAD, OPTIONS"])
    })
  )

  it.effect("answers HEAD as it answers GET, but for the body", () =>
    Effect.gen(function* () {
      const { host, path } = yield* opened
      const { uploads, url } = yield* addresses
      const heads = (answer: string) => answer.slice(0, answer.indexOf("\r\n\r\n")).replace(/date: .*/i, "")
      const targets = [
        [url, "/_emulator/health"],
        [host, path],
        [host, "/nothing"],
        [uploads.image, "/images/1?expires=9999999999999"]
      ] as const
      for (const [at, target] of targets) {
        const ofGet = yield* ask(at, `GET ${target}`)
        const ofHead = yield* ask(at, `HEAD ${target}`)
        assert.strictEqual(heads(ofHead), heads(ofGet))
        assert.match(ofHead, /\r\n\r\n$/)
      }
    })
  )
})

describe("a server", () => {
  it("lets a file take as long as it takes, but not its head", () => {
    const [api, host] = [makeServer("api"), makeServer("file")]
    assert.deepStrictEqual([host.requestTimeout, host.headersTimeout], [0, 10_000])
    assert.deepStrictEqual([api.requestTimeout, api.headersTimeout], [300_000, 10_000])
  })
})

describe("idle connections", () => {
  /** Opens connections on which nothing is sent, and waits until the server has accepted or closed all of them. */
  const openSilent = (url: string, count: number) =>
    Effect.acquireRelease(
      Effect.callback<ReadonlyArray<ReturnType<typeof connect>>>((resume) => {
        const { hostname, port } = new URL(url)
        let opened = 0
        const sockets = Array.from({ length: count }, () =>
          connect(Number(port), hostname, () => {
            if (++opened === count) resume(Effect.succeed(sockets))
          })
            .on("error", () => {})
            .resume()
        )
      }),
      (sockets) => Effect.sync(() => sockets.forEach((socket) => socket.destroy()))
    )

  live(
    "leave room for bots when 1,100 of them are opened to the API and to an upload host",
    Effect.gen(function* () {
      const { asBot, uploads, url } = yield* openLimited(1024)
      const silent = [...(yield* openSilent(url, 1100)), ...(yield* openSilent(uploads.image, 1100))]
      for (let i = 0; i < 20; i++) assert.strictEqual((yield* asBot("GET", "/me")).status, 200)
      const { url: slot } = (yield* asBot("POST", "/uploads?type=image")).body as { readonly url: string }
      assert.isTrue(slot.startsWith(uploads.image))
      const { answer, socket } = yield* talkTo(slot)
      socket.write(headOf(`OPTIONS ${slot.slice(uploads.image.length)} HTTP/1.1`, "connection: close"))
      assert.match(yield* answer, /^HTTP\/1\.1 204 /)
      yield* Effect.callback<void>((resume) => {
        const look = () => {
          const closed = silent.filter((socket) => socket.closed).length
          if (closed >= 2200 - 512 - 64) resume(Effect.void)
        }
        silent.forEach((socket) => socket.on("close", look))
        look()
      })
    })
  )
})
