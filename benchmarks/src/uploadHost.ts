/**
 * An upload host with the endpoint that returns upload URLs. It accepts whole files and parts, discards them, and
 * closes the connection at the total byte offsets given as arguments. It sends its URL to its parent.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { endWithParent, listen, tellParent } from "./processes.ts"

const cuts = process.argv.slice(2).map(Number)
const places = new Map<string, number>()
let received = 0
let last = 0

const take = (request: IncomingMessage, done: () => void): void => {
  request.on("data", (chunk: Buffer) => {
    received += chunk.length
    if (cuts.length === 0 || received < cuts[0]) return
    cuts.shift()
    request.socket.destroy()
  })
  request.on("end", done)
}

const token = JSON.stringify({ fileId: 1, token: "token" })

const takePart = (request: IncomingMessage, response: ServerResponse, url: string, range: string): void => {
  const [, from, to, size] = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(range)!.map(Number)
  if (from !== (places.get(url) ?? 0)) return void response.writeHead(416).end()
  take(request, () => {
    places.set(url, to + 1)
    if (to + 1 === size) response.writeHead(200).end(token)
    else response.writeHead(201).end(`0-${to}/${size}`)
  })
}

const server = createServer((request, response) => {
  const { headers, method, url = "" } = request
  if (url.startsWith("/uploads")) {
    const address = `http://${headers.host}/upload/${++last}`
    return void response.writeHead(200).end(JSON.stringify({ url: address }))
  }
  const range = headers["content-range"]
  if (method === "GET") {
    const place = places.get(url)
    return place === undefined
      ? void response.writeHead(204).end()
      : void response.writeHead(200).end(`0-${place - 1}/${2 ** 30}`)
  }
  return range === undefined
    ? take(request, () => response.writeHead(200).end(token))
    : takePart(request, response, url, range)
})

endWithParent()
tellParent({ url: await listen(server) })
