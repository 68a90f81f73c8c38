import { type IncomingMessage, STATUS_CODES } from "node:http"
import type { Duplex } from "node:stream"
import * as refusal from "./refusal.ts"
import { isAnswered } from "./restOfBody.ts"
import { atDoor } from "./shape.ts"
import type { ListenerKind } from "../../EmulatorHttp.ts"

const encoder = new TextEncoder()

/** Writes a "no" where there is no request to answer, and hangs up. */
const hangUp = (socket: Duplex, door: ListenerKind, { body, status }: refusal.Refusal): void => {
  const text = JSON.stringify(atDoor(door, body))
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    "connection: close",
    "content-type: application/json; charset=utf-8",
    `content-length: ${encoder.encode(text).byteLength}`
  ]
  socket.end(`${head.join("\r\n")}\r\n\r\n${text}`)
}

const statuses: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  ERR_HTTP_REQUEST_TIMEOUT: 408
}

/** What is no HTTP request, or never comes to its end, is answered in the platform's shape and hung up on. */
export const answerNoHttp =
  (door: ListenerKind) =>
  ({ code = "", message }: Error & { readonly code?: string }, socket: Duplex): void => {
    if (!socket.writable || code === "ECONNRESET" || isAnswered(socket)) return void socket.destroy()
    hangUp(socket, door, refusal.noRequest(statuses[code] ?? 400, message))
  }

/** The server is no proxy. */
export const refuseTunnel =
  (door: ListenerKind) =>
  ({ url }: IncomingMessage, socket: Duplex): void => {
    socket.on("error", () => socket.destroy())
    socket.on("finish", () => socket.destroy())
    hangUp(socket, door, refusal.methodNotAllowed(`CONNECT ${url} is not allowed`))
  }
