/** Workers on workerd: `worker/bot.ts` is a webhook bot, and `worker/empty.ts` does nothing. */
import { spawn } from "node:child_process"
import { existsSync } from "node:fs"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Readable } from "node:stream"
import { fileURLToPath } from "node:url"
import { gzipSync } from "node:zlib"
import { rolldown } from "rolldown"
import { build } from "./bundle.ts"
import { compare, type Measured } from "./figure.ts"

const workerd = fileURLToPath(new URL("../../node_modules/@cloudflare/workerd-linux-64/bin/workerd", import.meta.url))

/** Whether npm has installed workerd, which is for Linux with x64. */
export const hasWorkerd = existsSync(workerd)

export const secret = "secret-of-the-worker"

const variables = ["BOT_TOKEN", "BOT_BASE_URL", "BOT_WEBHOOK_URL", "BOT_WEBHOOK_SECRET"]

const config = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .main),
    (name = "internet", network = (allow = ["public", "private", "local"]))
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")]
);
const main :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = embed "worker.js")],
  compatibilityDate = "2026-11-01",
  bindings = [${variables.map((name) => `(name = "${name}", fromEnvironment = "${name}")`).join(", ")}]
);
`

/** Bundles and minifies a worker, from the sources with the condition "source". Returns the size in bytes, gzipped. */
export const bundleWorker = async (name: "bot" | "empty", folder: string, conditions: ReadonlyArray<string> = []) => {
  const bundle = await rolldown({
    input: fileURLToPath(new URL(`worker/${name}.ts`, import.meta.url)),
    platform: "neutral",
    resolve: { conditionNames: [...conditions, "import", "default"] },
    logLevel: "silent"
  })
  const file = join(folder, "worker.js")
  await bundle.write({ file, format: "esm", minify: true })
  await bundle.close()
  await writeFile(join(folder, "config.capnp"), config)
  return { folder, gzipped: gzipSync(await readFile(file)).length }
}

/** Starts workerd with the worker of a folder. `start` is when, by `performance.now()`. */
export const serveWorker = async (folder: string, environment: Readonly<Record<string, string>>) => {
  const start = performance.now()
  const child = spawn(workerd, ["serve", join(folder, "config.capnp"), "--control-fd=3"], {
    env: { ...process.env, BOT_WEBHOOK_SECRET: secret, ...environment },
    stdio: ["ignore", "inherit", "inherit", "pipe"]
  })
  const port = await new Promise<number>((resolve, reject) => {
    let events = ""
    child.once("error", reject)
    child.once("exit", (code) => reject(new Error(`workerd exited with ${code}`)))
    ;(child.stdio[3] as Readable).on("data", (text: Buffer) => {
      events += text.toString()
      const [, found] = /"port":(\d+)/.exec(events) ?? []
      if (found !== undefined) resolve(Number(found))
    })
  })
  const exited = new Promise((resolve) => child.once("exit", resolve))
  const stop = async () => {
    child.kill("SIGKILL")
    await exited
  }
  return { url: `http://127.0.0.1:${port}/updates`, start, stop }
}

/** Delivers an update, as the platform does. */
export const deliver = (url: string, update: object): Promise<Response> =>
  fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", "x-svc-bot-api-secret": secret },
    body: JSON.stringify(update)
  })

const bot = {
  BOT_TOKEN: "token",
  BOT_BASE_URL: "https://api.example",
  BOT_WEBHOOK_URL: "https://bot.example/updates"
}

const withFolders = async <A>(use: (ours: string, empty: string) => Promise<A>): Promise<A> => {
  const folders = [await mkdtemp(join(tmpdir(), "worker-")), await mkdtemp(join(tmpdir(), "worker-"))] as const
  try {
    return await use(...folders)
  } finally {
    for (const folder of folders) await rm(folder, { recursive: true })
  }
}

export const workerSize = (): Promise<Measured> =>
  withFolders(async (folder) => {
    build()
    const { gzipped } = await bundleWorker("bot", folder)
    return { value: gzipped / 1024, detail: "a worker that answers, minified and gzipped" }
  })

const rounds = 21

export const workerStart = (): Promise<Measured> =>
  withFolders(async (ours, empty) => {
    build()
    await bundleWorker("bot", ours)
    await bundleWorker("empty", empty)
    const millisToFirstResponse = async (folder: string): Promise<number> => {
      const { start, stop, url } = await serveWorker(folder, bot)
      const { status } = await deliver(url, { update_type: "unknown", timestamp: 1 })
      const millis = performance.now() - start
      await stop()
      if (status !== 200) throw new Error(`The worker responded ${status}`)
      return millis
    }
    const costs = { ours: new Array<number>(), empty: new Array<number>() }
    for (let round = -2; round < rounds; round++) {
      const [o, e] = [await millisToFirstResponse(ours), await millisToFirstResponse(empty)]
      if (round >= 0) {
        costs.ours.push(o)
        costs.empty.push(e)
      }
    }
    return compare({ name: "the bot", costs: costs.ours }, { name: "an empty worker", costs: costs.empty }, "ms")
  })
