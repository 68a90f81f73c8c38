import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import { answerNoHttp, refuseTunnel } from "./noHttp.ts"
import { expectationFailed } from "./refusal.ts"
import { send } from "./send.ts"
import { toResponse } from "./shape.ts"
import type { ListenerKind } from "../../EmulatorHttp.ts"

/** How long the head of a request may take, in milliseconds. */
const headersTimeout = 60_000

/** A server of a door: it answers in the door's shape what is no request that could be served. */
export const makeServer = (door: ListenerKind): Server => {
  // A file takes as long as it takes.
  const patience = door === "api" ? {} : { requestTimeout: 0 }
  const server = createServer({ requireHostHeader: false, headersTimeout, ...patience })
  server.on("clientError", answerNoHttp(door))
  server.on("connect", refuseTunnel(door))
  server.on("checkExpectation", (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const refusal = expectationFailed(incoming.headers.expect ?? "")
    send({ incoming, outgoing, isWaiting: true }, toResponse(refusal, door))
  })
  return server
}
