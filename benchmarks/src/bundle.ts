import { spawnSync } from "node:child_process"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { gzipSync } from "node:zlib"
import { rolldown } from "rolldown"
import type { Measured } from "./figure.ts"

const workspace = fileURLToPath(new URL("../..", import.meta.url))

const programs = { ours: "program-send.ts", base: "program-base.ts" }

// Comments, such as those for tree shaking, have no purpose in a bundle. Node parses a module once if its name ends with
// ".mjs", and otherwise first as CommonJS.
const output = { format: "esm", minify: true, comments: false } as const

/** Bundles and minifies a program for a platform with `fetch`. Returns the path and the size in bytes. */
const bundle = async (program: string, folder: string) => {
  const build = await rolldown({
    input: fileURLToPath(new URL(program, import.meta.url)),
    platform: "neutral",
    resolve: { conditionNames: ["import", "default"] },
    logLevel: "silent"
  })
  const path = join(folder, program.replace(".ts", ".mjs"))
  await build.write({ ...output, file: path })
  await build.close()
  return { path, bytes: await readFile(path) }
}

export const build = (): void => {
  const { status, stdout } = spawnSync("npm", ["run", "build"], { cwd: workspace, encoding: "utf8" })
  if (status !== 0) throw new Error(`The build failed: ${stdout}`)
}

/** Bundles both programs from the published files and passes them to `use`. */
export const withBundles = async <A>(
  use: (bundles: { readonly [K in keyof typeof programs]: Awaited<ReturnType<typeof bundle>> }) => Promise<A>
): Promise<A> => {
  const folder = await mkdtemp(join(tmpdir(), "colloquy-bundle-"))
  try {
    build()
    return await use({ ours: await bundle(programs.ours, folder), base: await bundle(programs.base, folder) })
  } finally {
    await rm(folder, { recursive: true })
  }
}

const kilobytes = (size: number) => `${(size / 1024).toFixed(1)} kB`

export const bundles = (): Promise<Measured> =>
  withBundles(async ({ ours, base }) => {
    const [oursSize, baseSize] = [gzipSync(ours.bytes).length, gzipSync(base.bytes).length]
    return {
      value: oursSize / baseSize,
      detail: `sends a message ${kilobytes(oursSize)}, by hand ${kilobytes(baseSize)}, minified and gzipped`
    }
  })
