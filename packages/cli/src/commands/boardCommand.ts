import * as NodeBoard from "@colloquy/node/tools/NodeBoard"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as References from "effect/References"
import { randomBytes } from "node:crypto"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { action } from "../base/commands.ts"
import { type CommandFailed, failed, invalid } from "../base/failure.ts"
import { switchFlag } from "../base/flags.ts"
import { codeOf, explainNetwork } from "../base/network.ts"
import { print } from "../base/output.ts"
import { withSettings } from "../base/settings.ts"
import * as stores from "../base/stores.ts"

const isLoopback = (host: string): boolean => /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/.test(host)

/** Serves the board until the scope closes. Returns its port. */
const listen = (handle: Effect.Success<ReturnType<typeof NodeBoard.toNodeHandler>>, host: string, port: number) =>
  Effect.acquireRelease(
    Effect.callback<ReturnType<typeof createServer>, CommandFailed>((resume) => {
      const server = createServer(handle)
      server.once("error", (error) => {
        const problem = codeOf(error) === "EADDRINUSE" ? "another program uses this port." : explainNetwork(error)
        resume(Effect.fail(failed(`The board cannot listen on ${host}:${port}: ${problem}`)))
      })
      server.listen({ host, port }, () => resume(Effect.succeed(server)))
    }),
    (server) =>
      Effect.sync(() => {
        server.close()
        server.closeAllConnections()
      })
  ).pipe(Effect.map((server) => (server.address() as AddressInfo).port))

/** The stores of the bot. A bot without tables of chats or broadcasts has a board without these. */
const services = Layer.mergeAll(
  stores.inbox,
  Layer.catch(stores.chats, () => Layer.empty),
  Layer.catch(stores.broadcasts, () => Layer.empty)
)

const serve = Effect.fnUntraced(function* (host: string, port: number) {
  const token = randomBytes(32).toString("hex")
  const address = yield* listen(yield* NodeBoard.toNodeHandler({ token }), host, port)
  const url = `http://${host.includes(":") ? `[${host}]` : host}:${address}/#token=${token}`
  yield* print({ url }, `The board is at ${url}\nThe address contains the token. Press Ctrl-C to end.`)
  return yield* Effect.never
})

/** The command `board`. */
export const board = action(
  "board",
  "Serves a page for operators: what the bot does, its dead letters, chats, conversations, timers, broadcasts and limits. Each start has a new token",
  {
    port: Flag.Int("port").pipe(
      Flag.filter(
        (port) => port >= 0 && port <= 65_535,
        () => "a port, 0 to 65535"
      ),
      Flag.withDefault(0),
      Flag.withDescription("Port of the page. Default: a free port")
    ),
    host: Flag.String("host").pipe(
      Flag.withDefault("127.0.0.1"),
      Flag.withDescription("Address of the page. Default: 127.0.0.1, which only this machine can reach")
    ),
    public: switchFlag("public", "Allows a --host that other machines can reach")
  },
  Effect.fnUntraced(function* ({ host, port, public: isPublic }) {
    if (!isPublic && !isLoopback(host)) {
      return yield* invalid(
        `--host ${host}: other machines could reach the board, which has no TLS. Add --public, or mount NodeBoard behind a login of your own.`
      )
    }
    return yield* serve(host, port).pipe(
      Effect.scoped,
      Effect.provide(services),
      Effect.provideService(References.MinimumLogLevel, "Info"),
      Effect.provideService(References.LogToStderr, true),
      withSettings
    )
  })
)
