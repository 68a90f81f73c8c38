import autocannon from "autocannon"
import { type ChildProcess, fork, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { Readable } from "node:stream"
import { fileURLToPath } from "node:url"
import { request } from "undici"
import { build } from "./bundle.ts"
import { compare, type Measured, median } from "./figure.ts"

export const start = async <A>(program: string): Promise<{ readonly child: ChildProcess; readonly ready: A }> => {
  const path = fileURLToPath(new URL(program, import.meta.url))
  const child = fork(path, { execArgv: ["--conditions=source"] })
  const [ready] = (await once(child, "message")) as [A]
  return { child, ready }
}

export const perSecond = async (url: string): Promise<number> => {
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
  const emulator = await start<{ readonly url: string }>("emulatorServer.ts")
  const bare = await start<{ readonly url: string }>("bare.ts")
  const costs = { emulator: new Array<number>(), bare: new Array<number>() }
  for (let round = -1; round < 3; round++) {
    const rates = [await perSecond(emulator.ready.url), await perSecond(bare.ready.url)]
    if (round >= 0) {
      costs.emulator.push(rates[0])
      costs.bare.push(rates[1])
    }
  }
  emulator.child.kill()
  bare.child.kill()
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

/** The CPU time of a server until now, in microseconds. */
export const cpuOf = async (child: ChildProcess): Promise<number> => {
  child.send("cpu")
  const [{ cpu }] = (await once(child, "message")) as [{ readonly cpu: number }]
  return cpu
}

const residentOf = async (child: ChildProcess): Promise<number> => {
  child.send("rss")
  const [{ rss }] = (await once(child, "message")) as [{ readonly rss: number }]
  return rss
}

/** Memory growth of the emulator while it receives 4 GB. */
export const uploadGrowth = async (): Promise<Measured> => {
  const { child, ready } = await start<{ readonly base: string; readonly url: string }>("emulatorServer.ts")
  const asked = await request(`${ready.base}/uploads?type=file`, {
    method: "POST",
    headers: { authorization: "token" }
  })
  const { url } = (await asked.body.json()) as { readonly url: string }
  const before = await residentOf(child)
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
    most = Math.max(most, await residentOf(child))
    await Promise.race([done, new Promise((resolve) => setTimeout(resolve, 50))])
  }
  const { body, statusCode } = await done
  const answer = await body.text()
  child.kill()
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

const millisOfNode = (): number => {
  const began = performance.now()
  spawnSync(process.execPath, ["-e", "0"])
  return performance.now() - began
}

/** Time until the command is ready, over `node -e 0`. */
export const startOverNode = async (): Promise<Measured> => {
  build()
  const costs = { command: new Array<number>(), node: new Array<number>() }
  for (let round = -1; round < 11; round++) {
    const [ready, bare] = [await millisUntilReady(), millisOfNode()]
    if (round >= 0) {
      costs.command.push(ready)
      costs.node.push(bare)
    }
  }
  return compare({ name: "colloquy-emulator", costs: costs.command }, { name: "node -e 0", costs: costs.node }, "ms")
}

/** The median of the rounds of a separate process. */
export const medianOf = (costs: ReadonlyArray<number>, what: string): Measured => ({
  value: median(costs),
  detail: `${what}: ${costs.map((cost) => cost.toFixed(0)).join(", ")} ms`
})
