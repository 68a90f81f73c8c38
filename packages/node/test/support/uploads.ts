import * as Effect from "effect/Effect"
import { createHash } from "node:crypto"
import { mkdtemp, rm, truncate, writeFile } from "node:fs/promises"
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http"
import type { TLSSocket } from "node:tls"
import { tmpdir } from "node:os"
import { join } from "node:path"

export const megabyte = 2 ** 20

export const tempFolder = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "uploads-"))),
  (path) => Effect.promise(() => rm(path, { recursive: true }))
)

export const writeTempFile = Effect.fnUntraced(function* (content: Uint8Array, name = "video.mp4") {
  const path = join(yield* tempFolder, name)
  yield* Effect.promise(() => writeFile(path, content))
  return path
})

/** Creates a sparse file: it has a size, but no blocks on the disk. */
export const makeSparseFile = Effect.fnUntraced(function* (size: number, name?: string) {
  const path = yield* writeTempFile(new Uint8Array(), name)
  yield* Effect.promise(() => truncate(path, size))
  return path
})

export const digestOf = (content: Uint8Array) => createHash("sha256").update(content).digest("hex")

/** A server that creates upload addresses, and responds to each upload with the digest of its content. */
export const digestHost = (onRequest: (request: IncomingMessage) => void = () => {}): RequestListener => {
  const hashes = new Map<string, ReturnType<typeof createHash>>()
  let last = 0
  return (request: IncomingMessage, response: ServerResponse) => {
    const { headers, url = "" } = request
    if (url.startsWith("/uploads")) {
      const scheme = (request.socket as Partial<TLSSocket>).encrypted === true ? "https" : "http"
      return void response.end(JSON.stringify({ url: `${scheme}://${headers.host}/upload/${++last}` }))
    }
    const hash = hashes.get(url) ?? createHash("sha256")
    hashes.set(url, hash)
    const [, to, size] = /^bytes \d+-(\d+)\/(\d+)$/.exec(headers["content-range"] ?? "") ?? []
    const boundary = /boundary=(.*)$/.exec(headers["content-type"] ?? "")?.[1]
    const chunks: Array<Buffer> = []
    onRequest(request)
    request.on("data", (chunk: Buffer) => chunks.push(Buffer.from(chunk)))
    request.on("end", () => {
      const body = Buffer.concat(chunks)
      const from = boundary === undefined ? 0 : body.indexOf("\r\n\r\n") + 4
      const end = boundary === undefined ? body.length : body.lastIndexOf(`\r\n--${boundary}--`)
      hash.update(body.subarray(from, end))
      if (to !== undefined && Number(to) + 1 < Number(size)) response.writeHead(201).end(`0-${to}/${size}`)
      else response.end(JSON.stringify({ token: hash.digest("hex") }))
    })
  }
}

/** Reads with pauses, so that the socket of the sender has to buffer its data. */
export const readWithPauses = (request: IncomingMessage) => {
  let pause = 300
  request.on("data", () => {
    request.pause()
    setTimeout(() => request.resume(), pause)
    pause = 1
  })
}
