/** Bundles the command `colloquy-emulator` into one file, which starts three times as fast. */
import { globSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { rolldown } from "rolldown"
import { root } from "./internal/workspace.ts"

const folder = join(root, "packages/testing")

const bundle = await rolldown({
  input: join(folder, "src/internal/command/main.ts"),
  platform: "node",
  // Decodes images, which most runs do not need.
  external: ["image-size"],
  resolve: { conditionNames: ["source", "import", "node", "default"] },
  logLevel: "silent"
})
const { output } = await bundle.write({
  file: join(folder, "dist/internal/command/main.js"),
  format: "esm",
  minify: true,
  codeSplitting: false
})
await bundle.close()

/** The folders of the bundled third-party packages. */
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

writeFileSync(join(folder, "dist/internal/command/main.licenses.txt"), licenses.join(`\n${"-".repeat(80)}\n\n`))
