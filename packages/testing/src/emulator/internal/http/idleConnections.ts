import type { IncomingMessage, Server, ServerResponse } from "node:http"
import type { Socket } from "node:net"

interface Connection {
  readonly socket: Socket
  /** Number of requests in progress. */
  requests: number
}

/**
 * Bounds the number of connections on which no request is in progress, like `maxIdleConnections` of the webhook server
 * in `@colloquy/node`.
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

  const add = (socket: Socket): void => {
    const connection: Connection = { socket, requests: 0 }
    connections.set(socket, connection)
    silent.add(connection)
    socket.once("close", () => {
      silent.delete(connection)
      idle.delete(connection)
    })
    closeExcess()
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

  server.on("connection", add)
  // The server of the emulator listens to each of them.
  for (const event of ["request", "checkContinue", "checkExpectation"]) server.prependListener(event, onRequest)
}
