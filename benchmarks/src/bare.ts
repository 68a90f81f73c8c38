/** A plain `node:http` server that echoes JSON. It sends its port to its parent. */
import { createServer } from "node:http"

const server = createServer((request, response) => {
  const chunks: Array<Buffer> = []
  request.on("data", (chunk: Buffer) => chunks.push(chunk))
  request.on("end", () => {
    const body = JSON.stringify(JSON.parse(Buffer.concat(chunks).toString()))
    response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(body) }).end(body)
  })
})

server.listen(0, "127.0.0.1", () => {
  const address = server.address()
  process.send?.({ url: `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/` })
})
process.on("disconnect", () => process.exit())
