import { connect, createServer, type Socket } from "node:net"
import { listen } from "../processes.ts"

/** What the proxy does with connections and packets. */
export type Mode = "pass" | "refuse" | "drop"

export interface Proxy {
  readonly port: number
  /** Delays every packet by `millis`, in both directions together. */
  readonly delay: (millis: number) => void
  /** `refuse` cuts all connections and accepts no further ones. `drop` keeps them, but nothing arrives until `pass`. */
  readonly setMode: (mode: Mode) => void
  readonly close: () => void
}

/** A TCP proxy before a port of this machine that delays, cuts and drops. */
export const startProxy = async (target: number): Promise<Proxy> => {
  let mode: Mode = "pass"
  let delay = 0
  const sockets = new Set<Socket>()

  const pipe = (from: Socket, to: Socket) =>
    from.on("data", (chunk) => {
      const forward = () => {
        // Packets that were dropped arrive when the network works again, as TCP sends them once more.
        if (mode === "drop") held.push(forward)
        else if (!to.destroyed) to.write(chunk)
      }
      if (delay > 0) setTimeout(forward, delay / 2)
      else forward()
    })

  const held: Array<() => void> = []

  const server = createServer((client) => {
    if (mode === "refuse") {
      client.destroy()
      return
    }
    const upstream = connect({ port: target, host: "127.0.0.1", noDelay: true })
    client.setNoDelay(true)
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client]
    ] as const) {
      sockets.add(socket)
      pipe(socket, other)
      socket.on("error", () => {})
      socket.on("close", () => {
        sockets.delete(socket)
        other.destroy()
      })
    }
  })

  return {
    port: Number(new URL(await listen(server)).port),
    delay: (millis) => {
      delay = millis
    },
    setMode: (next) => {
      mode = next
      if (mode === "refuse") for (const socket of sockets) socket.destroy()
      if (mode === "pass") for (const forward of held.splice(0)) forward()
    },
    close: () => {
      for (const socket of sockets) socket.destroy()
      server.close()
    }
  }
}
