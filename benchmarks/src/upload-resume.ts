/** Prints the bytes sent by a 1 GB upload with 10 random connection losses, over the size of the file. */
import { Uploads, UploadSource } from "@colloquy/core"
import { NodeUploads } from "@colloquy/node"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { printCosts } from "./child.ts"
import { gigabyte, prepare } from "./uploading.ts"

const rounds = 3
const cuts = 10

/** Offsets among all received bytes, which are more than the file has. */
const places = () => Array.from({ length: cuts }, () => Math.floor(Math.random() * gigabyte)).sort((a, b) => a - b)

const counting = (source: UploadSource.UploadSource<"randomAccess">, count: (bytes: number) => void) =>
  UploadSource.make({
    ...source,
    open: Effect.map(source.open, (opened) => ({
      ...opened,
      read: (from: number, to: number) =>
        Stream.map(opened.read(from, to), (bytes) => {
          count(bytes.byteLength)
          return bytes
        })
    }))
  })

const ratios: Array<number> = []
for (let round = 0; round < rounds; round++) {
  const { bot, end, path } = await prepare(gigabyte, places())
  let read = 0
  const source = counting(NodeUploads.fromPath(path), (bytes) => {
    read += bytes
  })
  await bot.runPromise(Uploads.upload({ type: "file", source }))
  ratios.push(read / gigabyte)
  await end()
}
printCosts({ ratios })
process.exit()
