/** Prints the memory growth of this process in megabytes while it uploads 4 GB by the method of its argument. */
import { Uploads, UploadSource } from "@colloquy/core"
import { NodeUploads } from "@colloquy/node"
import { printCosts } from "./child.ts"
import { gigabyte, prepare } from "./uploading.ts"

const method = process.argv[2] as "multipart" | "resumable"

const { bot, end, path } = await prepare(4 * gigabyte)

const upload = (source: UploadSource.UploadSource<"randomAccess">) =>
  bot.runPromise(Uploads.upload({ type: "file", source, name: "large.bin", method }))

await upload(UploadSource.bytes(new Uint8Array(1000)))
const before = process.memoryUsage.rss()
let most = before
const watch = setInterval(() => {
  most = Math.max(most, process.memoryUsage.rss())
}, 20)
await upload(NodeUploads.fromPath(path))
clearInterval(watch)
printCosts({ before: [before / 2 ** 20], grown: [(most - before) / 2 ** 20] })
await end()
process.exit()
