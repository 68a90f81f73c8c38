/** What a new project costs its author: the packages that npm installs, and the start of its bot. */
import { spawn, spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises"
import { createServer } from "node:http"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { build, withFolder } from "./bundle.ts"
import { compare, type Measured, median } from "./figure.ts"
import { listen } from "./processes.ts"
import { takeTurns } from "./rounds.ts"

const workspace = fileURLToPath(new URL("../..", import.meta.url))

const run = (cwd: string, program: string, ...args: ReadonlyArray<string>): string => {
  const { status, stderr, stdout } = spawnSync(program, args, { cwd, encoding: "utf8" })
  if (status !== 0) throw new Error(`${program} ${args.join(" ")} failed: ${stderr}`)
  return stdout
}

interface Lock {
  readonly packages: Readonly<Record<string, { readonly hasInstallScript?: boolean }>>
}

const sizeOf = async (folder: string): Promise<number> => {
  const files = await readdir(folder, { recursive: true, withFileTypes: true })
  const sizes = files
    .filter((file) => file.isFile())
    .map((file) => readFileSync(join(file.parentPath, file.name)).length)
  return sizes.reduce((sum, size) => sum + size, 0)
}

/** Installs what a bot on Node requires, from the packed packages, and counts the packages. */
export const installed = (): Promise<Measured> =>
  withFolder(async (folder) => {
    build()
    const packed = ["core", "node"].map((name) =>
      join(
        folder,
        run(join(workspace, "packages", name), "npm", "pack", "--silent", "--pack-destination", folder).trim()
      )
    )
    const app = join(folder, "app")
    await mkdir(app)
    await writeFile(join(app, "package.json"), "{}")
    const start = performance.now()
    run(app, "npm", "install", "--no-audit", "--no-fund", ...packed, "effect@~4.1.0")
    const seconds = (performance.now() - start) / 1000
    const { packages } = JSON.parse(await readFile(join(app, "package-lock.json"), "utf8")) as Lock
    const names = Object.keys(packages).filter((path) => path !== "")
    const scripts = names.filter((path) => packages[path].hasInstallScript)
    if (scripts.length > 0) throw new Error(`Packages with install scripts: ${scripts.join(", ")}`)
    return {
      value: names.length,
      also: (await sizeOf(join(app, "node_modules"))) / 1e6,
      detail: `in ${seconds.toFixed(1)} s: ${names.map((path) => path.replace("node_modules/", "")).join(", ")}`
    }
  })

/** Creates a project with the packages of the workspace, and bundles it with its own script. Returns the bundle. */
const bundleProject = async (folder: string): Promise<string> => {
  const command = join(workspace, "packages/create/src/bin.ts")
  run(workspace, process.execPath, "--conditions=source", command, folder, "--yes", "--no-install")
  await symlink(join(workspace, "node_modules"), join(folder, "node_modules"))
  run(folder, "npm", "run", "build")
  return join(folder, "dist/main.mjs")
}

/** Reports the first request, and never answers a request for updates, so that a bot waits. */
const startPlatform = async () => {
  let onRequest = () => {}
  const server = createServer((request, response) => {
    onRequest()
    if (/updates/i.test(request.url ?? "")) return
    const result = { id: 1, user_id: 1, is_bot: true, first_name: "Bot", username: "bot" }
    response.setHeader("content-type", "application/json").end(JSON.stringify({ ok: true, result, ...result }))
  })
  const url = await listen(server)
  const firstRequest = () =>
    new Promise<number>((resolve) => {
      onRequest = () => resolve(performance.now())
    })
  return { url, firstRequest, stop: () => server.closeAllConnections() }
}

/** How long a bot is given after its first request, to reach the memory that it keeps while it waits. */
const settling = 1500

const residentMegabytes = (pid: number): number =>
  Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024

export const projectStart = (): Promise<Measured> =>
  withFolder(async (folder) => {
    build()
    const platform = await startPlatform()
    const programs = {
      ours: await bundleProject(join(folder, "project")),
      grammy: fileURLToPath(new URL("projects/grammy.mjs", import.meta.url))
    }
    // The Dockerfile of a new project sets the variable. The first start, which fills the folder, is a warm-up.
    const container = { NODE_COMPILE_CACHE: join(folder, "compiled") }
    const memory = { ours: new Array<number>(), grammy: new Array<number>() }
    const start = (name: keyof typeof programs) => async (): Promise<number> => {
      const reached = platform.firstRequest()
      const begin = performance.now()
      const environment = { BOT_TOKEN: "token", BOT_BASE_URL: platform.url, BOT_INBOX: join(folder, "bot.sqlite") }
      const child = spawn(process.execPath, ["--no-warnings", programs[name]], {
        env: { ...process.env, ...environment, ...(name === "ours" && container) },
        stdio: ["ignore", "ignore", "inherit"]
      })
      const exited = new Promise<never>((_, reject) => {
        child.once("exit", (code) => reject(new Error(`${programs[name]} exited with ${code}`)))
      })
      const millis = (await Promise.race([reached, exited])) - begin
      await new Promise((resolve) => setTimeout(resolve, settling))
      memory[name].push(residentMegabytes(child.pid!))
      child.kill()
      await exited.catch(() => {})
      return millis
    }
    const costs = await takeTurns({ ours: start("ours"), grammy: start("grammy") }, { rounds: 15, warmUps: 2 })
    platform.stop()
    const measured = compare({ name: "the bot", costs: costs.ours }, { name: "grammY", costs: costs.grammy }, "ms")
    const [ours, grammy] = [median(memory.ours), median(memory.grammy)]
    return {
      ...measured,
      also: ours / grammy,
      detail: `${measured.detail}; waiting ${ours.toFixed(1)} MB, grammY ${grammy.toFixed(1)} MB`
    }
  })
