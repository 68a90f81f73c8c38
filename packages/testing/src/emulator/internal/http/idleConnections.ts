import type { IncomingMessage, Server, ServerResponse } from "node:http"
import type { Socket } from "node:net"

/**
 * Bounds the number of connections on which no request is in progress, like `maxIdleConnections` of the webhook server
 * in `@colloquy/node`.
 */
export const boundIdleConnections = (server: Server, max: number): void => {
  const silent = new Set<Socket>()
  const idle = new Set<Socket>()
  const requestsInProgress = new WeakMap<Socket, number>()

  const closeExcess = (): void => {
    while (silent.size + idle.size > max) {
      const from = silent.size > max / 2 || idle.size === 0 ? silent : idle
      const [oldest] = from
      from.delete(oldest)
      oldest.destroy()
    }
  }

  const remove = (socket: Socket): void => {
    silent.delete(socket)
    idle.delete(socket)
  }

  const count = (socket: Socket, change: 1 | -1): number => {
    const requests = (requestsInProgress.get(socket) ?? 0) + change
    requestsInProgress.set(socket, requests)
    return requests
  }

  const onRequest = ({ socket }: IncomingMessage, response: ServerResponse): void => {
    remove(socket)
    count(socket, 1)
    response.once("close", () => {
      if (count(socket, -1) > 0 || socket.destroyed) return
      idle.add(socket)
      closeExcess()
    })
  }

  server.on("connection", (socket: Socket) => {
    silent.add(socket)
    socket.once("close", () => remove(socket))
    closeExcess()
  })
  // The server of the emulator listens to each of them.
  for (const event of ["request", "checkContinue", "checkExpectation"]) server.prependListener(event, onRequest)
}
