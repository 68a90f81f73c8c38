import * as Effect from "effect/Effect"
import { connect, type Socket } from "node:net"

export interface RawConnection {
  readonly socket: Socket
  /** Returns everything that the server has sent, after the connection is closed. */
  readonly received: Effect.Effect<string>
}

/** Opens a TCP connection to a server, to which a test can write any bytes. */
export const openConnection = (url: string): Effect.Effect<RawConnection> =>
  Effect.callback<RawConnection>((resume) => {
    const { hostname, port } = new URL(url)
    let text = ""
    const socket = connect({ host: hostname.replaceAll(/[[\]]/g, ""), port: Number(port) })
    const closed = new Promise<string>((resolve) => {
      for (const event of ["error", "end", "close"]) socket.on(event, () => resolve(text))
    })
    socket.on("data", (data) => {
      text += String(data)
    })
    socket.on("connect", () => resume(Effect.succeed({ socket, received: Effect.promise(() => closed) })))
  })

/** Returns the head of a request of the bot, without the header `Host` by default. */
export const requestHead = (requestLine: string, ...headers: ReadonlyArray<string>): string =>
  [requestLine, "authorization: emulator-token", ...headers, "", ""].join("\r\n")

/** Returns the JSON body of the last response in the text. */
export const lastBody = (responses: string): unknown =>
  JSON.parse(responses.slice(responses.lastIndexOf("\r\n\r\n") + 4))
