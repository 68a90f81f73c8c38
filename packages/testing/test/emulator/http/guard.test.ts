import { Emulator, EmulatorServer } from "@colloquy/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { lastBody, openConnection, requestHead } from "../../support/sockets.ts"

const server = EmulatorServer.layer({ allowedHosts: ["Emulator.Example.com"] }).pipe(
  Layer.provideMerge(Emulator.layer())
)

/** The status and the code of the response to a request with these headers. */
const statusOf = (line: string, ...headers: ReadonlyArray<string>) =>
  Effect.scoped(
    Effect.gen(function* () {
      const { url } = yield* EmulatorServer.EmulatorServer
      const { received, socket } = yield* openConnection(url)
      socket.write(requestHead(`${line} HTTP/1.1`, ...headers, "connection: close"))
      const response = yield* received
      const status = Number(response.slice(9, 12))
      return status === 200 ? 200 : `${status} ${(lastBody(response) as { readonly code?: string }).code}`
    })
  ).pipe(Effect.provide(Layer.fresh(server)))

const paths = ["/_emulator/health", "/me"]

describe("requests of bots and calls under /_emulator", () => {
  it.live.each([
    ["127.0.0.1:8080", 200],
    ["[::1]:8080", 200],
    ["192.168.1.7", 200],
    ["localhost:1", 200],
    ["bot.localhost", 200],
    ["emulator:8080", 200],
    ["host.docker.internal:8080", 200],
    ["emulator.default.svc.cluster.local", 200],
    ["EMULATOR.example.com:8080", 200],
    ["emulator.example.com.:8080", 200],
    ["attacker.org:8080", "403 host.denied"],
    ["localhost.attacker.com", "403 host.denied"],
    ["127.0.0.1.attacker.com", "403 host.denied"],
    ["emulator.example.com.attacker.com", "403 host.denied"],
    ["attacker.com/localhost", "403 host.denied"],
    ["user@attacker.com", "403 host.denied"]
  ] as const)("under the host %s are answered with %s", ([host, status]) =>
    Effect.gen(function* () {
      for (const path of paths) {
        const headers = [`host: ${host}`, "authorization: emulator-token"]
        assert.strictEqual(yield* statusOf(`GET ${path}`, ...headers), status, path)
      }
    })
  )

  it.live.each([
    [["host: localhost:80"], 200],
    [["host: localhost:80", "origin: http://localhost:80"], 200],
    [["host: localhost:80", "origin: http://localhost:81"], "403 origin.denied"],
    [["host: localhost:80", "origin: null"], "403 origin.denied"],
    [["host: localhost:80", "origin: https://attacker.com", "content-type: text/plain"], "403 origin.denied"],
    [["host: localhost:80", "sec-fetch-site: cross-site", "sec-fetch-mode: no-cors"], "403 origin.denied"],
    [["host: localhost:80", "sec-fetch-site: cross-site", "sec-fetch-mode: navigate"], 200]
  ] as const)("with the headers %s are answered with %s", ([headers, status]) =>
    Effect.gen(function* () {
      assert.strictEqual(yield* statusOf("POST /_emulator/reset", ...headers, "content-length: 0"), status)
      assert.strictEqual(yield* statusOf("GET /me", ...headers, "authorization: emulator-token"), status)
    })
  )

  it.live("are answered without a Host, which every browser sends", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* statusOf("GET /me", "authorization: emulator-token"), 200)
    })
  )

  it.live("are refused by the upload hosts as well, in their form, and images of the page are not", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { uploads } = yield* EmulatorServer.EmulatorServer
        const responseTo = (...headers: ReadonlyArray<string>) =>
          Effect.gen(function* () {
            const { received, socket } = yield* openConnection(uploads.image)
            socket.write(requestHead("GET /image/1 HTTP/1.1", ...headers, "connection: close"))
            return (yield* received).split("\r\n").filter((line, index) => index === 0 || line.startsWith("{"))
          })
        const [status, body] = yield* responseTo("host: attacker.org")
        assert.include(status, "403")
        assert.include(body, '"error_code":"host.denied"')
        const embedded = ["host: localhost", "sec-fetch-site: cross-site", "sec-fetch-mode: no-cors"]
        assert.include((yield* responseTo(...embedded))[0], "404")
      })
    ).pipe(Effect.provide(Layer.fresh(server)))
  )
})
