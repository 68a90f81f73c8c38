import { existsSync, globSync, mkdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import { publishedPackages, root, run } from "./workspace.ts"

/** Bundled files: the page of the emulator, the page of the board, and the chunks of commands. */
const bundled = ["dist/ui/", "dist/board/", "dist/emulator/internal/command/chunks/", "dist/chunks/"]

/** Deletes compiled files without a source, which an incremental build leaves behind. */
const removeLeftovers = (folder: string) => {
  for (const path of globSync("dist/**/*.{js,d.ts,js.map,d.ts.map}", { cwd: folder })) {
    if (bundled.some((prefix) => path.startsWith(prefix))) continue
    const source = path.replace(/^dist/, "src").replace(/(\.d\.ts|\.js)(\.map)?$/, ".ts")
    if (!existsSync(join(folder, source))) rmSync(join(folder, path))
  }
}

export interface Packed {
  readonly name: (typeof publishedPackages)[number]
  readonly tarball: string
}

/** Builds the public packages and packs each into the folder as it would be published. */
export const pack = (into: string): ReadonlyArray<Packed> => {
  const demand = (what: string, ran: { readonly ok: boolean; readonly output: string }) => {
    if (!ran.ok) throw new Error(`${what} failed:\n${ran.output}`)
    return ran.output
  }
  demand("The build", run("npm", ["run", "build", "--loglevel=error"]))
  mkdirSync(into, { recursive: true })
  return publishedPackages.map((name) => {
    const folder = join(root, "packages", name)
    removeLeftovers(folder)
    demand(`Packing ${name}`, run("npm", ["pack", "--pack-destination", into, "--loglevel=error"], { cwd: folder }))
    const [tarball] = globSync(`{colloquy-${name},${name}-colloquy}-*.tgz`, { cwd: into })
    return { name, tarball: join(into, tarball) }
  })
}
