/**
 * Compiles the packages against the next minor version of Effect, if the registry has one. `npm run check` reports the result, and does
 * not fail because of a version that the packages do not support yet. `--to VERSION` compiles against this version.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { root, run } from "./internal/workspace.ts"

const { values } = parseArgs({ options: { to: { type: "string" } } })

const { version: installed } = JSON.parse(readFileSync(join(root, "node_modules/effect/package.json"), "utf8")) as {
  readonly version: string
}

const partsOf = (version: string): ReadonlyArray<number> => version.split(".").map(Number)

/** Returns the newest release of the next minor version. */
const nextOf = (versions: ReadonlyArray<string>): string | undefined => {
  const [major, minor] = partsOf(installed)
  return versions
    .filter((version) => /^\d+\.\d+\.\d+$/.test(version))
    .filter((version) => partsOf(version)[0] === major && partsOf(version)[1] === minor! + 1)
    .toSorted((a, b) => partsOf(a)[2]! - partsOf(b)[2]!)
    .at(-1)
}

const released = (): string | undefined => {
  const { ok, output } = run("npm", ["view", "effect", "versions", "--json", "--fetch-retries=0"])
  if (ok) return nextOf(JSON.parse(output) as ReadonlyArray<string>)
  console.log("The registry does not answer, so the next version of Effect is not known.")
  return undefined
}

/** Compiles all sources with the types of another version, which is installed beside the installed one. */
const compile = (version: string): boolean => {
  const folder = join(root, "node_modules/.next-effect")
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true }))
  const install = run("npm", [
    "install",
    "--no-audit",
    "--no-fund",
    "--ignore-scripts",
    "--prefix",
    folder,
    `effect@${version}`
  ])
  if (!install.ok) {
    console.log(install.output)
    return false
  }
  const types = "./node_modules/effect/dist"
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({
      extends: join(root, "tsconfig.effect.json"),
      compilerOptions: {
        paths: { effect: [`${types}/index.d.ts`], "effect/*": [`${types}/*.d.ts`, `${types}/*/index.d.ts`] }
      },
      include: [join(root, "packages/*/src/**/*.ts")],
      exclude: []
    })
  )
  const { ok, output } = run("npx", ["tsc", "-p", folder])
  if (!ok) console.log(output)
  return ok
}

const version = values.to ?? released()
if (version === undefined) {
  console.log(`There is no minor version of Effect after ${installed}.`)
} else {
  const isCompatible = compile(version)
  console.log(`The packages ${isCompatible ? "compile" : "do not compile"} against Effect ${version}.`)
  process.exitCode = isCompatible ? 0 : 1
}
