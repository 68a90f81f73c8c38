import type { IncomingMessage, ServerResponse } from "node:http"
import { isUnread, readPast, readToEnd } from "./restOfBody.ts"
import type { Response } from "../../EmulatorHttp.ts"
import { headersOf, mayHaveBody } from "./wire.ts"

/** A request on a connection, and what becomes of it there. */
export interface Asked {
  readonly incoming: IncomingMessage
  readonly outgoing: ServerResponse
  /** Whether the caller still waits to be asked for the body. */
  isWaiting: boolean
}

/** After a rest of a body that is no longer, the connection serves on. */
const shortRest = 2 ** 18

/** Sends an answer, also where the body was not read. */
export const send = ({ incoming, isWaiting, outgoing }: Asked, response: Response): void => {
  if (outgoing.destroyed) return
  const content = mayHaveBody(response.status) ? (response.bytes ?? response.body) : undefined
  const headers: Record<string, string | number> = { ...headersOf(response) }
  const isTold = incoming.method === "HEAD" && headers["content-length"] !== undefined
  if (content !== undefined && !isTold) headers["content-length"] = response.promised ?? Buffer.byteLength(content)
  const unread = isUnread(incoming)
  const isLong = Number(incoming.headers["content-length"]) > shortRest
  if (unread && (isWaiting || isLong)) headers["connection"] = "close"
  outgoing.writeHead(response.status, headers)
  if (response.promised !== undefined) return void outgoing.write(content ?? "", () => incoming.socket.destroy())
  if (!unread) return void outgoing.end(content)
  if (headers["connection"] !== "close") {
    outgoing.end(content)
    return readPast(incoming)
  }
  outgoing.flushHeaders()
  if (content !== undefined) outgoing.write(content)
  readToEnd(incoming, () => outgoing.end())
}
