import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"

/** The folders of the bundled third-party packages. */
const packagesOf = (modules: ReadonlyArray<string>): ReadonlyArray<string> => [
  ...new Set(modules.flatMap((path) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(path) ?? []))
]

/** The licenses of the third-party packages that a bundle contains. */
export const licensesOf = (modules: ReadonlyArray<string>): string =>
  packagesOf(modules)
    .filter((path) => !path.includes("@colloquy"))
    .flatMap((path) => {
      const [license] = globSync("LICENSE*", { cwd: path })
      const { name, version } = JSON.parse(readFileSync(join(path, "package.json"), "utf8")) as Record<string, string>
      return license === undefined
        ? []
        : [`${name} ${version}\n\n${readFileSync(join(path, license), "utf8").trim()}\n`]
    })
    .join(`\n${"-".repeat(80)}\n\n`)
