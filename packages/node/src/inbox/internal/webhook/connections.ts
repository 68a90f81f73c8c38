import type { IncomingMessage, Server, ServerResponse } from "node:http"
import { Server as TlsServer } from "node:tls"
import type { Socket } from "node:net"

interface Connection {
  readonly socket: Socket
  /** Number of requests in progress. */
  requests: number
}

/** The common identity of the encrypted and the decrypted socket of a TLS connection. */
const peerOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`

/**
 * Bounds the number of connections on which no request is in progress. A new idle connection above the bound closes the
 * connection that has been idle for the longest time, so that silent clients cannot use up the file descriptors of the
 * process. At most half of the kept connections have had no request yet, as long as there are others to keep.
 */
export const boundIdleConnections = (server: Server, max: number): void => {
  const connections = new WeakMap<Socket, Connection>()
  const silent = new Set<Connection>()
  const idle = new Set<Connection>()

  const closeExcess = (): void => {
    while (silent.size + idle.size > max) {
      const from = silent.size > max / 2 || idle.size === 0 ? silent : idle
      for (const connection of from) {
        from.delete(connection)
        connection.socket.destroy()
        break
      }
    }
  }

  const add = (socket: Socket): Connection => {
    const connection: Connection = { socket, requests: 0 }
    connections.set(socket, connection)
    silent.add(connection)
    socket.once("close", () => {
      silent.delete(connection)
      idle.delete(connection)
    })
    closeExcess()
    return connection
  }

  const onRequest = ({ socket }: IncomingMessage, response: ServerResponse): void => {
    const connection = connections.get(socket)
    if (connection === undefined) return
    silent.delete(connection)
    idle.delete(connection)
    connection.requests++
    response.once("close", () => {
      connection.requests--
      if (connection.requests > 0 || connection.socket.destroyed) return
      idle.add(connection)
      closeExcess()
    })
  }

  if (server instanceof TlsServer) {
    const handshaking = new Map<string, Connection>()
    server.on("connection", (socket: Socket) => {
      const peer = peerOf(socket)
      handshaking.set(peer, add(socket))
      socket.once("close", () => handshaking.delete(peer))
    })
    server.on("secureConnection", (socket: Socket) => {
      const peer = peerOf(socket)
      const connection = handshaking.get(peer)
      handshaking.delete(peer)
      if (connection !== undefined) connections.set(socket, connection)
    })
  } else {
    server.on("connection", add)
  }
  server.prependListener("request", onRequest)
}
