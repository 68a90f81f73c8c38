/**
 * The platform as a stub: it accepts every request and records when it arrived at the socket. It answers the messages of its
 * parent: `port`, then `arrivals` on request.
 */
import { createServer } from "node:http"
import { setPriority } from "node:os"
import { sent } from "../sample.ts"

// The real platform does not compete with the bot for processors.
try {
  setPriority(-20)
} catch {
  // Without the right to do so, arrivals are recorded late if all processors are busy.
}

const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(sent) }

let arrivals: Array<number> = []

const server = createServer((request, response) => {
  request.resume().on("end", () => response.writeHead(200, headers).end(sent))
})

// A request is one small segment, so its first bytes are the request.
server.on("connection", (socket) => {
  socket.prependListener("data", (chunk: Buffer) => {
    if (chunk.includes("POST /messages")) arrivals.push(performance.timeOrigin + performance.now())
  })
})

server.listen(0, "127.0.0.1", () => {
  const address = server.address()
  process.send?.(typeof address === "object" ? address?.port : undefined)
})

process.on("message", () => {
  process.send?.(arrivals)
  arrivals = []
})
process.on("disconnect", () => process.exit())
