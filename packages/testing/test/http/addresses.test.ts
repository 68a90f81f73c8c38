import { Emulator, EmulatorServer } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { createServer } from "node:http"
import { networkInterfaces } from "node:os"
import { listening } from "../support/listening.ts"
import { bodyIn, headOf, talkTo } from "../support/sockets.ts"

const server = (options: EmulatorServer.Options) =>
  Effect.map(Layer.build(EmulatorServer.layer(options).pipe(Layer.provide(Emulator.layer()))), (context) =>
    Context.get(context, EmulatorServer.EmulatorServer)
  )

/** Where a caller that calls the server so is told to upload. */
const toldTo = (url: string, ...headers: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const { answer, socket } = yield* talkTo(url)
    socket.write(headOf("POST /uploads?type=image HTTP/1.1", "content-length: 0", "connection: close", ...headers))
    return new URL((bodyIn(yield* answer) as { readonly url: string }).url).origin
  })

const hasIpv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === "::1"))

describe("a server on every address of its machine", () => {
  it.live("tells uploads and pictures under the name that the caller calls it by", () =>
    Effect.gen(function* () {
      const { uploads, url } = yield* server({ host: "0.0.0.0" })
      assert.match(url, /^http:\/\/127\.0\.0\.1:/)
      const { port } = new URL(uploads.image)
      assert.strictEqual(yield* toldTo(url, "host: emulator:8080"), `http://emulator:${port}`)
      assert.strictEqual(yield* toldTo(url, "host: [2001:db8::1]"), `http://[2001:db8::1]:${port}`)
      for (const headers of [[], ["host: "], ["host: a b"]]) {
        assert.strictEqual(yield* toldTo(url, ...headers), uploads.image)
      }
    }).pipe(Effect.scoped)
  )

  it.live.runIf(hasIpv6)("has an address of IPv6", () =>
    Effect.gen(function* () {
      const { uploads, url } = yield* server({ host: "::" })
      assert.match(url, /^http:\/\/\[::1\]:/)
      assert.strictEqual(yield* toldTo(url), uploads.image)
    }).pipe(Effect.scoped)
  )
})

describe("a server on one address", () => {
  it.live("tells that one, whatever it is called", () =>
    Effect.gen(function* () {
      const { uploads, url } = yield* server({})
      assert.strictEqual(yield* toldTo(url, "host: emulator:8080"), uploads.image)
    }).pipe(Effect.scoped)
  )

  // Somebody else may take a free port meanwhile: then it is tried with others.
  it.live("takes uploads at the ports that it is told", () =>
    Effect.gen(function* () {
      const free = yield* Effect.scoped(
        Effect.all([listening(createServer()), listening(createServer()), listening(createServer())])
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
