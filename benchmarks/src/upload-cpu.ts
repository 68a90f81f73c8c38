/** Prints the CPU time of a 1 GB upload to a receiver in another process, in milliseconds. */
import { Uploads } from "@colloquy/core"
import { NodeUploads } from "@colloquy/node"
import { createReadStream } from "node:fs"
import { Agent, request } from "undici"
import { printCosts } from "./child.ts"
import { cpuOf, takeTurns } from "./rounds.ts"
import { gigabyte, prepare } from "./uploading.ts"

const { baseUrl, bot, end, path } = await prepare(gigabyte)
const dispatcher = new Agent()

const costOf = (run: () => Promise<unknown>) => async (): Promise<number> => (await cpuOf(run)) / 1000

const ours = (method: "multipart" | "resumable") =>
  costOf(() => bot.runPromise(Uploads.upload({ type: "file", source: NodeUploads.fromPath(path), method })))

const contenders = {
  undici: costOf(async () => {
    const { body } = await request(`${baseUrl}/upload/0`, {
      method: "POST",
      headers: { "content-type": "application/octet-stream", "content-length": String(gigabyte) },
      body: createReadStream(path),
      dispatcher
    })
    return body.text()
  }),
  multipart: ours("multipart"),
  resumable: ours("resumable")
}

printCosts(await takeTurns(contenders, { rounds: 5 }))
await dispatcher.close()
await end()
process.exit()
