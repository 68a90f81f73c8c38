import { type ChildProcess, spawn } from "node:child_process"
import { createServer } from "node:net"
import { listen } from "./processes.ts"

/** Returns a port that is free. */
export const freePort = async (): Promise<number> => {
  const server = createServer()
  const { port } = new URL(await listen(server))
  server.close()
  return Number(port)
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
