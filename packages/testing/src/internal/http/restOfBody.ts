import type { IncomingMessage } from "node:http"
import type { Duplex } from "node:stream"

/** How much of a body that nobody wants is read, so that a caller that writes it all first comes to its answer. */
const most = 64 * 2 ** 20

/** How long such a body may take, and how long it may pause, in milliseconds. */
const longest = 30_000
const longestPause = 1000

/** Whether more of the body may come. */
export const isUnread = ({ complete, headers }: IncomingMessage): boolean =>
  !complete && (headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0)

/** The connections on which the rest of a body comes whose request has been answered. */
const answered = new WeakSet<Duplex>()

export const isAnswered = (socket: Duplex): boolean => answered.has(socket)

/** Reads the rest of a body and throws it away; one that is too long breaks the connection. */
export const readPast = (incoming: IncomingMessage): void => {
  const { socket } = incoming
  let past = 0
  answered.add(socket)
  incoming.once("end", () => answered.delete(socket))
  incoming.on("data", (chunk: Buffer) => {
    past += chunk.length
    if (past > most) socket.destroy()
  })
  incoming.resume()
}

/** The same where the connection ends with the body: one that takes too long breaks it as well. */
export const readToEnd = (incoming: IncomingMessage, end: () => void): void => {
  const { socket } = incoming
  const breakOff = () => socket.destroy()
  const whole = setTimeout(breakOff, longest)
  const pause = setTimeout(breakOff, longestPause)
  socket.once("close", () => {
    clearTimeout(whole)
    clearTimeout(pause)
  })
  incoming.on("data", () => pause.refresh())
  incoming.once("end", end)
  readPast(incoming)
}
