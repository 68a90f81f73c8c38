/** A server that answers every request with the response of POST /messages. It prints its port. */
import { createServer } from "node:http"
import { sent } from "./sample.ts"

const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(sent) }

const server = createServer((request, response) => {
  request.resume().on("end", () => response.writeHead(200, headers).end(sent))
})

server.listen(0, "127.0.0.1", () => {
  const address = server.address()
  process.send?.(typeof address === "object" ? address?.port : undefined)
})
process.on("disconnect", () => process.exit())
