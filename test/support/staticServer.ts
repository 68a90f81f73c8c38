import { createReadStream, existsSync, statSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { extname, join, normalize } from "node:path"

const types: Readonly<Record<string, string>> = {
  ".css": "text/css",
  ".html": "text/html",
  ".js": "text/javascript",
  ".png": "image/png",
  ".woff2": "font/woff2"
}

/** Serves the files of a folder, as a static host does, on a free port. */
export const serveFolder = async (folder: string) => {
  const server = createServer(({ url = "/" }, response) => {
    const path = join(folder, normalize(decodeURIComponent(new URL(url, "http://localhost").pathname)))
    const file = existsSync(path) && statSync(path).isDirectory() ? join(path, "index.html") : path
    if (!existsSync(file)) {
      response.writeHead(404).end()
      return
    }
    response.writeHead(200, { "content-type": types[extname(file)] ?? "application/octet-stream" })
    createReadStream(file).pipe(response)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    stop: () => {
      server.closeAllConnections()
      server.close()
    }
  }
}
