import { spawnSync } from "node:child_process"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { gzipSync } from "node:zlib"
import { rolldown } from "rolldown"
import { compare, type Measured } from "./figure.ts"
import { takeTurns } from "./rounds.ts"

const workspace = fileURLToPath(new URL("../..", import.meta.url))

export const build = (): void => {
  const { status, stdout } = spawnSync("npm", ["run", "build"], { cwd: workspace, encoding: "utf8" })
  if (status !== 0) throw new Error(`The build failed: ${stdout}`)
}

/** Passes a folder that is empty to a function, and deletes the folder. */
export const withFolder = async <A>(use: (folder: string) => Promise<A>): Promise<A> => {
  const folder = await mkdtemp(join(tmpdir(), "colloquy-bundle-"))
  try {
    return await use(folder)
  } finally {
    await rm(folder, { recursive: true })
  }
}

/**
 * Bundles and minifies a program for a platform with `fetch`, without comments, such as those for tree shaking. Returns the size
 * in bytes, gzipped, and the paths of the modules that the bundle contains.
 */
export const bundle = async (input: URL, file: string, conditions: ReadonlyArray<string> = []) => {
  const build = await rolldown({
    input: fileURLToPath(input),
    external: /^node:/,
    platform: "neutral",
    resolve: { conditionNames: [...conditions, "import", "default"], mainFields: ["module", "main"] },
    logLevel: "silent"
  })
  const { output } = await build.write({ file, format: "esm", minify: true, comments: false, codeSplitting: false })
  await build.close()
  return { gzipped: gzipSync(await readFile(file)).length, modules: output[0].moduleIds }
}

type Program = "send" | "base" | "careful"

/** Bundles the program with the client and those by hand from the published files. */
const withBundles = <A>(
  use: (bundles: Readonly<Record<Program, { readonly path: string; readonly gzipped: number }>>) => Promise<A>
): Promise<A> =>
  withFolder(async (folder) => {
    build()
    const bundled = async (name: Program) => {
      // Node parses a module once if its name ends with ".mjs", and otherwise first as CommonJS.
      const path = join(folder, `${name}.mjs`)
      const { gzipped } = await bundle(new URL(`program-${name}.ts`, import.meta.url), path)
      return { path, gzipped }
    }
    return use({ send: await bundled("send"), base: await bundled("base"), careful: await bundled("careful") })
  })

const kilobytes = (size: number) => `${(size / 1024).toFixed(1)} kB`

export const bundleSizes = (): Promise<Measured> =>
  withBundles(async ({ base, careful, send }) => ({
    value: send.gzipped / base.gzipped,
    detail:
      `sends a message ${kilobytes(send.gzipped)}, by hand ${kilobytes(base.gzipped)}, minified and gzipped; ratio to a program ` +
      `by hand that validates, limits, retries and decodes exactly ${(send.gzipped / careful.gzipped).toFixed(2)}`
  }))

const millisToRun = (path: string): number => {
  const start = performance.now()
  const { status, stderr } = spawnSync(process.execPath, [path], { encoding: "utf8" })
  if (status !== 0) throw new Error(`${path} exited with ${status}: ${stderr}`)
  return performance.now() - start
}

export const startTimes = (): Promise<Measured> =>
  withBundles(async ({ base, send }) => {
    const contenders = { send: () => millisToRun(send.path), base: () => millisToRun(base.path) }
    const costs = await takeTurns(contenders, { rounds: 21, warmUps: 2 })
    return compare({ name: "sends a message", costs: costs.send }, { name: "by hand", costs: costs.base }, "ms")
  })
