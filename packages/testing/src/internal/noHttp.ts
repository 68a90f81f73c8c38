import type { Duplex } from "node:stream"
import * as refusal from "./refusal.ts"

const statuses: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: "431 Request Header Fields Too Large",
  ERR_HTTP_REQUEST_TIMEOUT: "408 Request Timeout"
}

/** What is no HTTP request, or never comes to its end, is answered in the platform's shape and hung up on. */
export const answerNoHttp = ({ code = "", message }: Error & { readonly code?: string }, socket: Duplex): void => {
  if (!socket.writable || code === "ECONNRESET") {
    socket.destroy()
    return
  }
  const body = JSON.stringify(refusal.invalidPayload(`The request cannot be read: ${message}`).body)
  const head = [
    `HTTP/1.1 ${statuses[code] ?? "400 Bad Request"}`,
    "connection: close",
    "content-type: application/json; charset=utf-8",
    `content-length: ${new TextEncoder().encode(body).byteLength}`
  ]
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`)
}
