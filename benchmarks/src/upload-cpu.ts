/** Prints the CPU time of a 1 GB upload to a receiver in another process, in milliseconds. */
import { Uploads } from "@colloquy/core"
import { NodeUploads } from "@colloquy/node"
import { createReadStream } from "node:fs"
import { Agent, request } from "undici"
import { printCosts } from "./child.ts"
import { gigabyte, prepare } from "./uploading.ts"

const rounds = 5

const { baseUrl, bot, end, path } = await prepare(gigabyte)
const dispatcher = new Agent()

const ours = (method: "multipart" | "resumable") => () =>
  bot.runPromise(Uploads.upload({ type: "file", source: NodeUploads.fromPath(path), method }))

const contenders: Readonly<Record<string, () => Promise<unknown>>> = {
  undici: async () => {
    const { body } = await request(`${baseUrl}/upload/0`, {
      method: "POST",
      headers: { "content-type": "application/octet-stream", "content-length": String(gigabyte) },
      body: createReadStream(path),
      dispatcher
    })
    return body.text()
  },
  multipart: ours("multipart"),
  resumable: ours("resumable")
}

const measure = async (run: () => Promise<unknown>): Promise<number> => {
  const before = process.cpuUsage()
  await run()
  const { system, user } = process.cpuUsage(before)
  return (user + system) / 1000
}

const costs = Object.fromEntries(Object.keys(contenders).map((name) => [name, new Array<number>()]))
for (let round = -1; round < rounds; round++) {
  for (const [name, run] of Object.entries(contenders)) {
    const cost = await measure(run)
    if (round >= 0) costs[name].push(cost)
  }
}
printCosts(costs)
await dispatcher.close()
await end()
process.exit()
