import * as Effect from "effect/Effect"
import * as http from "node:http"
import * as https from "node:https"
import * as net from "node:net"
import type { Leaf } from "./certificates.ts"

const listen = <S extends net.Server>(make: () => S) =>
  Effect.acquireRelease(
    Effect.callback<S>((resume) => {
      const server = make()
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) =>
      Effect.callback<void>((resume) => {
        server.close(() => resume(Effect.void))
        if (server instanceof http.Server || server instanceof https.Server) server.closeAllConnections()
      })
  )

export const portOf = (server: net.Server): number => {
  const address = server.address()
  return typeof address === "object" && address !== null ? address.port : 0
}

export const serve = Effect.fnUntraced(function* (handler: http.RequestListener) {
  const server = yield* listen(() => http.createServer(handler))
  return `http://localhost:${portOf(server)}`
})

export const serveTls = Effect.fnUntraced(function* (
  leaf: Leaf,
  chain: ReadonlyArray<string>,
  handler: http.RequestListener = (_, response) => void response.end("ok")
) {
  const cert = [leaf.pem, ...chain].join("\n")
  const server = yield* listen(() => https.createServer({ key: leaf.key, cert }, handler))
  return `https://localhost:${portOf(server)}`
})

/** Creates a server that accepts connections and sends nothing, or closes them at once. */
export const serveSockets = Effect.fnUntraced(function* (behaviour: "silent" | "hangs up") {
  const sockets = new Set<net.Socket>()
  const server = yield* listen(() =>
    net.createServer((socket) => {
      sockets.add(socket)
      socket.on("error", () => {})
      if (behaviour === "hangs up") socket.resume().once("data", () => socket.end())
    })
  )
  yield* Effect.addFinalizer(() => Effect.sync(() => sockets.forEach((socket) => socket.destroy())))
  return portOf(server)
})

/** A port without a server. It is below the ports that systems choose, so no other server or connection gets it meanwhile. */
export const closedPort: Effect.Effect<number> = Effect.callback((resume) => {
  const port = 20_000 + Math.floor(Math.random() * 12_000)
  const server = net.createServer()
  server.on("error", () => resume(closedPort))
  server.listen(port, "127.0.0.1", () => server.close(() => resume(Effect.succeed(port))))
})

export interface ConnectProxy {
  readonly address: string
  readonly tunnels: Array<{ readonly target: string; readonly authorization: string | undefined }>
  readonly plainRequests: Array<string>
}

/** Creates a proxy that opens and records tunnels, and requires a password if one is given. */
export const serveProxy = Effect.fnUntraced(function* (login?: string, leaf?: Leaf) {
  const expected = login === undefined ? undefined : `Basic ${Buffer.from(login).toString("base64")}`
  const tunnels: Array<{ readonly target: string; readonly authorization: string | undefined }> = []
  const plainRequests: Array<string> = []
  const sockets = new Set<net.Socket>()
  const keep = (socket: net.Socket) => {
    sockets.add(socket)
    socket.on("error", () => {})
    return socket
  }
  const server = yield* listen(() =>
    (leaf === undefined ? http.createServer() : https.createServer({ key: leaf.key, cert: leaf.pem }))
      .on("request", (request: http.IncomingMessage, response: http.ServerResponse) => {
        plainRequests.push(request.url ?? "")
        response.writeHead(501).end()
      })
      .on("connection", (socket: net.Socket) => void keep(socket))
      .on("connect", (request: http.IncomingMessage, client: net.Socket) => {
        const authorization = request.headers["proxy-authorization"]
        tunnels.push({ target: request.url ?? "", authorization })
        if (expected !== undefined && authorization !== expected) {
          client.end("HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 6\r\n\r\ndenied")
          return
        }
        const { hostname, port } = new URL(`http://${request.url}`)
        const upstream = keep(
          net.connect(Number(port), hostname, () => {
            client.write("HTTP/1.1 200 Connection established\r\n\r\n")
            upstream.pipe(client)
            client.pipe(upstream)
          })
        )
        upstream.once("error", () => client.end("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n"))
      })
  )
  yield* Effect.addFinalizer(() => Effect.sync(() => sockets.forEach((socket) => socket.destroy())))
  return { address: `localhost:${portOf(server)}`, tunnels, plainRequests } satisfies ConnectProxy
})
