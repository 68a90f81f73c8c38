/** Shared by the upload benchmarks: a bot, an upload host in another process, and a large file. */
import { NodeBot } from "@colloquy/node"
import * as ManagedRuntime from "effect/ManagedRuntime"
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { startServer } from "./processes.ts"

export const gigabyte = 2 ** 30

/** A sparse file. */
const sparse = (folder: string, size: number): string => {
  const path = join(folder, "large.bin")
  writeFileSync(path, "")
  truncateSync(path, size)
  return path
}

/** Prepares an upload to a host that closes connections at the given byte offsets. */
export const prepare = async (size: number, cuts: ReadonlyArray<number> = []) => {
  const receiver = await startServer("uploadHost.ts", cuts.map(String))
  const folder = mkdtempSync(join(tmpdir(), "upload-"))
  const baseUrl = receiver.url
  const bot = ManagedRuntime.make(NodeBot.layer({ token: "token", baseUrl }))
  const end = async () => {
    await bot.dispose()
    rmSync(folder, { recursive: true })
    await receiver.kill()
  }
  return { baseUrl, bot, path: sparse(folder, size), end }
}
