/** A plain server in a process of its own: `server.ts` answers as POST /messages does, `server.ts echo` echoes JSON. */
import { createServer, type RequestListener } from "node:http"
import { endWithParent, listen, tellParent } from "./processes.ts"
import { sent } from "./sample.ts"

const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(sent) }

const answer: RequestListener = (request, response) => {
  request.resume().on("end", () => response.writeHead(200, headers).end(sent))
}

const echo: RequestListener = (request, response) => {
  const chunks: Array<Buffer> = []
  request.on("data", (chunk: Buffer) => chunks.push(chunk))
  request.on("end", () => {
    const body = JSON.stringify(JSON.parse(Buffer.concat(chunks).toString()))
    response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(body) }).end(body)
  })
}

endWithParent()
tellParent({ url: await listen(createServer(process.argv[2] === "echo" ? echo : answer)) })
