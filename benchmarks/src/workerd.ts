/**
 * Workers on workerd: `worker/bot.ts` is a webhook bot, `worker/byHand.ts` one with only Effect, and `worker/empty.ts` does
 * nothing.
 */
import { spawn } from "node:child_process"
import { existsSync } from "node:fs"
import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import type { Readable } from "node:stream"
import { fileURLToPath } from "node:url"
import { build, bundle, withFolder } from "./bundle.ts"
import { compare, type Measured } from "./figure.ts"
import { takeTurns } from "./rounds.ts"

const workerd = fileURLToPath(
  new URL("../../tools/runtimes/node_modules/@cloudflare/workerd-linux-64/bin/workerd", import.meta.url)
)

/** Whether `scripts/install.ts tools/runtimes` has installed workerd, which is for Linux with x64. */
export const hasWorkerd = existsSync(workerd)

export const secret = "secret-of-the-worker"

const variables = ["BOT_TOKEN", "BOT_BASE_URL", "BOT_WEBHOOK_URL", "BOT_WEBHOOK_SECRET"]

/** What a worker is made of. */
export interface WorkerOptions {
  /** The program, such as `worker/bot.ts`. */
  readonly input: URL
  /** Where the bundle is written, and the data of Durable Objects. */
  readonly folder: string
  /** The conditions of imports: with "source", the sources are bundled instead of what was built. Default: none. */
  readonly conditions?: ReadonlyArray<string> | undefined
  /** The class of a Durable Object that the program exports. It is bound as `BOT`. Default: none. */
  readonly durableObject?: string | undefined
}

const configOf = ({ durableObject }: WorkerOptions) => {
  const bindings = variables.map((name) => `(name = "${name}", fromEnvironment = "${name}")`)
  const objects =
    durableObject === undefined
      ? ""
      : `
  durableObjectNamespaces = [(className = "${durableObject}", uniqueKey = "objects", enableSql = true)],
  durableObjectStorage = (localDisk = "data"),`
  if (durableObject !== undefined) bindings.push(`(name = "BOT", durableObjectNamespace = "${durableObject}")`)
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .main),
    (name = "internet", network = (allow = ["public", "private", "local"])),
    (name = "data", disk = (writable = true))
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")]
);
const main :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = embed "worker.js")],
  compatibilityDate = "2026-11-01",${objects}
  bindings = [${bindings.join(", ")}]
);
`
}

/** Bundles and minifies a worker. Returns the size in bytes, gzipped, and the paths of the modules that it contains. */
export const bundleWorker = async (options: WorkerOptions) => {
  const { conditions, folder, input } = options
  const { gzipped, modules } = await bundle(input, join(folder, "worker.js"), conditions)
  await mkdir(join(folder, "data"), { recursive: true })
  await writeFile(join(folder, "config.capnp"), configOf(options))
  return { folder, gzipped, modules }
}

/** The program of a worker of this folder. */
export const programOf = (name: "bot" | "byHand" | "empty") => new URL(`worker/${name}.ts`, import.meta.url)

/** How workerd is started. */
export interface ServeOptions {
  /** Default: a free port. */
  readonly port?: number | undefined
  /** The folder of the Durable Objects. Default: the folder `data` beside the bundle. */
  readonly data?: string | undefined
}

/** Starts workerd with the worker of a folder. `start` is when, by `performance.now()`. */
export const serveWorker = async (
  folder: string,
  environment: Readonly<Record<string, string>>,
  { data = join(folder, "data"), port = 0 }: ServeOptions = {}
) => {
  const start = performance.now()
  const options = ["--control-fd=3", `--socket-addr=http=127.0.0.1:${port}`, `--directory-path=data=${data}`]
  const child = spawn(workerd, ["serve", join(folder, "config.capnp"), ...options], {
    env: { ...process.env, BOT_WEBHOOK_SECRET: secret, ...environment },
    stdio: ["ignore", "inherit", "inherit", "pipe"]
  })
  const listening = await new Promise<number>((resolve, reject) => {
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
  return { url: `http://127.0.0.1:${listening}/updates`, port: listening, start, stop }
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

export const workerSize = (): Promise<Measured> =>
  withFolder(async (folder) => {
    build()
    const { gzipped } = await bundleWorker({ input: programOf("bot"), folder })
    return { value: gzipped / 1024, detail: "a worker that answers, minified and gzipped" }
  })

const millisToFirstResponse = async (folder: string): Promise<number> => {
  const { start, stop, url } = await serveWorker(folder, bot)
  const { status } = await deliver(url, { update_type: "unknown", timestamp: 1 })
  const millis = performance.now() - start
  await stop()
  if (status !== 200) throw new Error(`The worker responded ${status}`)
  return millis
}

export const workerStart = (): Promise<Measured> =>
  withFolder(async (folder) => {
    build()
    const contender = async (name: "bot" | "byHand" | "empty") => {
      const bundled = await bundleWorker({ input: programOf(name), folder: join(folder, name) })
      return () => millisToFirstResponse(bundled.folder)
    }
    const contenders = {
      bot: await contender("bot"),
      byHand: await contender("byHand"),
      empty: await contender("empty")
    }
    const costs = await takeTurns(contenders, { rounds: 21, warmUps: 2 })
    const empty = { name: "an empty worker", costs: costs.empty }
    const measured = compare({ name: "the bot", costs: costs.bot }, empty, "ms")
    const floor = compare({ name: "a bot by hand on Effect", costs: costs.byHand }, empty, "ms")
    return { ...measured, detail: `${measured.detail}; ratio of a bot by hand on Effect ${floor.value.toFixed(2)}` }
  })
