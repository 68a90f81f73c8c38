import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { createServer } from "node:net"
import type { AddressInfo } from "node:net"

/** Returns a port that is free. */
export const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}

/** Starts a Redis server without persistence: it is empty after a restart. */
export const startRedis = async (port: number): Promise<ChildProcess> => {
  const server = spawn("redis-server", ["--port", String(port), "--save", "", "--appendonly", "no"], {
    stdio: ["ignore", "pipe", "inherit"]
  })
  for await (const chunk of server.stdout) if (String(chunk).includes("Ready to accept connections")) break
  server.stdout.resume()
  return server
}
