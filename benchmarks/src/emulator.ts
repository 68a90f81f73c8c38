import autocannon from "autocannon"
import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { Readable } from "node:stream"
import { fileURLToPath } from "node:url"
import { request } from "undici"
import { build } from "./bundle.ts"
import type { Ready, Usage } from "./emulatorServer.ts"
import { compare, type Measured, median } from "./figure.ts"
import { start, startServer } from "./processes.ts"
import { millisOf, takeTurns } from "./rounds.ts"

/** Starts the emulator with a number of people, and with the documented limits except those given. */
export const startEmulator = async (people: number, limits?: object) => {
  const args = [String(people), ...(limits === undefined ? [] : [JSON.stringify(limits)])]
  const program = start<object, Ready | Usage>("emulatorServer.ts", args)
  const { people: known, url } = await program.next<Ready>()
  return { people: known, url, kill: program.kill, usage: () => program.ask<Usage>({}) }
}

/** The address of the messages of the first dialog of an emulator. */
export const messagesOf = ({ people, url }: Ready): string => `${url}/messages?chat_id=${people[0].chat_id}`

const perSecond = async (url: string): Promise<number> => {
  const { requests } = await autocannon({
    url,
    method: "POST",
    headers: { authorization: "token", "content-type": "application/json" },
    body: JSON.stringify({ text: "Hello" }),
    connections: 16,
    duration: 3
  })
  return requests.average
}

/** Requests per second: messages sent to the emulator, over a plain server that echoes JSON. */
export const requestRate = async (): Promise<Measured> => {
  const emulator = await startEmulator(1)
  const bare = await startServer("server.ts", ["echo"])
  const costs = await takeTurns(
    { emulator: () => perSecond(messagesOf(emulator)), bare: () => perSecond(bare.url) },
    { rounds: 3 }
  )
  await emulator.kill()
  await bare.kill()
  return compare(
    { name: "emulator", costs: costs.emulator },
    { name: "bare node:http", costs: costs.bare },
    "requests a second"
  )
}

const gigabyte = 2 ** 30

const multipart = function* (size: number): Generator<Buffer> {
  const chunk = Buffer.alloc(2 ** 20)
  yield Buffer.from(`--cut\r\ncontent-disposition: form-data; name="data"; filename="large.bin"\r\n\r\n`)
  for (let sent = 0; sent < size; sent += chunk.length) yield chunk
  yield Buffer.from("\r\n--cut--\r\n")
}

/** Memory growth of the emulator while it receives 4 GB. */
export const uploadGrowth = async (): Promise<Measured> => {
  const emulator = await startEmulator(1)
  const asked = await request(`${emulator.url}/uploads?type=file`, {
    method: "POST",
    headers: { authorization: "token" }
  })
  const { url } = (await asked.body.json()) as { readonly url: string }
  const { rss: before } = await emulator.usage()
  let most = before
  const uploading = request(url, {
    method: "POST",
    headers: { "content-type": "multipart/form-data; boundary=cut" },
    body: Readable.from(multipart(4 * gigabyte - 2 ** 20)),
    headersTimeout: 0,
    bodyTimeout: 0
  })
  let isDone = false
  const done = uploading.finally(() => {
    isDone = true
  })
  while (!isDone) {
    most = Math.max(most, (await emulator.usage()).rss)
    await Promise.race([done, new Promise((resolve) => setTimeout(resolve, 50))])
  }
  const { body, statusCode } = await done
  const answer = await body.text()
  await emulator.kill()
  if (statusCode !== 200) throw new Error(`The upload was refused: ${statusCode} ${answer}`)
  const megabytes = (bytes: number) => bytes / 2 ** 20
  return {
    value: megabytes(most - before),
    detail: `resident ${megabytes(before).toFixed(0)} MB before, ${megabytes(most).toFixed(0)} MB at most`
  }
}

const command = fileURLToPath(new URL("../../packages/testing/dist/bin.js", import.meta.url))

const millisUntilReady = async (): Promise<number> => {
  const began = performance.now()
  const child = spawn(process.execPath, [command, "--json"], { stdio: ["ignore", "pipe", "inherit"] })
  await once(child.stdout, "data")
  const millis = performance.now() - began
  child.kill("SIGTERM")
  await once(child, "exit")
  return millis
}

/** Time until the command is ready, over `node -e 0`. */
export const startOverNode = async (): Promise<Measured> => {
  build()
  const costs = await takeTurns(
    { command: millisUntilReady, node: () => millisOf(() => spawnSync(process.execPath, ["-e", "0"])) },
    { rounds: 11 }
  )
  return compare({ name: "colloquy-emulator", costs: costs.command }, { name: "node -e 0", costs: costs.node }, "ms")
}

/** The median of the rounds of a separate process. */
export const medianOf = (costs: ReadonlyArray<number>, what: string): Measured => ({
  value: median(costs),
  detail: `${what}: ${costs.map((cost) => cost.toFixed(0)).join(", ")} ms`
})
