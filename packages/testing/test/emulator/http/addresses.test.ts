import { Emulator, EmulatorServer } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { createServer } from "node:http"
import { networkInterfaces } from "node:os"
import { listen } from "../../support/listen.ts"
import { lastBody, requestHead, openConnection } from "../../support/sockets.ts"

const server = (options: EmulatorServer.Options) =>
  Effect.map(Layer.build(EmulatorServer.layer(options).pipe(Layer.provide(Emulator.layer()))), (context) =>
    Context.get(context, EmulatorServer.EmulatorServer)
  )

/** Requests an upload address with these headers, and returns its origin. */
const uploadOrigin = (url: string, ...headers: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const { received, socket } = yield* openConnection(url)
    socket.write(requestHead("POST /uploads?type=image HTTP/1.1", "content-length: 0", "connection: close", ...headers))
    return new URL((lastBody(yield* received) as { readonly url: string }).url).origin
  })

const hasIpv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === "::1"))

describe("EmulatorServer.layer on all interfaces", () => {
  it.live("returns upload and image URLs with the host name of the request", () =>
    Effect.gen(function* () {
      const { uploads, url } = yield* server({ host: "0.0.0.0" })
      assert.match(url, /^http:\/\/127\.0\.0\.1:/)
      const { port } = new URL(uploads.image)
      assert.strictEqual(yield* uploadOrigin(url, "host: emulator:8080"), `http://emulator:${port}`)
      assert.strictEqual(yield* uploadOrigin(url, "host: [2001:db8::1]"), `http://[2001:db8::1]:${port}`)
      assert.strictEqual(yield* uploadOrigin(url), uploads.image)
    }).pipe(Effect.scoped)
  )

  it.live.runIf(hasIpv6)("returns an IPv6 address for an IPv6 host", () =>
    Effect.gen(function* () {
      const { uploads, url } = yield* server({ host: "::" })
      assert.match(url, /^http:\/\/\[::1\]:/)
      assert.strictEqual(yield* uploadOrigin(url), uploads.image)
    }).pipe(Effect.scoped)
  )
})

describe("EmulatorServer.layer on one interface", () => {
  it.live("returns upload URLs with its address for any host name", () =>
    Effect.gen(function* () {
      const { uploads, url } = yield* server({})
      assert.strictEqual(yield* uploadOrigin(url, "host: emulator:8080"), uploads.image)
    }).pipe(Effect.scoped)
  )

  // Another process may take a free port before the server listens. The test is then repeated with other ports.
  it.live("listens on the given upload ports", () =>
    Effect.gen(function* () {
      const free = yield* Effect.scoped(
        Effect.all([listen(createServer()), listen(createServer()), listen(createServer())])
      )
      const [image, video, audio] = free
      const { uploads } = yield* server({ uploadPorts: { image, video, audio } })
      assert.deepStrictEqual(
        [uploads.image, uploads.video, uploads.audio],
        free.map((port) => `http://127.0.0.1:${port}`)
      )
    }).pipe(Effect.scoped, Effect.retry({ times: 5 }))
  )
})
