/** Makes one file of the command `colloquy-emulator`: it starts three times as fast as from a hundred modules. */
import { globSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { rolldown } from "rolldown"
import { root } from "./internal/workspace.ts"

const folder = join(root, "packages/testing")

const bundle = await rolldown({
  input: join(folder, "src/bin.ts"),
  platform: "node",
  // It reads pictures, which most runs never see.
  external: ["image-size"],
  resolve: { conditionNames: ["source", "import", "node", "default"] },
  logLevel: "silent"
})
const { output } = await bundle.write({
  file: join(folder, "dist/bin.js"),
  format: "esm",
  minify: true,
  codeSplitting: false
})
await bundle.close()

/** The folders of the packages that went into the file, ours left out. */
const packagesOf = (modules: ReadonlyArray<string>): ReadonlyArray<string> => [
  ...new Set(modules.flatMap((path) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(path) ?? []))
]

const licenses = packagesOf(output.flatMap((file) => (file.type === "chunk" ? file.moduleIds : [])))
  .filter((path) => !path.includes("@colloquy"))
  .flatMap((path) => {
    const [license] = globSync("LICENSE*", { cwd: path })
    const { name, version } = JSON.parse(readFileSync(join(path, "package.json"), "utf8")) as Record<string, string>
    return license === undefined ? [] : [`${name} ${version}\n\n${readFileSync(join(path, license), "utf8").trim()}\n`]
  })

writeFileSync(join(folder, "dist/bin.licenses.txt"), licenses.join(`\n${"-".repeat(80)}\n\n`))
