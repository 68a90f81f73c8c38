import * as Effect from "effect/Effect"
import { connect, type Socket } from "node:net"

export interface Talk {
  readonly socket: Socket
  /** Everything that came back, once the server has hung up. */
  readonly answer: Effect.Effect<string>
}

/** A connection of its own to a server, on which anything can be said. */
export const talkTo = (url: string): Effect.Effect<Talk> =>
  Effect.callback<Talk>((resume) => {
    const { hostname, port } = new URL(url)
    let heard = ""
    const socket = connect({ host: hostname.replaceAll(/[[\]]/g, ""), port: Number(port) })
    const ended = new Promise<string>((resolve) => {
      for (const event of ["error", "end", "close"]) socket.on(event, () => resolve(heard))
    })
    socket.on("data", (data) => {
      heard += String(data)
    })
    socket.on("connect", () => resume(Effect.succeed({ socket, answer: Effect.promise(() => ended) })))
  })

/** The head of a request of the bot, without `Host` unless told. */
export const headOf = (line: string, ...headers: ReadonlyArray<string>): string =>
  [line, "authorization: emulator-token", ...headers, "", ""].join("\r\n")

/** The last body in what came back. */
export const bodyIn = (answer: string): unknown => JSON.parse(answer.slice(answer.lastIndexOf("\r\n\r\n") + 4))
